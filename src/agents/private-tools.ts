/**
 * Tools that a user has added: kept in the store, and visible to that user alone, whatever their entry says. Their
 * names begin with `my__` and those of system tools never do. So none can replace a system tool, and no answer reveals
 * which names the system has. Messages to a user mention only that user's own tools.
 */
import { z } from 'zod';
import { type Catalog, createCatalog } from '../core/catalog/catalog.js';
import { keepUnchanged } from '../core/catalog/load.js';
import { OWN_PREFIX, parseReading } from '../core/catalog/sources/source.js';
import { type EntryIssue, type Tool, warning } from '../core/catalog/tool.js';
import { WinnowError } from '../core/errors.js';
import { oncePer } from '../core/kept.js';
import { createMergedDocuments } from './merged-documents.js';
import { parseQuotas } from './quotas.js';
import type { Documents } from './store/sql/keyed-records.js';
import type { DocumentRecord } from './store/store.js';

/** An entry as a user may write it; owner and origin are set by the server. */
export const privateEntrySchema = z
  .looseObject({ name: z.string().describe('`my__` is prefixed if missing.') })
  .describe('As an entry of a catalogue file: name, description, toolType, inputSchema, instructions and so on.');

/** For one user; a larger set belongs in a catalogue, which the operator adds. */
export const MAX_PRIVATE_TOOLS = 200;

export interface AddedTool {
  /** The tool as stored. */
  readonly tool: Tool;
  /** Parts of its entry without effect, such as misspelt keys. */
  readonly notes: readonly string[];
}

interface PrivateToolsParts {
  /** The catalogue without stored tools. Called each time, so it may be reloaded. */
  base: () => Catalog;
  store: Documents;
  /** Called once for each stored entry that is not usable. Default: not reported. */
  onIssue?: ((issue: EntryIssue) => void) | undefined;
  /** Total size of one user's tools, as JSON. Default: that of `quotasSchema`. */
  maxBytes?: number | undefined;
  /** Default: the system clock. */
  clock?: (() => Date) | undefined;
}

export interface PrivateTools {
  /** Includes all private tools as of the last `refresh`, `add` or `remove`. */
  catalog(): Catalog;
  /** Reads what other processes have added or removed. @throws WinnowError `store_failed` */
  refresh(): Promise<void>;
  /**
   * Replaces an entry of the same name.
   * @throws WinnowError `invalid_request` with one issue a line, `store_failed`
   */
  add(user: string, entry: unknown): Promise<AddedTool>;
  /** Sorted by name, including those that the catalogue itself holds for the user. */
  list(user: string): Tool[];
  /** @throws WinnowError `not_found`, also for one that the catalogue itself holds; `store_failed` */
  remove(user: string, name: string): Promise<void>;
}

/**
 * Tools of single users, kept in the store, beside those of a catalogue.
 * @example
 * const tools = createPrivateTools({ base: () => catalog, store: store.privateTools });
 * await tools.add('ann', { name: 'standup', toolType: 'skill', instructions: 'Two minutes each.' });
 */
export function createPrivateTools(parts: PrivateToolsParts): PrivateTools {
  const { base, store, onIssue, clock = () => new Date() } = parts;
  const { maxBytes = parseQuotas().privateToolBytes } = parts;
  const merged = createMergedDocuments({
    base,
    list: (before) => store.list(undefined, before),
    merge: mergeWithLast(),
    onIssue,
  });
  const ofCatalog = (user: string) => base().tools.filter((tool) => isOf(tool, user));

  return {
    catalog: () => merged.current().catalog,
    refresh: merged.refresh,

    async add(user, entry) {
      const { tool, notes } = parseAdded(user, entry);
      const name = keptName(tool.name);
      if (ofCatalog(user).some((one) => one.name === tool.name)) {
        throw unusable(`name: the catalogue itself holds a tool "${tool.name}" of yours; choose another name`);
      }
      const size = Buffer.byteLength(JSON.stringify(entry));
      const at = clock().toISOString();
      await store.put(
        { owner: user, name, content: entry, updatedAt: at },
        { event: 'private_tool_added', outcome: 'allowed', user, tool: tool.name, at },
        (own) => {
          const others = own.filter((one) => one.name !== name);
          if (others.length === own.length && own.length >= MAX_PRIVATE_TOOLS)
            throw unusable(`name: you have ${own.length} tools, and more are not kept; remove one first`);
          const bytes = others.reduce((sum, one) => sum + one.bytes, size);
          if (bytes > maxBytes)
            throw unusable(`your tools would have ${bytes} bytes together, and ${maxBytes} are kept at most`);
        },
      );
      await merged.refresh();
      return { tool, notes };
    },

    list: (user) =>
      merged
        .current()
        .catalog.tools.filter((tool) => isOf(tool, user))
        .sort((one, other) => (one.name < other.name ? -1 : 1)),

    async remove(user, name) {
      const entry = { event: 'private_tool_removed', outcome: 'allowed', user, tool: shownName(name) } as const;
      if (!(await store.remove(user, keptName(name), { ...entry, at: clock().toISOString() }))) {
        throw new WinnowError('not_found', `You have added no tool "${name.slice(0, 80)}".`);
      }
      await merged.refresh();
    },
  };
}

