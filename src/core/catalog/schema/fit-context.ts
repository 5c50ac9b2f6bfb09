/** What one run of `fitSchema` carries along: the document, the notes, the definitions met, and the bounds. */
import type { JsonSchema } from '../tool.js';

/** A referenced part of the document, fitted once. */
export interface Definition {
  readonly name: string;
  /** `open` while it is being fitted: a reference met meanwhile is a recursion. */
  state: 'open' | 'done';
  recursive: boolean;
  schema: JsonSchema;
  /** Places where it was written out in full. */
  inlined: number;
}

export interface FitContext {
  readonly root: JsonSchema;
  readonly definitions: Map<string, Definition>;
  readonly notes: string[];
  /** A standard validator would read the original in another sense than its author's. */
  misread: boolean;
  /** Bound against documents that unfold without end. */
  nodesLeft: number;
}

/** Where a node stands. */
export interface Place {
  /** In words: `filters.tags[]`; empty for the arguments themselves. */
  readonly path: string;
  readonly depth: number;
  /** References followed to the same value: one that comes again would be followed for ever. */
  readonly open?: readonly string[];
  /** The node only adds conditions to one that surrounds it (members of `anyOf`, `then`, …). */
  readonly partOf?: { readonly names: ReadonlySet<string>; readonly typed: boolean };
}

export type Say = (text: string) => void;

const MAX_NODES = 20_000;

export function createFitContext(root: JsonSchema): FitContext {
  return { root, definitions: new Map(), notes: [], misread: false, nodesLeft: MAX_NODES };
}

export function addNote(context: FitContext, path: string, text: string): void {
  const note = `${path || '(arguments)'}: ${text}`;
  if (!context.notes.includes(note)) context.notes.push(note);
}
