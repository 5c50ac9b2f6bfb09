/**
 * Documents of the store, merged with a catalogue. They are read again now and then, so that what other processes have
 * put or removed counts, too.
 */
import { isDeepStrictEqual } from 'node:util';
import type { Catalog } from '../core/catalog/catalog.js';
import type { EntryIssue } from '../core/catalog/tool.js';
import type { DocumentRecord } from './store/documents.js';

interface WithIssues {
  readonly issues: readonly EntryIssue[];
}

interface MergedDocumentsParts<Merged extends WithIssues> {
  /** Asked anew each time, so it may be reloaded. */
  base: () => Catalog;
  list: () => Promise<readonly DocumentRecord[]>;
  merge: (catalog: Catalog, documents: readonly DocumentRecord[]) => Merged;
  /** Told of each issue of what is merged, once. Default: nothing is told. */
  onIssue?: ((issue: EntryIssue) => void) | undefined;
}

interface MergedDocuments<Merged> {
  /** As of the last `refresh`; the same object where neither documents nor catalogue have changed. */
  current(): Merged;
  /** @throws WinnowError `store_failed` */
  refresh(): Promise<void>;
}

export function createMergedDocuments<Merged extends WithIssues>(
  parts: MergedDocumentsParts<Merged>,
): MergedDocuments<Merged> {
  const { base, list, merge, onIssue } = parts;
  const tell = tellOnce(onIssue, (issue) => JSON.stringify(issue));
  const readings = { begun: 0, taken: 0 };
  let documents: readonly DocumentRecord[] = [];
  let last: { catalog: Catalog; documents: readonly DocumentRecord[]; merged: Merged } | undefined;

  function current(): Merged {
    const catalog = base();
    if (last?.catalog !== catalog || last.documents !== documents) {
      last = { catalog, documents, merged: merge(catalog, documents) };
      last.merged.issues.forEach(tell);
    }
    return last.merged;
  }

  return {
    current,

    async refresh() {
      readings.begun += 1;
      const reading = readings.begun;
      const fresh = await list();
      // One that was begun before a document was put must not take it away again.
      if (reading < readings.taken) return;
      readings.taken = reading;
      if (!isDeepStrictEqual(fresh, documents)) documents = fresh;
      // What is not usable is told now, not when a request comes.
      current();
    },
  };
}

// Tells of each thing once, for what is found anew at every look. Without anybody to tell, nothing is told.

export function tellOnce<Thing>(
  tell: ((thing: Thing) => void) | undefined,
  keyOf: (thing: Thing) => string,
): (thing: Thing) => void {
  const told = new Set<string>();
  return (thing) => {
    const key = keyOf(thing);
    if (!told.has(key)) tell?.(thing);
    told.add(key);
  };
}
