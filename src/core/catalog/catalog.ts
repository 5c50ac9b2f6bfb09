/**
 * An immutable set of tools. System tools have unique names, and so do the private tools of one user. A private tool of the
 * operator's own catalogue may share a system tool's name and replaces it for its user; one that a user has added may not.
 */
import { createHash } from 'node:crypto';
import { WinnowError } from '../errors.js';
import { oncePer } from '../kept.js';
import type { Rule } from './rule.js';
import type { Tool } from './tool.js';

export interface Catalog {
  readonly name: string;
  readonly tools: readonly Tool[];
  readonly rules: readonly Rule[];
  /** SHA-256 over names, descriptions, schemas and scopes of all tools, in hexadecimal. */
  readonly fingerprint: string;
}

export interface CatalogOptions {
  name?: string;
  rules?: readonly Rule[];
  /** Where each tool was declared, for messages. Default: its origin. */
  places?: readonly string[];
}

/**
 * Makes a catalogue of tools that already exist in code. Use `loadCatalog` for files, URLs and servers.
 * @throws WinnowError `invalid_catalog` when two system tools, or two tools of one user, have the same name (the message
 * names both places), and for a raw entry that `parseTool` has not parsed
 * @example
 * const catalog = createCatalog(toolsFromLangChain(tools));
 */
export function createCatalog(tools: readonly Tool[], options: CatalogOptions = {}): Catalog {
  const seen = new Map<string, string>();
  const clashes: string[] = [];
  for (const [index, tool] of tools.entries()) {
    refuseEntry(tool, index);
    const key = `${scopeKey(tool)}\n${tool.name}`;
    const place = options.places?.[index] ?? tool.origin;
    const other = seen.get(key);
    if (other !== undefined) clashes.push(`two tools are named "${tool.name}": ${other} and ${place}`);
    else seen.set(key, place);
  }
  if (clashes.length > 0) {
    throw new WinnowError('invalid_catalog', `Tool names clash: ${clashes[0]}. Rename one, or leave one source out.`, {
      issues: clashes,
    });
  }
  return Object.freeze({
    name: options.name ?? 'catalog',
    tools: Object.freeze(tools.map((tool) => Object.freeze(tool))),
    rules: Object.freeze([...(options.rules ?? [])]),
    fingerprint: fingerprintOf(tools),
  });
}

/** Depends on the order: the same tools in another order make another prompt. */
export function fingerprintOf(tools: readonly Tool[]): string {
  const hash = createHash('sha256');
  for (const tool of tools) hash.update(toolHash(tool));
  return hash.digest('hex');
}

/** Hash of what a model can see of a tool, and of its scope. */
export const toolHash = oncePer((tool: Tool): string => {
  const { name, category, description, inputSchema, outputSchema, instructions, preconditions } = tool;
  const seen = [scopeKey(tool), name, category, description, inputSchema, outputSchema, instructions, preconditions];
  return createHash('sha256').update(JSON.stringify(seen)).digest('hex');
});

/**
 * Identifies the tool that an approval or a recorded call is valid for: what a model sees of it, and where and how its calls
 * run. A tool of the same name with another origin or target has another hash. 32 hexadecimal digits.
 */
export const bindingHash = oncePer((tool: Tool): string => {
  const { origin, toolType, risk, metadata } = tool;
  const bound = [toolHash(tool), origin, toolType, risk, metadata.http, metadata.mcp];
  return createHash('sha256').update(JSON.stringify(bound)).digest('hex').slice(0, 32);
});

const LISTS = ['keywords', 'aliases', 'examples', 'relatedTools', 'preconditions'] as const;

/** Types refuse raw entries, but JavaScript callers can pass them: only `parseTool` fills in what an entry may leave out. */
function refuseEntry(entry: Partial<Tool> | undefined, index: number): void {
  const isTool = entry?.scope && entry.metadata && entry.inputSchema && LISTS.every((key) => Array.isArray(entry[key]));
  if (isTool) return;
  const where = `tools[${index}]${entry?.name ? ` ("${entry.name}")` : ''}`;
  const advice = "loadCatalog({ sources: [{ kind: 'tools', name, tools }] }) checks entries and makes tools of them";
  throw new WinnowError('invalid_catalog', `${where} is an entry and no tool: ${advice}.`);
}

function scopeKey(tool: Tool): string {
  return tool.scope === 'system' ? 'system' : `user:${tool.scope.user}`;
}
