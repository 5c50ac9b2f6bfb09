/** Tools that one user has added: kept in the store, and always theirs alone, whatever their entry says. */
import { type Catalog, createCatalog } from '../catalog/catalog.js';
import { type EntryIssue, parseTool, type Tool } from '../catalog/tool.js';
import { WinnowError } from '../errors.js';
import type { Documents } from '../store/store.js';

/** @returns the tool as it is kept. @throws WinnowError `invalid_request` with one issue a line */
export async function addPrivateTool(
  store: Documents,
  user: string,
  { entry, at = new Date() }: { entry: unknown; at?: Date },
): Promise<Tool> {
  const parsed = parsePrivateTool(user, entry);
  if (!parsed.ok) {
    const issues = parsed.issues.map(({ message }) => message);
    throw new WinnowError('invalid_request', `The tool is not usable: ${issues.join('; ')}.`, { issues });
  }
  const { name } = parsed.tool;
  await store.put({ owner: user, name, content: entry, updatedAt: at.toISOString() });
  return parsed.tool;
}

/** The catalogue with the private tools of all users; entries that are no longer readable are reported. */
export async function withPrivateTools(
  catalog: Catalog,
  store: Documents,
): Promise<{ catalog: Catalog; issues: EntryIssue[] }> {
  const parsed = (await store.list()).map(({ owner, content }) => parsePrivateTool(owner, content));
  const tools = parsed.flatMap((one) => (one.ok ? [one.tool] : []));
  const issues = parsed.flatMap((one) => (one.ok ? [] : one.issues));
  const { name, rules } = catalog;
  return { catalog: createCatalog([...catalog.tools, ...tools], { name, rules }), issues };
}

function parsePrivateTool(user: string, entry: unknown) {
  const own = { ...Object(entry), scope: { user }, origin: `user:${user}`, alwaysLoad: false };
  return parseTool(own, { origin: `user:${user}`, index: 0 });
}
