/**
 * Documents of the store, merged with a catalogue. `refresh` picks up changes by other processes.
 */
import type { Catalog } from '../core/catalog/catalog.js';
import type { EntryIssue } from '../core/catalog/tool.js';
import type { DocumentRecord } from './store/store.js';

interface WithIssues {
  readonly issues: readonly EntryIssue[];
}

interface MergedDocumentsParts<Merged extends WithIssues> {
  /** Called each time, so it may be reloaded. */
  base: () => Catalog;
  /** @param before the last answer, which comes back where nothing has changed; see `Documents` */
  list: (before: readonly DocumentRecord[]) => Promise<readonly DocumentRecord[]>;
  merge: (catalog: Catalog, documents: readonly DocumentRecord[]) => Merged;
  /** Called once for each issue of the merged result. Default: not reported. */
  onIssue?: ((issue: EntryIssue) => void) | undefined;
}

export function createMergedDocuments<Merged extends WithIssues>(parts: MergedDocumentsParts<Merged>) {
  const { base, list, merge, onIssue } = parts;
  const report = reportOnce(onIssue, (issue) => JSON.stringify(issue));
  const readings = { begun: 0, taken: 0 };
  let documents: readonly DocumentRecord[] = [];
  let last: { catalog: Catalog; documents: readonly DocumentRecord[]; merged: Merged } | undefined;

  function current(): Merged {
    const catalog = base();
    if (last?.catalog !== catalog || last.documents !== documents) {
      last = { catalog, documents, merged: merge(catalog, documents) };
      last.merged.issues.forEach(report);
    }
    return last.merged;
  }

  return {
    /** State of the last `refresh`; the same object while documents and catalogue are unchanged. */
    current,

    /** @throws WinnowError `store_failed` */
    async refresh(): Promise<void> {
      readings.begun += 1;
      const reading = readings.begun;
      const fresh = await list(documents);
      // An older, slower read must not undo a newer one.
      if (reading < readings.taken) return;
      readings.taken = reading;
      documents = fresh;
      // Reports issues now rather than with the next request.
      current();
    },
  };
}

// Reports each thing once, although it is found again at every refresh.

export function reportOnce<Thing>(
  report: ((thing: Thing) => void) | undefined,
  keyOf: (thing: Thing) => string,
): (thing: Thing) => void {
  const reported = new Set<string>();
  return (thing) => {
    const key = keyOf(thing);
    if (!reported.has(key)) report?.(thing);
    reported.add(key);
  };
}
