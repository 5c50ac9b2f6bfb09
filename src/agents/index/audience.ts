/**
 * Which tools of an index a caller sees, kept for the next search of the same audience: one bit a tool instead of an
 * index a caller.
 */
import type { Tool } from '../../core/catalog/tool.js';
import { keepLatest } from '../../core/kept.js';
import type { Segment } from '../../core/search/keyword-index.js';
import type { Layer } from '../../core/search/rank.js';
import type { Generation } from './generation.js';

export interface Audience {
  /** Whose private tools are visible besides those of the system. Default: nobody's. */
  readonly user?: string | undefined;
  /** Whether a tool in the caller's scope may be shown, for example what policy says. Default: all may. */
  readonly allows?: ((tool: Tool) => boolean) | undefined;
  /** Equal keys promise equal answers of `allows`. Without it, `allows` is asked for every tool at every search. */
  readonly key?: string | undefined;
}

/** Both layers where the user has tools of their own; the system's is always the last. */
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
