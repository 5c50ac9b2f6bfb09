/**
 * The cases of a run, read from their files as they are needed: a first pass checks every line and decides which are
 * taken, a second one hands them out. Only ids and places are kept in memory.
 */
import { createHash } from 'node:crypto';
import { WinnowError } from '../core/errors.js';
import { type EvaluationCase, parseCase } from './case.js';
import { type CaseNotices, createCaseNotices } from './case-notices.js';
import { type Line, linesOf } from './lines.js';
import { randomFor, sampleOf } from './random.js';
import type { Suite } from './suite.js';

export interface CaseFilter {
  /** Cases with at least one of these tags. */
  tags?: readonly string[] | undefined;
  ids?: ReadonlySet<string> | undefined;
  /** So many of each suite, by chance with the seed. */
  sample?: number | undefined;
  seed: number;
  /** At most the first so many of each suite, after all other filters. */
  limit?: number | undefined;
  /** Refuses cases that do not name the tools that were offered. */
  needsCandidates?: boolean | undefined;
}

export interface CaseSource {
  /** Taken cases. */
  readonly total: number;
  /** What people should know of the files: fields, tools and arguments that do not exist. */
  readonly notices: readonly string[];
  /** Suite -> SHA-256 of its case file. */
  readonly hashes: Readonly<Record<string, string>>;
  cases(): AsyncGenerator<EvaluationCase>;
}

interface Chosen {
  suite: Suite;
  /** In ascending order. */
  lines: Uint32Array;
}

/** Id -> line, of the cases of one file. */
interface SeenFile {
  file: string;
  lines: Map<string, number>;
}

/**
 * @throws WinnowError `invalid_request` for bad lines and ids that are there twice, naming file and line of each, and for a file without cases;
 * `not_found` for a file that can't be read; `invalid_option` when no case is left
 */
export async function openCases(suites: readonly Suite[], filter: CaseFilter): Promise<CaseSource> {
  const seen: SeenFile[] = [];
  const notices: string[] = [];
  const hashes: Record<string, string> = {};
  const chosen: Chosen[] = [];
  for (const suite of suites) {
    const scan = await scanFile(suite, filter, seen);
    hashes[suite.name] = scan.hash;
    notices.push(...scan.notices);
    chosen.push({ suite, lines: scan.lines });
  }
  const total = chosen.reduce((sum, { lines }) => sum + lines.length, 0);
  if (total === 0) {
    throw new WinnowError('invalid_option', 'No case is left: loosen --tag, --failing-of, --sample or --limit.');
  }
  return { total, notices, hashes, cases: () => readChosen(chosen) };
}

async function* readChosen(chosen: readonly Chosen[]): AsyncGenerator<EvaluationCase> {
  for (const { suite, lines } of chosen) {
    let next = 0;
    for await (const { text, line } of linesOf(suite.caseFile)) {
      if (line !== lines[next]) continue;
      next += 1;
      yield parseCase(text, { suite: suite.name, file: suite.caseFile, line }).case;
      if (next === lines.length) break;
    }
  }
}

async function scanFile(suite: Suite, filter: CaseFilter, seen: SeenFile[]) {
  const { name, caseFile: file } = suite;
  const hash = createHash('sha256');
  const notices = createCaseNotices(suite);
  const fitting: number[] = [];
  const own: SeenFile = { file, lines: new Map() };
  seen.push(own);
  const bad: WinnowError[] = [];
  for await (const { text, line } of linesOf(file)) {
    hash.update(`${text}\n`);
    try {
      if (scanLine({ text, line }, { suite, filter, seen, own, notices })) fitting.push(line);
    } catch (error) {
      if (!(error instanceof WinnowError)) throw error;
      bad.push(error);
    }
  }
  refuseBad(file, bad);
  if (own.lines.size === 0) throw new WinnowError('invalid_request', `The file ${file} holds no case.`);
  const sampled =
    filter.sample === undefined ? fitting : sampleOf(fitting, filter.sample, randomFor(filter.seed, name));
  const lines = Uint32Array.from(sampled.slice(0, filter.limit));
  return { hash: hash.digest('hex'), notices: notices.texts(), lines };
}

interface Scan {
  suite: Suite;
  filter: CaseFilter;
  seen: readonly SeenFile[];
  own: SeenFile;
  notices: CaseNotices;
}

/** @returns whether the case is taken. @throws WinnowError `invalid_request` */
function scanLine(
  { text, line }: Line,
  { suite: { name, caseFile: file }, filter, seen, own, notices }: Scan,
): boolean {
  const { case: one, unknownFields } = parseCase(text, { suite: name, file, line });
  notices.seeFields(unknownFields);
  refuseDouble(one.id, `${file}:${line}`, seen);
  own.lines.set(one.id, line);
  if (!isTaken(one, filter)) return false;
  if (filter.needsCandidates && !one.candidates) {
    const message = `${file}:${line} candidates: "only the candidates" was asked for, and the case names none.`;
    throw new WinnowError('invalid_request', message);
  }
  notices.seeCase(one, line);
  return true;
}

/** All bad lines in one error, a line each. */
function refuseBad(file: string, bad: readonly WinnowError[]): void {
  const [first] = bad;
  if (first === undefined) return;
  if (bad.length === 1) throw first;
  const issues = bad.flatMap(({ message, issues: own }) => (own.length > 0 ? own : [message]));
  const message = `${bad.length} lines of ${file} are no usable cases. Mend them, or take them out.`;
  throw new WinnowError('invalid_request', message, { issues });
}

function isTaken({ id, tags }: EvaluationCase, filter: CaseFilter): boolean {
  const hasTag = !filter.tags || filter.tags.length === 0 || filter.tags.some((tag) => tags.includes(tag));
  return hasTag && (filter.ids?.has(id) ?? true);
}

function refuseDouble(id: string, place: string, seen: readonly SeenFile[]): void {
  for (const { file, lines } of seen) {
    const line = lines.get(id);
    if (line === undefined) continue;
    const message = `${place} id: "${id}" is also the id of ${file}:${line}; ids are unique in a run: give one of them another "id".`;
    throw new WinnowError('invalid_request', message);
  }
}
