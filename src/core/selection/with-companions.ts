/** What belongs together stays together: the tools that a tool names as related. */
import type { View } from '../catalog/scope.js';
import { type Entry, PRIORITY } from './entry.js';

/** `relatedTools` of all that is there, to a fixpoint, each behind the tool that brought it. */
export function withCompanions(entries: readonly Entry[], view: View): Entry[] {
  const result = [...entries];
  const present = new Set(result.map((entry) => entry.tool.name));
  for (let place = 0; place < result.length; place++) {
    const owner = result[place];
    const news = (owner?.tool.relatedTools ?? [])
      .filter((name) => !present.has(name))
      .flatMap((name) => view.byName.get(name) ?? []);
    for (const tool of news) present.add(tool.name);
    const added = news.map(
      (tool): Entry => ({
        tool,
        priority: PRIORITY.companion,
        selected: { name: tool.name, via: 'companion', serves: owner?.tool.name ?? '' },
      }),
    );
    result.splice(place + 1, 0, ...added);
  }
  return result;
}
