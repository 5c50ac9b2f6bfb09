import type { Documents } from '../../src/agents/store/sql/keyed-records.js';

/** The store, with a first reading that comes in only after `release`. */
export function holdFirstList(store: Documents): { held: Documents; release: () => void } {
  let release: () => void = () => {};
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  let isFirst = true;
  return {
    release,
    held: {
      ...store,
      async list(owner, before) {
        const waits = isFirst;
        isFirst = false;
        const documents = await store.list(owner, before);
        if (waits) await released;
        return documents;
      },
    },
  };
}
