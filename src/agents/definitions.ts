/**
 * A source can change the definitions of its tools at any time. New or changed definitions of a source that the
 * operator does not trust stay out of the catalogue until somebody has reviewed the difference and accepted it.
 */

import { setImmediate } from 'node:timers/promises';
import { z } from 'zod';
import { type Catalog, createCatalog } from '../core/catalog/catalog.js';
import { createScan, type Flag, flagSchema } from '../core/catalog/scan.js';
import { isObject } from '../core/catalog/schema/json.js';
import { isVouchedFor } from '../core/catalog/sources/source.js';
import { type EntryIssue, type Tool, warning } from '../core/catalog/tool.js';
import { WinnowError } from '../core/errors.js';
import { oncePer } from '../core/kept.js';
import { canonicalHash } from './approvals/canonical-json.js';
import { differencesOf } from './argument-sources.js';
import { destinationOf } from './calls/definition.js';
import { createMergedDocuments } from './merged-documents.js';
import type { Documents } from './store/sql/keyed-records.js';
import type { DocumentRecord } from './store/store.js';

/** All that models and people see of a tool, and where its calls go. */
const definitionSchema = z.record(z.string(), z.unknown());
type Definition = z.infer<typeof definitionSchema>;

export const heldToolSchema = z.object({
  name: z.string(),
  id: z.string().describe('Id of exactly this definition, for its acceptance.'),
  origin: z.string(),
  is: z.enum(['new', 'changed']),
  differences: z
    .array(z.object({ field: z.string(), before: z.unknown().optional(), now: z.unknown().optional() }))
    .describe('Differences of its definition from the last accepted one.'),
  flags: z.array(flagSchema).describe('Suspicious parts of its texts. They block nothing.'),
});
export type HeldTool = z.infer<typeof heldToolSchema>;

interface DefinitionsParts {
  /** Called each time, so it may be reloaded. */
  base: () => Catalog;
  store: Documents;
  /** Whether tools of a source seen for the first time wait, too. Default: false, they are accepted with a notice. */
  reviewNew?: boolean | undefined;
  /** Called once for each tool that waits. Default: not reported. */
  onIssue?: ((issue: EntryIssue) => void) | undefined;
  /** Called with a source whose tools were accepted because it is seen for the first time. Default: not reported. */
  onFirst?: ((origin: string, tools: number) => void) | undefined;
  /** Default: the system clock. */
  clock?: (() => Date) | undefined;
}

interface Reviewed {
  readonly catalog: Catalog;
  readonly held: readonly { readonly tool: Tool; readonly shown: Omit<HeldTool, 'flags'> }[];
  readonly issues: readonly EntryIssue[];
}

export type Definitions = ReturnType<typeof createDefinitions>;

export function createDefinitions(parts: DefinitionsParts) {
  const { base, store, reviewNew = false, onIssue, onFirst, clock = () => new Date() } = parts;
  const merged = createMergedDocuments<Reviewed>({ base, list: listAccepted, merge: review, onIssue });

  function toDocument(tool: Tool): DocumentRecord {
    return { owner: sourceOf(tool), name: tool.name, content: definitionOf(tool), updatedAt: clock().toISOString() };
  }

  /** Accepts all tools of a source seen for the first time: one without any accepted definition. */
  async function listAccepted(before: readonly DocumentRecord[]): Promise<readonly DocumentRecord[]> {
    const accepted = await store.list(undefined, before);
    if (reviewNew) return accepted;
    const known = new Set(accepted.map(({ owner }) => owner));
    const first = base().tools.filter((tool) => !isVouchedFor(tool) && !known.has(sourceOf(tool)));
    for (const tool of first) await store.replace(toDocument(tool), undefined);
    for (const origin of new Set(first.map((tool) => tool.origin)))
      onFirst?.(origin, first.filter((tool) => tool.origin === origin).length);
    return first.length === 0 ? accepted : store.list(undefined, accepted);
  }

  return {
    /** Without the tools that wait, as of the last `refresh` or `accept`. */
    catalog: () => merged.current().catalog,

    /** The tools that wait, in the order of the catalogue, with the findings of a scan of their texts. */
    async held(): Promise<HeldTool[]> {
      const { held } = merged.current();
      const flags = await scanSlowly(
        held.map(({ tool }) => tool),
        base().tools,
      );
      return held.map(({ shown, tool }) => ({ ...shown, flags: [...(flags.get(tool) ?? [])] }));
    },

    /**
     * @param ids of the reviewed definitions; a changed definition has a new id. Default: all that wait, unseen
     * @returns the names of the accepted tools
     * @throws WinnowError `not_found` for an id that does not wait, `store_failed`
     */
    async accept(ids: readonly string[] | undefined, by?: string): Promise<string[]> {
      const waiting = new Map(merged.current().held.map(({ tool, shown }) => [shown.id, tool]));
      const asked = (ids ?? [...waiting.keys()]).map((id) => waiting.get(id) ?? nothingSeen(id));
      for (const tool of asked) {
        const document = toDocument(tool);
        const entry = { event: 'definition_accepted', outcome: 'allowed', user: by, tool: tool.name } as const;
        await store.put(document, { ...entry, at: document.updatedAt });
      }
      await merged.refresh();
      return asked.map(({ name }) => name);
    },

    /** Reads what other processes have accepted. @throws WinnowError `store_failed` */
    refresh: merged.refresh,
  };
}

