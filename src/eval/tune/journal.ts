/**
 * All that a tuning run has asked of the world, in a file that only grows. The search itself is decided by seed and
 * journal alone: a run that was killed is resumed by doing it again, with every answer at hand.
 */
import type { z } from 'zod';
import { openAppendStore } from '../append-store.js';
import type { Budget } from './budget.js';
import { hashOf } from './prompt-draft.js';

export interface Journal {
  /** What is known under the key, with its cost counted once; undefined where it has another form. */
  recall<T>(key: readonly unknown[], schema: z.ZodType<T>): T | undefined;
  keep(key: readonly unknown[], value: unknown, calls: number): void;
  close(): void;
}

/** @throws WinnowError `invalid_option` when the file can't be written. */
export function openJournal(path: string, budget: Budget): Journal {
  const store = openAppendStore(path);
  const counted = new Set<string>();
  return {
    recall(key, schema) {
      const hash = hashOf(key);
      const entry = Object(store.get(hash));
      const parsed = schema.safeParse(entry.value);
      if (!parsed.success) return undefined;
      if (!counted.has(hash)) budget.recall(Number(entry.calls) || 0, Number(entry.elapsedInMs) || 0);
      counted.add(hash);
      return parsed.data;
    },
    keep(key, value, calls) {
      const hash = hashOf(key);
      counted.add(hash);
      store.put(hash, { value, calls, elapsedInMs: Math.round(budget.spent().milliseconds), about: key });
    },
    close: () => store.close(),
  };
}
