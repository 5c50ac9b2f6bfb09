/**
 * The cases of a run: a first pass over the files checks every line and chooses the cases, a second one yields them. Memory
 * holds only ids and line numbers.
 */
import { isUtf8 } from 'node:buffer';
import { createHash } from 'node:crypto';
import { constants, createReadStream } from 'node:fs';
import { access, stat } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import { WinnowError } from '../core/errors.js';
import { type EvaluationCase, parseCase } from './case.js';
import { randomFor, sampleOf } from './random.js';
import type { Suite } from './suite.js';

export interface CaseFilter {
  /** Cases with at least one of these tags. */
  tags?: readonly string[] | undefined;
  ids?: ReadonlySet<string> | undefined;
  /** Size of a random sample of each suite, by seed. */
  sample?: number | undefined;
  seed: number;
  /** Most cases of each suite, the first ones after all other filters. */
  limit?: number | undefined;
  /** Refuses cases without `candidates`. */
  needsCandidates?: boolean | undefined;
}

export interface CaseSource {
  /** Number of chosen cases. */
  readonly total: number;
  /** Warnings for people: fields and tools that do not exist. */
  readonly notices: readonly string[];
  /** Suite -> SHA-256 of its case file. */
  readonly hashes: Readonly<Record<string, string>>;
  cases(): AsyncGenerator<EvaluationCase>;
}

/**
 * @throws WinnowError `invalid_request` for bad lines and duplicate ids, naming file and line of each, and for a file without
 * cases; `not_found` for a file that can't be read; `invalid_option` when no case is left
 */
export async function openCases(suites: readonly Suite[], filter: CaseFilter): Promise<CaseSource> {
  /** Id -> its file and line, over all files. */
  const seen = new Map<string, string>();
  const scans: Scan[] = [];
  for (const suite of suites) scans.push(await scanFile(suite, filter, seen));
  const total = scans.reduce((sum, { lines }) => sum + lines.length, 0);
  if (total === 0) {
    throw new WinnowError('invalid_option', 'No case is left: loosen --tag, --failing-of, --sample or --limit.');
  }
  return {
    total,
    notices: scans.flatMap(({ notices }) => notices),
    hashes: Object.fromEntries(scans.map(({ suite, hash }) => [suite.name, hash])),
    async *cases() {
      for (const { suite, lines } of scans) {
        let next = 0;
        for await (const { text, line } of linesOf(suite.caseFile)) {
          if (line !== lines[next]) continue;
          next += 1;
          yield parseCase(text, { suite: suite.name, file: suite.caseFile, line }).case;
          if (next === lines.length) break;
        }
      }
    },
  };
}

interface Scan {
  suite: Suite;
  hash: string;
  notices: string[];
  /** Line numbers of the chosen cases, ascending. */
  lines: Uint32Array;
}

async function scanFile(suite: Suite, filter: CaseFilter, seen: Map<string, string>): Promise<Scan> {
  const { name, caseFile: file } = suite;
  const hash = createHash('sha256');
  const notices = createCaseNotices(suite);
  const fitting: number[] = [];
  const bad: WinnowError[] = [];
  const before = seen.size;
  for await (const { text, line } of linesOf(file)) {
    hash.update(`${text}\n`);
    try {
      const { case: one, unknownFields } = parseCase(text, { suite: name, file, line });
      notices.seeFields(unknownFields);
      const other = seen.get(one.id);
      if (other !== undefined) {
        const advice = 'ids are unique in a run: give one of them another "id".';
        throw invalid(`${file}:${line} id: "${one.id}" is also the id of ${other}; ${advice}`);
      }
      seen.set(one.id, `${file}:${line}`);
      if (!isTaken(one, filter)) continue;
      if (filter.needsCandidates && !one.candidates)
        throw invalid(`${file}:${line} candidates: "only the candidates" was asked for, and the case names none.`);
      notices.seeCase(one, line);
      fitting.push(line);
    } catch (error) {
      if (!(error instanceof WinnowError)) throw error;
      bad.push(error);
    }
  }
  refuseBad(file, bad);
  if (seen.size === before) throw invalid(`The file ${file} holds no case.`);
  const { sample, seed, limit } = filter;
  const sampled = sample === undefined ? fitting : sampleOf(fitting, sample, randomFor(seed, name));
  return {
    suite,
    hash: hash.digest('hex'),
    notices: notices.texts(),
    lines: Uint32Array.from(sampled.slice(0, limit)),
  };
}