/** Tools of untrusted sources that have flags. Yields to requests between tools. */
export async function scanReviewed({ tools }: Catalog): Promise<ReadonlyMap<Tool, readonly Flag[]>> {
  const flags = await scanSlowly(
    tools.filter((tool) => !isVouchedFor(tool)),
    tools,
  );
  return new Map([...flags].filter(([, own]) => own.length > 0));
}

async function scanSlowly(tools: readonly Tool[], among: readonly Tool[]): Promise<Map<Tool, readonly Flag[]>> {
  const scan = createScan(among);
  const flags = new Map<Tool, readonly Flag[]>();
  for (const tool of tools) {
    flags.set(tool, scan(tool));
    await setImmediate();
  }
  return flags;
}

/** Enough to prevent collisions: a reviewed definition must not share its digest with another. */
const ID_DIGITS = 32;

function nothingSeen(id: string): never {
  const next = 'Look at what waits, and give its id: winnow tools accept.';
  throw new WinnowError('not_found', `No definition "${id.slice(0, 120)}" waits for a look. ${next}`);
}

/** Computed once: neither a tool nor its accepted definition changes. */
const definitionHash = oncePer((tool: Tool) => canonicalHash(definitionOf(tool)));
const acceptedHash = oncePer(({ content }: DocumentRecord) => canonicalHash(Object(content)));

function review(catalog: Catalog, documents: readonly DocumentRecord[]): Reviewed {
  const accepted = new Map(documents.map((one) => [keyOf(one.owner, one.name), one]));
  const held = catalog.tools.flatMap((tool) => {
    if (isVouchedFor(tool)) return [];
    const before = accepted.get(keyOf(sourceOf(tool), tool.name));
    if (before && acceptedHash(before) === definitionHash(tool)) return [];
    const now = definitionOf(tool);
    const differences = differencesOf(before?.content, now)
      .map(({ argument: field, ...rest }) => ({ field, ...rest }))
      .sort((one, other) => (one.field < other.field ? -1 : 1));
    const { name, origin } = tool;
    const id = canonicalHash([sourceOf(tool), name, now]).slice(0, ID_DIGITS);
    return [{ tool, shown: { name, id, origin, is: before ? 'changed' : 'new', differences } as const }];
  });
  if (held.length === 0) return { catalog, held, issues: [] };
  const waiting = new Set(held.map(({ tool }) => tool));
  const { name, rules } = catalog;
  return {
    catalog: createCatalog(
      catalog.tools.filter((tool) => !waiting.has(tool)),
      { name, rules },
    ),
    held,
    issues: held.map(({ tool, shown }) => warning(tool.origin, renderHeld(shown), tool.name)),
  };
}

/** A server at another address or command is another source. */
function sourceOf({ origin, metadata: { mcp } }: Tool): string {
  return isObject(mcp) ? `${origin} ${mcp.target}` : origin;
}

function renderHeld({ is, differences }: Omit<HeldTool, 'flags'>): string {
  const fields = differences.map(({ field }) => field).join(', ');
  const what = is === 'new' ? 'is new' : `has changed (${fields})`;
  return `${what}, and waits until somebody has looked: winnow tools accept`;
}

function keyOf(origin: string, name: string): string {
  return JSON.stringify([origin, name]);
}

/** As JSON, where absent and undefined fields are the same. */
function definitionOf(tool: Tool): Definition {
  const { title, category, description, inputSchema, outputSchema, preconditions, instructions, risk, metadata } = tool;
  const { keywords, aliases, examples } = tool;
  const words = Object.entries({ keywords, aliases, examples }).filter(([, list]) => list.length > 0);
  const seen = { title, category, description, inputSchema, outputSchema, preconditions, instructions, risk };
  const runs = { annotations: metadata.annotations, http: metadata.http, runs: destinationOf(tool) };
  return definitionSchema.parse(JSON.parse(JSON.stringify({ ...seen, ...Object.fromEntries(words), ...runs })));
}
