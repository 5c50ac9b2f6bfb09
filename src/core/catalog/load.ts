/**
 * Loads sources into one catalogue. Failing sources and invalid entries are reported and left out. Compared with an earlier
 * load, it lists the changes and can keep what a failing source gave before.
 */
import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import { reasonOf, throwIfCancelled, WinnowError } from '../errors.js';
import { runInSlices } from '../in-slices.js';
import { parseOptions, timerMs } from '../parse.js';
import { type Catalog, createCatalog, toolHash } from './catalog.js';
import { isObject } from './schema/json.js';
import { DEFAULT_SOURCE_TIMEOUT_MS, detectSource, readSource } from './sources/formats.js';
import {
  describeSource,
  type ParsedReading,
  parseInSteps,
  type ReadContext,
  type SourceFailure,
  type SourceSpec,
  sourceFailed,
  withoutTaken,
} from './sources/source.js';
import { type EntryIssue, renderIssue, type Tool } from './tool.js';

export interface LoadLogger {
  debug(facts: object, message: string): void;
  warn(facts: object, message: string): void;
}

export const baseUrlsSchema = z
  .record(z.string(), z.url())
  .default({})
  .describe('Origin of a tool (its document) -> base URL, if the document has none or to replace it.');

export interface LoadOptions {
  /** Paths, URLs, prefixed forms (`openapi:FILE`) or parsed specs; their order is the order of the tools. */
  sources: readonly (string | SourceSpec)[];
  /** An invalid entry or a failing source makes the load fail. Default: false, they are left out and reported. */
  strict?: boolean | undefined;
  /** The result of an earlier load: unchanged tools stay the same objects. */
  previous?: LoadedCatalog | undefined;
  /**
   * A failing source, or a failing server of it, keeps the tools and rules it gave in `previous`; the failure is still
   * reported. Default: false, its tools are removed.
   */
  keepFailed?: boolean | undefined;
  /** Milliseconds for one URL, or for one MCP server from its start to its last page. Default: 30,000. */
  timeoutMs?: number | undefined;
  /** Looks up the variables that an MCP configuration names as `${NAME}`, for example in the environment. */
  variable?: ReadContext['variable'];
  /** Tokens for an MCP server that users authorize. Default: none, so its tools are not known. */
  tokensOf?: ReadContext['tokensOf'];
  /** Origin of an OpenAPI tool (its document) -> base URL, if the document has none or to replace it. Default: none. */
  baseUrls?: z.input<typeof baseUrlsSchema>;
  logger?: LoadLogger | undefined;
  signal?: AbortSignal | undefined;
}

export interface CatalogChanges {
  /** Names, in the order of the new catalogue; `removed` is in the order of the old one. */
  readonly added: readonly string[];
  readonly changed: readonly string[];
  readonly removed: readonly string[];
}

/** What a source, or one server of it, gave. */
interface Given {
  readonly spec: string;
  readonly parsed: ParsedReading;
}

export interface LoadedCatalog {
  /** With `previous` and no change at all: the same object as there. */
  readonly catalog: Catalog;
  readonly issues: readonly EntryIssue[];
  readonly failures: readonly SourceFailure[];
  /** The `failures` whose tools and rules from `previous` were kept; see `keepFailed`. */
  readonly kept: readonly SourceFailure[];
  /** Sources that could be read, in order: a description without keys, and how many tools and rules each contributes. */
  readonly sources: readonly { readonly spec: string; readonly tools: number; readonly rules: number }[];
  /** Compared with `previous`; without it every tool counts as added. */
  readonly changes: CatalogChanges;
  /** Read by a later load with `keepFailed`. */
  readonly given: readonly Given[];
}

/**
 * @throws WinnowError `source_failed` when no source could be read, or under `strict` when one could not;
 * `invalid_catalog` for clashing names, and under `strict` for invalid entries; `invalid_option` without a
 * source, for a time-out beyond the range of timers, and for a base URL that is none; `cancelled`
 * @example
 * const { catalog, issues } = await loadCatalog({ sources: ['openapi.yaml', 'mcp.json'] });
 */
