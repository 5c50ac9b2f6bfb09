/**
 * Decides which part of a catalogue a caller sees. All later steps work on a view, so they can neither leak another
 * user's tool, nor offer one that allow and deny lists, origin or availability exclude.
 */
import { keepLatest } from '../kept.js';
import { type Catalog, fingerprintOf } from './catalog.js';
import type { Tool } from './tool.js';

export interface ScopeRequest {
  /** The view holds the system tools and those private to this user. Without it: system tools only. */
  user?: string | undefined;
  allow?: readonly string[] | undefined;
  deny?: readonly string[] | undefined;
  origin?: readonly string[] | undefined;
}

export interface View {
  /** In the catalogue's order; a user's own tool keeps its own place, not that of the tool it replaces. */
  readonly tools: readonly Tool[];
  readonly byName: ReadonlyMap<string, Tool>;
  readonly fingerprint: string;
}

/** Excludes more tools than the lists do, for example by a policy. Must give one caller the same answer each time. */
export type ToolFilter = (tool: Tool, request: ScopeRequest) => boolean;

const MAX_CACHED_VIEWS = 64;

/** The views of one catalogue; equal requests get the same object, so prompts made from it can be cached. */
export function createScope(catalog: Catalog, filter?: ToolFilter): (request: ScopeRequest) => View {
  const owners = new Set(catalog.tools.flatMap((tool) => (tool.scope === 'system' ? [] : [tool.scope.user])));
  const byKey = new Map<string, View>();
  const byFingerprint = new Map<string, View>();
  return (request) => {
    const key = filter ? undefined : viewKey(request, owners);
    const known = key === undefined ? undefined : byKey.get(key);
    if (known) return known;
    const tools = visibleTools(catalog, request).filter((tool) => filter?.(tool, request) ?? true);
    const fingerprint = fingerprintOf(tools);
    const view = byFingerprint.get(fingerprint) ?? {
      tools,
      byName: new Map(tools.map((tool) => [tool.name, tool])),
      fingerprint,
    };
    keepLatest(byFingerprint, [fingerprint, view], MAX_CACHED_VIEWS);
    if (key !== undefined) keepLatest(byKey, [key, view], MAX_CACHED_VIEWS);
    return view;
  };
}

function visibleTools(catalog: Catalog, request: ScopeRequest): Tool[] {
  const allow = request.allow && new Set(request.allow);
  const deny = new Set(request.deny ?? []);
  const origin = request.origin && new Set(request.origin);
  const isOwn = (tool: Tool) => tool.scope !== 'system' && tool.scope.user === request.user;
  const ownNames = new Set(catalog.tools.filter(isOwn).map((tool) => tool.name));
  return catalog.tools.filter(
    (tool) =>
      (isOwn(tool) || (tool.scope === 'system' && !ownNames.has(tool.name))) &&
      tool.available &&
      !deny.has(tool.name) &&
      (allow?.has(tool.name) ?? true) &&
      (origin?.has(tool.origin) ?? true),
  );
}

function viewKey(request: ScopeRequest, owners: ReadonlySet<string>): string {
  const user = request.user !== undefined && owners.has(request.user) ? request.user : null;
  const lists = [request.allow, request.deny, request.origin].map((list) => (list ? [...list].sort() : null));
  return JSON.stringify([user, ...lists]);
}
