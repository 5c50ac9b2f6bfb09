/**
 * The tables as Kysely sees them: columns are the fields of the records, in snake case in the database. Missing fields
 * are null, nested ones JSON.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { type Generated, type RawBuilder, type SqlBool, sql, type Transaction } from 'kysely';
import type {
  AnswerRecord,
  ApprovalRecord,
  AuditRecord,
  CallRecord,
  DocumentRecord,
  EnablementRecord,
  PlanRunRecord,
  SessionRecord,
  TelemetryRecord,
  WeightRecord,
} from '../store.js';

/** Fields that are JSON in every table. */
const JSON_FIELDS = [
  'arguments',
  'content',
  'details',
  'granted',
  'plan',
  'roles',
  'runs',
  'sources',
  'summary',
  'values',
] as const;
type JsonField = (typeof JSON_FIELDS)[number];

type RowOf<Kept> = {
  [Field in keyof Kept]-?:
    | (Field extends JsonField ? string : Exclude<Kept[Field], undefined>)
    | (Record<never, never> extends Pick<Kept, Field> ? null : never);
};
/** Grows with every row: the order of writes. */
interface Placed {
  place: Generated<number>;
}

export type EnablementsTable = Omit<EnablementRecord, 'once'> & {
  session: string;
  /** 0 or 1: SQLite has no booleans. */
  once: number;
};

export interface Tables {
  sessions: RowOf<SessionRecord>;
  enablements: EnablementsTable;
  approvals: RowOf<ApprovalRecord> & { grantedHash: string | null };
  audit: RowOf<AuditRecord> & Placed;
  telemetry: RowOf<TelemetryRecord> & Placed;
  calls: RowOf<CallRecord> & Placed;
  /** `version` changes with every write; null in rows of an earlier version of Winnow. */
  documents: RowOf<DocumentRecord> & { collection: string; version: string | null };
  weights: RowOf<WeightRecord>;
  planRuns: RowOf<Omit<PlanRunRecord, 'steps'>> & { leaseOwner: string | null; bytes: number };
  answers: RowOf<AnswerRecord> & { bytes: number };
  /** `state` is JSON. */
  planSteps: { run: string; step: string; state: string; updatedAt: string };
}

/** Overhead of a row whose `bytes` count against a quota. */
export const ROW_BYTES = 512;

/** How many rows are in memory before they are parsed. */
const READ_AT_ONCE = 16;

/**
 * Reads what may be large, or lies behind it in its row: some at a time, and with a turn for others after each row,
 * since SQLite answers at once.
 */
export async function* readInTurns<Place, Row>(
  places: readonly Place[],
  read: (some: readonly Place[]) => Promise<Row[]>,
): AsyncGenerator<Row, void, void> {
  for (let at = 0; at < places.length; at += READ_AT_ONCE)
    for (const row of await read(places.slice(at, at + READ_AT_ONCE))) {
      yield row;
      await nextTurn();
    }
}

/** The row of a record; `undefined` becomes null. */
export function toRow<Kept extends object>(record: Kept): RowOf<Kept> {
  const isJson = new Set<string>(JSON_FIELDS);
  return Object.fromEntries(
    Object.entries(record).map(([field, value]) => [
      field,
      isJson.has(field) && value !== undefined ? toJson(value) : (value ?? null),
    ]),
  ) as RowOf<Kept>;
}

/** The record that `toRow` was given. */
export function toRecord<Kept>(row: object): Kept {
  const isJson = new Set<string>(JSON_FIELDS);
  return Object.fromEntries(
    Object.entries(row)
      .filter(([, value]) => value !== null)
      .map(([field, value]) => [field, isJson.has(field) ? JSON.parse(value) : value]),
  ) as Kept;
}

export function toApproval({ grantedHash: _, ...row }: Tables['approvals']): ApprovalRecord {
  return toRecord(row);
}

/** Locks the user's counts until the transaction ends. */
export type WaitForUser = (transaction: Transaction<Tables>, user: string) => Promise<unknown>;

export async function insertAudit(transaction: Transaction<Tables>, entries: readonly AuditRecord[]): Promise<void> {
  if (entries.length > 0) await transaction.insertInto('audit').values(entries.map(toRow)).execute();
}

export function toJson(value: unknown): string {
  return JSON.stringify(value ?? null);
}

/** Filters of a query, each optional. */
interface Filter {
  /** Column -> required value; absent: any. */
  equal?: Readonly<Record<string, string | undefined>>;
  /** Column -> lower bound, inclusive. */
  from?: Readonly<Record<string, string | undefined>>;
  /** Column -> upper bound, exclusive. */
  before?: Readonly<Record<string, string | undefined>>;
}

/** All given filters must hold; none matches everything. */
export function matching({ equal = {}, from = {}, before = {} }: Filter): RawBuilder<SqlBool> {
  const parts = [
    ...given(equal).map(([column, value]) => sql<SqlBool>`${sql.ref(column)} = ${value}`),
    ...given(from).map(([column, value]) => sql<SqlBool>`${sql.ref(column)} >= ${value}`),
    ...given(before).map(([column, value]) => sql<SqlBool>`${sql.ref(column)} < ${value}`),
  ];
  return parts.length === 0 ? sql<SqlBool>`1 = 1` : sql<SqlBool>`${sql.join(parts, sql` and `)}`;
}

function given(columns: Readonly<Record<string, string | undefined>>): [string, string][] {
  return Object.entries(columns).flatMap(([column, value]) => (value === undefined ? [] : [[column, value]]));
}
