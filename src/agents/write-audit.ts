/** Entries of the audit that belong to no session: what operators and users changed. */

import { type BareEntry, createLedger } from './ledger.js';
import type { Journal } from './store/store.js';

export interface AuditWriterParts {
  journal: Journal;
  /** Default: the clock of the machine. */
  clock?: (() => Date) | undefined;
}

export type WriteAudit = (entry: BareEntry) => Promise<void>;

/** @returns a function that throws WinnowError `store_failed` */
export function createAuditWriter({ journal, clock = () => new Date() }: AuditWriterParts): WriteAudit {
  const ledger = createLedger({ journal, clock });
  return (entry) => ledger.write({ audit: [entry] });
}
