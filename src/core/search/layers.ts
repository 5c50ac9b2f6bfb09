/** The tools that one caller may search: those of the system and their own, as one space. */
import type { Tool } from '../catalog/tool.js';
import type { Found, Segment, Share } from './keyword-index.js';

/** A segment for one caller. `visible` is 1 for each tool that the caller may see. Default: all. */
export interface Layer {
  readonly segment: Segment;
  readonly visible?: Uint8Array | undefined;
}

export type Space = ReturnType<typeof joinLayers>;

/** The visible tools of all layers under consecutive numbers. */
export function joinLayers(layers: readonly Layer[]) {
  let tools: readonly Tool[] = [];
  const numbered = layers.map(({ segment, visible }) => {
    const start = tools.length;
    tools = start === 0 ? segment.tools : [...tools, ...segment.tools];
    return { segment, visible, start };
  });
  const find = (term: string): Found => {
    const [first] = numbered;
    if (first && numbered.length === 1 && !first.visible) return first.segment.find(term);
    const found = new Map<number, Share>();
    for (const { segment, visible, start } of numbered)
      for (const [place, share] of segment.find(term)) if (visible?.[place] !== 0) found.set(start + place, share);
    return found;
  };
  const isSeen = (_: Tool, place: number) => {
    const { visible, start } = numbered.findLast((one) => one.start <= place) ?? {};
    return visible?.[place - (start ?? 0)] !== 0;
  };
  return {
    find,
    size: layers.every(({ visible }) => !visible) ? tools.length : tools.filter(isSeen).length,
    near(term: string): string[] {
      const edits = new Map(layers.flatMap(({ segment }) => [...segment.near(term)]));
      return [...edits.keys()].sort((one, other) => (edits.get(one) ?? 0) - (edits.get(other) ?? 0));
    },
    layerOf: (place: number) => numbered.findLastIndex(({ start }) => start <= place),
    toolAt: (place: number) => tools[place] as Tool,
    places: (worthOf: (tool: Tool) => number): Found =>
      new Map(
        tools.flatMap((tool, place): [number, Share][] => {
          const value = worthOf(tool);
          return value > 0 && isSeen(tool, place) ? [[place, { value, prose: 0 }]] : [];
        }),
      ),
  };
}