function isTaken({ id, tags }: EvaluationCase, filter: CaseFilter): boolean {
  const hasTag = !filter.tags?.length || filter.tags.some((tag) => tags.includes(tag));
  return hasTag && (filter.ids?.has(id) ?? true);
}

/** All bad lines in one error, a line each. */
function refuseBad(file: string, bad: readonly WinnowError[]): void {
  const [first] = bad;
  if (first === undefined) return;
  if (bad.length === 1) throw first;
  const issues = bad.flatMap(({ message, issues: own }) => (own.length > 0 ? own : [message]));
  throw invalid(`${bad.length} lines of ${file} are no usable cases. Mend them, or take them out.`, issues);
}

function invalid(message: string, issues: readonly string[] = []): WinnowError {
  return new WinnowError('invalid_request', message, { issues });
}

/**
 * Lines that are not empty, numbered from 1.
 * @throws WinnowError `not_found` when the file can't be read, `invalid_request` for a line that is not UTF-8
 */
async function* linesOf(file: string): AsyncGenerator<{ text: string; line: number }> {
  try {
    await access(file, constants.R_OK);
    if ((await stat(file)).isDirectory()) throw new RangeError('It is a folder.');
  } catch (cause) {
    throw new WinnowError('not_found', `The file ${file} can't be read.`, { cause });
  }
  // One character a byte, since decoding at once would replace what is not UTF-8.
  const lines = createInterface({ input: createReadStream(file, 'latin1'), crlfDelay: Number.POSITIVE_INFINITY });
  let line = 0;
  for await (const bytes of lines) {
    line += 1;
    const written = Buffer.from(bytes, 'latin1');
    if (!isUtf8(written)) throw invalid(`${file}:${line} is not UTF-8 text: save the file as UTF-8.`);
    const text = written.toString();
    if (text.trim() !== '') yield { text, line };
  }
}

/** Most names in one notice. */
const MAX_LISTED = 10;

/**
 * Collects unknown fields and names of a case file, which are no errors, since public sets have them. It keeps only the first
 * ones.
 */
function createCaseNotices({ caseFile: file, catalog }: Suite) {
  const tools = new Set(catalog.tools.map(({ name }) => name));
  const fields = new Map<string, number>();
  const strangers: string[] = [];
  let more = 0;
  return {
    /** For every line, also of cases that are not chosen. */
    seeFields(unknown: readonly string[]) {
      for (const field of unknown) fields.set(field, (fields.get(field) ?? 0) + 1);
    },
    /** For a chosen case. */
    seeCase({ expected, candidates = [] }: EvaluationCase, line: number) {
      // Sets of alternatives repeat expected tools.
      const others = (expected.alternatives ?? []).flat().filter((name) => !expected.tools.includes(name));
      for (const [field, names] of Object.entries({
        expectedTools: expected.tools,
        alternatives: others,
        candidates,
      })) {
        for (const name of new Set(names)) {
          if (tools.has(name)) continue;
          const text = `${file}:${line} ${field}: "${name}" is no tool of the catalogue "${catalog.name}"`;
          if (strangers.length < MAX_LISTED) strangers.push(text);
          else more += 1;
        }
      }
    },
    /** One text for each line. */
    texts: () => [
      ...[...fields].map(
        ([field, count]) => `${file}: the field "${field}" is not known, and is left out of account (${count} lines)`,
      ),
      ...strangers,
      ...(more > 0 ? [`and ${more} more names that are no tools`] : []),
    ],
  };
}
