/** Brings the index over a restart: what was built last is kept in the store, and taken over where it still fits. */
import { toWinnowError, type WinnowError } from '../../core/errors.js';
import type { Documents } from '../store/store.js';
import type { IndexSettings } from './index-settings.js';
import type { ImportedIndex, ToolIndex } from './tool-index.js';

export interface SnapshotKeeperParts extends Pick<IndexSettings, 'snapshot' | 'maxSnapshotBytes'> {
  index: ToolIndex;
  store: Documents;
  /** Told when a snapshot can't be kept or taken over; the index itself is as good without. */
  onFailure?: ((error: WinnowError) => void) | undefined;
  /** Default: the clock of the machine. */
  clock?: (() => Date) | undefined;
}

export interface SnapshotKeeper {
  /** Takes over what is kept. Undefined: nothing is, or it is broken. */
  restore(): Promise<ImportedIndex | undefined>;
  /** Keeps the index of now, if it is ready and not kept already. Never throws. */
  save(): Promise<void>;
}

const OWNER = 'index';
const NAME = 'latest';

export function createSnapshotKeeper(parts: SnapshotKeeperParts): SnapshotKeeper {
  const { index, store, snapshot: level, maxSnapshotBytes: maxBytes, onFailure, clock = () => new Date() } = parts;
  let kept: string | undefined;

  async function quietly<T>(work: () => Promise<T>): Promise<T | undefined> {
    try {
      return await work();
    } catch (error) {
      onFailure?.(toWinnowError(error));
      return undefined;
    }
  }

  return {
    restore: () =>
      quietly(async () => {
        const document = await store.get(OWNER, NAME);
        if (!document) return undefined;
        const imported = await index.importSnapshot(document.content);
        if (imported.snapshot === 'taken') kept = imported.fingerprint;
        return imported;
      }),

    async save() {
      await quietly(async () => {
        const { state, fingerprint } = index.status();
        if (level === 'none' || state !== 'ready' || fingerprint === kept) return;
        const content = index.exportSnapshot({ level, maxBytes });
        await keepSnapshot(store, content, clock());
        kept = fingerprint;
      });
    },
  };
}

/** Puts a snapshot where a server finds it at its next start. @throws WinnowError `store_failed` */
export async function keepSnapshot(store: Documents, content: unknown, now: Date): Promise<void> {
  await store.put({ owner: OWNER, name: NAME, content, updatedAt: now.toISOString() });
}
