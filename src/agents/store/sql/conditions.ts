/** Conditions of queries whose filters may each be absent. */
import { type RawBuilder, type SqlBool, sql } from 'kysely';

export interface Filter {
  /** Column -> the value that it must have; absent: any. */
  equal?: Readonly<Record<string, string | undefined>>;
  /** Column -> the least value, this one included. */
  from?: Readonly<Record<string, string | undefined>>;
  /** Column -> the end, this one not included. */
  before?: Readonly<Record<string, string | undefined>>;
}

/** All that is given must hold; nothing given holds always. */
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
