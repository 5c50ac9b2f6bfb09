/** Sources -> one catalogue. A source that fails, or an entry that is wrong, is reported and left out. */
import { createHash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { throwIfCancelled, WinnowError } from '../errors.js';
import { type Catalog, createCatalog } from './catalog.js';
import {
  type CatalogChanges,
  findRenamed,
  type GoodReading,
  keepFailed,
  keepUnchanged,
  type Outcome,
} from './reload.js';
import type { Rule } from './rule.js';
import { type ParsedReading, parseReading } from './sources/entries.js';
import { DEFAULT_SOURCE_TIMEOUT_MS, detectSource, readSource } from './sources/formats.js';
import { mergeTools } from './sources/merge.js';
import { reasonOf, sourceFailed } from './sources/read.js';
import { describeSource, type ReadContext, type SourceFailure, type SourceSpec } from './sources/source.js';
import type { EntryIssue } from './tool.js';

/** The part of a pino logger that is used. */
export interface LoadLogger {
  debug(facts: object, message: string): void;
  warn(facts: object, message: string): void;
}

export interface LoadOptions {
  /** Paths, URLs, prefixed forms (`openapi:FILE`) or parsed specs; their order is the order of the tools. */
  sources: readonly (string | SourceSpec)[];
  /** A wrong entry or a failing source refuses the catalogue. Default: false, they are left out and reported. */
  strict?: boolean | undefined;
  /** The result of an earlier load: what did not change stays the same objects. */
  previous?: LoadedCatalog | undefined;
  /**
   * A source that fails, or the one server of it that does, gives what it gave in `previous`; the failure is reported all
   * the same. Default: false, its tools are gone.
   */
  keepFailed?: boolean | undefined;
  /** For one URL, or one MCP server from its start to its last page. Default: 30,000. */
  timeoutMs?: number | undefined;
  /** Gives the variables that an MCP configuration names as `${NAME}`, for example of the environment. */
  variable?: ((name: string) => string | undefined) | undefined;
  logger?: LoadLogger | undefined;
  signal?: AbortSignal | undefined;
}

export interface LoadedSource {
  /** In words, without keys. */
  readonly spec: string;
  /** Changes when anything that the source contributes does. */
  readonly fingerprint: string;
  /** How many it contributes. */
  readonly tools: number;
  readonly rules: number;
}

export interface LoadedCatalog {
  /** With `previous` and no change at all: the same object. */
  readonly catalog: Catalog;
  readonly issues: readonly EntryIssue[];
  readonly failures: readonly SourceFailure[];
  /** Of `failures`, those in whose place stands what they gave in `previous`; see `keepFailed`. */
  readonly kept: readonly SourceFailure[];
  /** Those that could be read, in order. */
  readonly sources: readonly LoadedSource[];
  /** Against `previous`; without it every tool is an added one. */
  readonly changes: CatalogChanges;
  /** What each source gave, for a load with `keepFailed`; undefined where it gave nothing. */
  readonly readings: readonly (GoodReading | undefined)[];
}

/**
 * @throws WinnowError `source_failed` when no source could be read, or under `strict` when one could not;
 * `invalid_catalog` for clashing names, and under `strict` for wrong entries; `invalid_option` without a
 * source; `cancelled`
 */
export async function loadCatalog(options: LoadOptions): Promise<LoadedCatalog> {
  if (options.sources.length === 0) throw new WinnowError('invalid_option', 'A catalogue needs at least one source.');
  const { previous, strict, signal } = options;
  const { variable, timeoutMs = DEFAULT_SOURCE_TIMEOUT_MS } = options;
  const context: ReadContext = { timeoutMs, signal, variable };
  const read = await Promise.all(options.sources.map((source) => loadSource(source, context)));
  throwIfCancelled(signal);
  const before = options.keepFailed ? previous?.readings : undefined;
  const outcomes = read.map((outcome, place) => keepFailed(outcome, before?.[place]));
  const loaded = outcomes.filter((outcome) => outcome.parsed !== undefined);
  const failures = outcomes.flatMap((outcome) => outcome.failures);
  if (loaded.length === 0 || strict) refuseFailures(failures);
  const kept = outcomes.flatMap(({ kept = [] }) => kept);
  const missing = failures.filter((failure) => !kept.includes(failure));
  const merged = mergeTools(
    loaded.flatMap(({ parsed }) => parsed.tools),
    missing,
  );
  const issues = [...loaded.flatMap(({ parsed }) => parsed.issues), ...merged.issues];
  if (strict) refuseWarnings(issues);
  issues.push(...findRenamed(merged.tools, previous?.catalog.tools ?? []));
  const { tools, changes } = keepUnchanged(merged.tools, previous?.catalog.tools ?? []);
  const rules = loaded.flatMap(({ parsed }) => parsed.rules);
  const fresh = createCatalog(tools, { name: loaded.map(({ name }) => name).join(' + '), rules });
  report(issues, failures, options.logger);
  return {
    catalog: previous && isSame(previous.catalog, fresh) ? previous.catalog : fresh,
    issues,
    failures,
    kept,
    sources: loaded.map(({ spec, parsed }) => summarize(spec, parsed)),
    changes,
    readings: outcomes.map((outcome) => (outcome.parsed ? outcome : undefined)),
  };
}

async function loadSource(source: string | SourceSpec, context: ReadContext): Promise<Outcome> {
  const spec = describeSource(source);
  let isNaming = false;
  try {
    const detected = typeof source === 'string' ? await detectSource(source, context) : source;
    isNaming = detected.kind === 'mcp';
    const reading = await readSource(detected, context);
    return { spec, name: reading.name ?? spec, parsed: parseReading(reading), failures: reading.failures };
  } catch (error) {
    throwIfCancelled(context.signal);
    const advice = 'Check that its content is of the documented form';
    const failure =
      error instanceof WinnowError ? error : sourceFailed(spec, `failed (${reasonOf(error)}). ${advice}`, error);
    return { spec, failures: [{ source: spec, error: failure, ...(isNaming ? { isNaming } : {}) }] };
  }
}

function refuseFailures(failures: readonly SourceFailure[]): void {
  const [first] = failures;
  if (!first) return;
  if (failures.length === 1) throw first.error;
  const issues = failures.map(({ error }) => error.message);
  throw new WinnowError('source_failed', `${failures.length} sources failed. ${issues[0]}`, { issues });
}

function refuseWarnings(issues: readonly EntryIssue[]): void {
  const lines = issues.filter(({ level }) => level === 'warning').map(renderIssue);
  if (lines.length === 0) return;
  const count = lines.length === 1 ? 'One problem' : `${lines.length} problems`;
  throw new WinnowError('invalid_catalog', `${count} in the catalogue under strict. ${lines[0]}.`, { issues: lines });
}

/** `file[3] name: message` */
export function renderIssue({ entry, name, message }: EntryIssue): string {
  return `${entry}${name === undefined ? '' : ` ${name}`}: ${message}`;
}

function isSame(old: Catalog, fresh: Catalog): boolean {
  return (
    old.name === fresh.name &&
    old.tools.length === fresh.tools.length &&
    old.tools.every((tool, index) => tool === fresh.tools[index]) &&
    isDeepStrictEqual(old.rules, fresh.rules)
  );
}

function summarize(spec: string, { tools, rules }: { tools: ParsedReading['tools']; rules: readonly Rule[] }) {
  const content = JSON.stringify([tools.map(({ tool }) => tool), rules]);
  return {
    spec,
    fingerprint: createHash('sha256').update(content).digest('hex'),
    tools: tools.length,
    rules: rules.length,
  };
}

function report(issues: readonly EntryIssue[], failures: readonly SourceFailure[], logger?: LoadLogger): void {
  for (const { level, entry, name, message } of issues) {
    logger?.[level === 'debug' ? 'debug' : 'warn']({ entry, tool: name }, message);
  }
  for (const { source, error } of failures) logger?.warn({ source, code: error.code }, error.message);
}
