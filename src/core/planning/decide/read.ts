/** Reads next-token probabilities for plans by deciding, and caches the readings with an empty request. */
import { createHash } from 'node:crypto';
import type { View } from '../../catalog/scope.js';
import type { Tool } from '../../catalog/tool.js';
import { keepLatest, oncePer } from '../../kept.js';
import {
  addUsage,
  type CallAbout,
  countFailed,
  MAX_READINGS,
  type Model,
  type Prompt,
  type Readings,
  type TokenReader,
} from '../../model/model.js';
import type { Prompts } from '../../prompts/prompts.js';
import type { Asked } from '../../set-apart.js';
import type { PlanParts } from '../write.js';

export interface DecideParts extends PlanParts {
  readonly view: View;
  readonly asked: Asked;
  /** Whether the tools stand in the order of selection, likeliest first. */
  readonly isOrdered: boolean;
  /** The tools that selection chooses for one ask of several, likeliest first, with those before it as earlier messages. */
  orderFor(ask: string, before: readonly string[]): Promise<readonly Tool[]>;
  /** The context with the asks before another one as earlier messages. */
  contextAfter(asks: readonly string[]): string;
}

/** Opens the reader at its first use, so that a prompt without a choice is never processed. */
export type Open = () => Promise<TokenReader>;

/** One reading: it renders a prompt, opens the answer with `opening` and passes the reader to `use`. */
export type Read = <T>(
  prompt: keyof Prompts,
  values: Readonly<Record<string, string>>,
  opening: string,
  use: (open: Open) => Promise<T>,
) => Promise<T>;

/** A plan in progress. */
export interface Deciding extends DecideParts {
  /** The selected tools. */
  readonly tools: readonly Tool[];
  readonly message: string;
  readonly read: Read;
  readonly readUnasked: Read;
}

const keptOf = oncePer((_: Model): Readings => {
  const kept = new Map<string, unknown>();
  return { get: (key) => kept.get(key), set: (key, value) => keepLatest(kept, [key, value], MAX_READINGS) };
});

/**
 * Repeats a reading with an empty request, as the baseline of its probabilities (contextual calibration: Zhao et al.,
 * "Calibrate Before Use", ICML 2021). Results are cached per model and prompt. Readings in progress are not shared, since
 * their request may be cancelled.
 */
export function createReadUnasked({ model, prompts }: DecideParts, read: Read): Read {
  const kept = model.readings ?? keptOf(model);
  return async (name, asked, opening, use) => {
    const values = { ...asked, context: '', message: '' };
    const asking = [prompts[name].hash, opening, JSON.stringify(values)].join(' ');
    const key = createHash('sha256').update(asking).digest('hex').slice(0, 32);
    const known = kept.get(key) as Awaited<ReturnType<typeof use>> | undefined;
    const found = known ?? (await read(name, values, opening, use));
    if (known === undefined) kept.set(key, found);
    return found;
  };
}

/** Counts the tokens of each reading and always closes its reader. */
export function createRead({ model, prompts, usage, facts, signal }: DecideParts): Read {
  return async (name, values, opening, use) => {
    const template: { name: string; hash: string; render(values: Readonly<Record<string, string>>): Prompt } =
      prompts[name];
    const about: CallAbout = {
      module: 'planning/decide',
      promptName: template.name,
      promptHash: template.hash,
      variables: values,
      ...facts,
    };
    let opened: Promise<TokenReader> | undefined;
    const open = () => {
      const question = { prompt: template.render(values), opening, stage: 'planning', signal, about } as const;
      opened ??= model.openReader && countFailed(model.openReader(question), usage);
      if (!opened) throw new TypeError(`The model ${model.id} gives no next-token probabilities.`);
      return opened;
    };
    try {
      return await use(open);
    } finally {
      const reader = await opened?.catch(() => undefined);
      if (reader) addUsage(usage, reader.usage());
      await reader?.close();
    }
  };
}
