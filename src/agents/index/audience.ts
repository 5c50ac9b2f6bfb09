/**
 * Caches which tools of an index an audience sees: one bit per tool, rather than one index per caller.
 */
import type { Tool } from '../../core/catalog/tool.js';
import { keepLatest } from '../../core/kept.js';
import type { Segment } from '../../core/search/keyword-index.js';
import type { Layer } from '../../core/search/layers.js';
import type { Generation } from './generation.js';

export interface Audience {
  /** The user whose private tools are visible besides system tools. Default: none. */
  readonly user?: string | undefined;
  /** Whether a tool in the caller's scope may be shown, for example by the policy. Default: all may. */
  readonly allows?: ((tool: Tool) => boolean) | undefined;
  /** Equal keys promise equal results of `allows`. Without it, each search calls `allows` for every tool. */
  readonly key?: string | undefined;
}

/** Two layers where the user has tools of their own; the system's is always last. */
export interface VisibleLayers {
  readonly system: Layer;
  readonly own: Layer | undefined;
}

const MAX_KEPT = 512;

/** @param isCurrent whether a tool of the index is still in the catalogue. */
export function createAudiences(generation: Generation, isCurrent: (tool: Tool) => boolean) {
  const kept = new Map<string, VisibleLayers>();
  return (audience: Audience): VisibleLayers => {
    const { user, key, allows } = audience;
    const own = user === undefined ? undefined : generation.own.get(user);
    const name = key === undefined && allows ? undefined : JSON.stringify([key, own ? user : null]);
    const known = name === undefined ? undefined : kept.get(name);
    if (known) return known;
    const ownNames = new Set(own?.tools.map((tool) => tool.name));
    const may = (tool: Tool) => isCurrent(tool) && (allows?.(tool) ?? true);
    const layers = {
      system: toLayer(generation.system, (tool) => !ownNames.has(tool.name) && may(tool)),
      own: own && toLayer(own, may),
    };
    if (name !== undefined) keepLatest(kept, [name, layers], MAX_KEPT);
    return layers;
  };
}

function toLayer(segment: Segment, isVisible: (tool: Tool) => boolean): Layer {
  const visible = Uint8Array.from(segment.tools, (tool) => (isVisible(tool) ? 1 : 0));
  return visible.every((one) => one === 1) ? { segment } : { segment, visible };
}