export async function loadCatalog(options: LoadOptions): Promise<LoadedCatalog> {
  const { sources, previous, strict, signal, variable, tokensOf, logger } = options;
  if (!Array.isArray(sources) || sources.length === 0)
    throw new WinnowError('invalid_option', 'A catalogue needs at least one source, in the list `sources`.');
  const timeoutMs = parseOptions(timerMs.default(DEFAULT_SOURCE_TIMEOUT_MS), options.timeoutMs, 'timeoutMs');
  const baseUrls = parseOptions(baseUrlsSchema, options.baseUrls, 'baseUrls');
  const context = { timeoutMs, signal, variable, tokensOf };
  const outcomes = (await Promise.all(sources.map((source) => loadSource(source, context)))).flat();
  throwIfCancelled(signal);
  const last = options.keepFailed ? (previous?.given ?? []) : [];
  const given = outcomes.flatMap((outcome) => ('parsed' in outcome ? [outcome] : keptOf(outcome, last)));
  const failed = outcomes.filter((outcome) => 'failure' in outcome);
  const failures = failed.map(({ failure }) => failure);
  // Only a running server can be connected.
  if (given.length === 0 || strict) refuseFailures(failures.filter(({ isUnconnected }) => !isUnconnected));
  const merged = withoutTaken(given.map(({ parsed }) => parsed));
  const issues = [...given.flatMap(({ parsed }) => parsed.issues), ...merged.issues];
  if (strict) refuseWarnings(issues);
  const now = merged.placed.map(({ tool }) => withBaseUrl(tool, baseUrls));
  const { tools, changes } = keepUnchanged(now, previous?.catalog.tools ?? []);
  const rules = given.flatMap(({ parsed }) => parsed.rules);
  const name = [...new Set(given.map(({ spec, parsed }) => parsed.name ?? spec))].join(' + ');
  const fresh = createCatalog(tools, { name, rules, places: merged.placed.map(({ place }) => place) });
  for (const { level, entry, name: tool, message } of issues)
    logger?.[level === 'debug' ? 'debug' : 'warn']({ entry, tool }, message);
  for (const { source, error } of failures) logger?.warn({ source, code: error.code }, error.message);
  return {
    catalog: previous && isDeepStrictEqual(previous.catalog, fresh) ? previous.catalog : fresh,
    issues,
    failures,
    kept: failed.filter((outcome) => keptOf(outcome, last).length > 0).map(({ failure }) => failure),
    sources: countBySource(given),
    changes,
    given,
  };
}

interface Failed {
  readonly spec: string;
  readonly failure: SourceFailure;
}

async function loadSource(source: string | SourceSpec, context: ReadContext): Promise<(Given | Failed)[]> {
  const spec = describeSource(source);
  try {
    const detected = typeof source === 'string' ? await detectSource(source, context) : source;
    const read = await readSource(detected, context);
    return await Promise.all(
      read.map(async (one) =>
        'error' in one ? { spec, failure: one } : { spec, parsed: await runInSlices(parseInSteps(one)) },
      ),
    );
  } catch (error) {
    throwIfCancelled(context.signal);
    const problem = `failed (${reasonOf(error)}). Check that its content is of the documented form`;
    const failure = error instanceof WinnowError ? error : sourceFailed(spec, problem, error);
    return [{ spec, failure: { source: spec, error: failure } }];
  }
}

/** In the tool itself, so that approvals show where its calls go, and are bound to it. */
function withBaseUrl(tool: Tool, baseUrls: Readonly<Record<string, string>>): Tool {
  const { metadata, origin } = tool;
  if (!isObject(metadata.http) || !Object.hasOwn(baseUrls, origin)) return tool;
  return { ...tool, metadata: { ...metadata, http: { ...metadata.http, server: baseUrls[origin] } } };
}

/** All that a failed source gave before; if only one of its servers failed, what that server gave. */
function keptOf({ spec, failure }: Failed, last: readonly Given[]): Given[] {
  return last.filter((one) => one.spec === spec && [spec, one.parsed.origin].includes(failure.source));
}

function countBySource(given: readonly Given[]): LoadedCatalog['sources'] {
  return [...new Set(given.map(({ spec }) => spec))].map((spec) => {
    const own = given.filter((one) => one.spec === spec).map(({ parsed }) => parsed);
    return { spec, tools: own.flatMap(({ tools }) => tools).length, rules: own.flatMap(({ rules }) => rules).length };
  });
}

/**
 * Unchanged tools stay the same objects, so that caches keyed by them stay valid. `toolHash` covers what a model sees; risk,
 * keywords and other fields must be equal too, or a policy would use outdated facts.
 */
export function keepUnchanged(
  tools: readonly Tool[],
  previous: readonly Tool[],
): { tools: readonly Tool[]; changes: CatalogChanges } {
  const keyOf = ({ scope, name }: Tool) => JSON.stringify([scope, name]);
  const before = new Map(previous.map((tool) => [keyOf(tool), tool]));
  const added: string[] = [];
  const changed: string[] = [];
  const kept = tools.map((tool) => {
    const old = before.get(keyOf(tool));
    if (old && toolHash(old) === toolHash(tool) && isDeepStrictEqual(old, tool)) return old;
    (old ? changed : added).push(tool.name);
    return tool;
  });
  const now = new Set(tools.map(keyOf));
  const removed = previous.filter((tool) => !now.has(keyOf(tool))).map(({ name }) => name);
  return { tools: kept, changes: { added, changed, removed } };
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
