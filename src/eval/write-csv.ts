/** The cases of a run as a table for spreadsheets: one row a case and repeat, one column a score, then what it cost. */
import { createWriteStream } from 'node:fs';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { stringify } from 'csv-stringify';
import { sumUsage } from '../core/model/model.js';
import { SCORES } from './metrics.js';
import type { CaseRecord } from './record.js';

const FACTS = [
  'id',
  'suite',
  'repeat',
  'lang',
  'tags',
  'query',
  'outcome',
  'cause',
  'expected',
  'got',
  'kind',
] as const;
const COSTS = ['read', 'cached', 'written', 'schemaTokens', 'cost', 'milliseconds'] as const;
type Cell = string | number | null | undefined;

/** @param names of the metrics that the run has; those that no single case has a value of are left out. What begins like a formula is written so that it is none. */
export async function writeCsv(
  records: AsyncIterable<CaseRecord>,
  names: readonly string[],
  out: string,
): Promise<void> {
  const scores = names.filter((name) => SCORES.has(name));
  async function* rows(): AsyncGenerator<Cell[]> {
    for await (const record of records) {
      yield [...factsOf(record), ...scores.map((name) => record.scores[name]), ...costsOf(record)];
    }
  }
  const columns = [...FACTS, ...scores, ...COSTS];
  await pipeline(
    Readable.from(rows()),
    stringify({ header: true, columns, escape_formulas: true }),
    createWriteStream(out),
  );
}

function factsOf(record: CaseRecord): Cell[] {
  const { id, suite, repeat, lang, tags, query, outcome, cause, expected, selection, result } = record;
  const got = selection?.tools.map(({ name }) => name).join(' ');
  return [id, suite, repeat, lang, tags.join(' '), query, outcome, cause, expected.tools.join(' '), got, result?.kind];
}

function costsOf({ usage: { selection, planning, schemaTokens }, cost, milliseconds }: CaseRecord): Cell[] {
  const { read, cached, written } = sumUsage(selection, planning);
  return [read, cached, written, schemaTokens.loaded, cost, milliseconds.total];
}