/** Unchanged tools stay the same objects. Without any change so does the catalogue, and the index stays valid. */
function mergeWithLast() {
  let last: { base: Catalog; tools: readonly Tool[]; catalog: Catalog } | undefined;
  return (base: Catalog, documents: readonly DocumentRecord[]) => {
    const parsed = documents.map(parseStored);
    const usable = parsed.flatMap((one) => (one.ok ? [one.tool] : []));
    const { tools } = keepUnchanged(usable, last?.tools ?? []);
    const { added, clashing } = besides(base, tools);
    const isSame =
      last?.base === base && last.tools.length === tools.length && last.tools.every((tool, at) => tool === tools[at]);
    last = { base, tools, catalog: last && isSame ? last.catalog : withAdded(base, added) };
    const issues = parsed.flatMap((one) => (one.ok ? [] : one.issues));
    return { catalog: last.catalog, issues: [...issues, ...clashing.map(toClash)] };
  };
}

/** The operator's catalogue takes precedence; two tools of one name would make it invalid. */
function besides({ tools: own }: Catalog, tools: readonly Tool[]) {
  const ofSystem = new Set(own.filter(({ scope }) => scope === 'system').map(({ name }) => name));
  const taken = new Set(own.map(keyOf));
  const isFree = (tool: Tool) => !ofSystem.has(tool.name) && !taken.has(keyOf(tool)) && taken.add(keyOf(tool));
  const added = tools.filter(isFree);
  return { added, clashing: tools.filter((tool) => !added.includes(tool)) };
}

/** Without added tools, the catalogue stays the same object, with all that is cached for it. */
function withAdded(catalog: Catalog, added: readonly Tool[]): Catalog {
  const { name, rules } = catalog;
  return added.length === 0 ? catalog : createCatalog([...catalog.tools, ...added], { name, rules });
}

function toClash({ name, origin }: Tool): EntryIssue {
  return { level: 'warning', entry: origin, name, message: 'left out: the catalogue holds a tool of this name' };
}

function keyOf({ scope, name }: Tool): string {
  return JSON.stringify([scope, name]);
}

function isOf({ scope }: Tool, user: string): boolean {
  return scope !== 'system' && scope.user === user;
}

/** Issues of a usable tool name its parts without effect. */
type ParsedEntry = { issues: readonly EntryIssue[] } & ({ ok: true; tool: Tool } | { ok: false });

const parseStored = oncePer(({ owner, content }: DocumentRecord) => parsePrivateTool(owner, content));

/** Uses the reader of catalogue files, so the same checks apply. */
function parsePrivateTool(user: string, entry: unknown): ParsedEntry {
  const origin = `user:${user}`;
  const asOwn = (converted: unknown) => {
    const { name } = Object(converted);
    const named = typeof name === 'string' && name !== '' ? { name: shownName(name) } : {};
    return { ...Object(converted), ...named, scope: { user }, origin, alwaysLoad: false };
  };
  const { tools, issues } = parseReading({ origin, entries: [entry] }, asOwn);
  const [placed] = tools;
  const warnings = issues.filter(isWarning);
  if (!placed) return { ok: false, issues: warnings };
  const { tool } = placed;
  const refuse = (...messages: string[]): ParsedEntry => ({
    ok: false,
    issues: messages.map((message) => warning(origin, message, tool.name)),
  });
  // Whatever forms there will be: nobody adds a tool of others.
  if (!isOf(tool, user) || !tool.name.startsWith(OWN_PREFIX)) return refuse('scope: it is not a tool of your own');
  const running = RUNNING.filter((key) => tool.metadata[key] !== undefined);
  if (running.length > 0) return refuse(...running.map((key) => `metadata.${key}: ${RUNS_NOTHING}`));
  return { ok: true, tool, issues: warnings };
}

/** Metadata by which the system finds what runs a system tool. */
const RUNNING = ['http', 'mcp'];
const RUNS_NOTHING = 'a tool of your own calls no server; leave it out, and write what is to be done in "instructions"';

function shownName(name: string): string {
  return name.startsWith(OWN_PREFIX) ? name : `${OWN_PREFIX}${name}`;
}

/** The name in the store, so that a tool added before names had a prefix is found by either name. */
function keptName(name: string): string {
  return name.startsWith(OWN_PREFIX) ? name.slice(OWN_PREFIX.length) : name;
}

function isWarning({ level }: EntryIssue): boolean {
  return level === 'warning';
}

function parseAdded(user: string, entry: unknown): AddedTool {
  const parsed = parsePrivateTool(user, entry);
  const notes = parsed.issues.map(({ message }) => message);
  if (!parsed.ok) throw unusable(...notes);
  return { tool: parsed.tool, notes };
}

function unusable(...issues: string[]): WinnowError {
  return new WinnowError('invalid_request', `The tool is not usable: ${issues.join('; ')}.`, { issues });
}
