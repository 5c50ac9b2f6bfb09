/**
 * What the model reads as a tool's name. The name of the server in front of all its tools (`github__`, `spotify_`)
 * says nothing that the group does not say and costs the model's first, blindest choice: it is left out where the
 * rest stays unique. Outside the model only full names exist.
 */
import type { Tool } from '../catalog/tool.js';

export interface Labels {
  labelOf(tool: Tool): string;
  toolOf(label: string): Tool | undefined;
  /** The name that stands for "no tool fits"; never a tool's. */
  readonly none: string;
}

export function createLabels(tools: readonly Tool[]): Labels {
  const short = new Map(tools.map((tool) => [tool, withoutOrigin(tool)]));
  const counts = new Map<string, number>();
  for (const label of [...short.values(), ...tools.map((tool) => tool.name)])
    counts.set(label, (counts.get(label) ?? 0) + 1);
  const labels = new Map<Tool, string>();
  for (const [tool, label] of short)
    labels.set(tool, label !== tool.name && counts.get(label) === 1 ? label : tool.name);
  const byLabel = new Map([...labels].map(([tool, label]) => [label, tool]));
  const byName = new Map(tools.map((tool) => [tool.name, tool]));
  let none = 'none';
  while (byLabel.has(none) || byName.has(none)) none = `${none}_of_these`;
  return {
    none,
    labelOf: (tool) => labels.get(tool) ?? tool.name,
    toolOf: (label) => byLabel.get(label) ?? byName.get(label),
  };
}

function withoutOrigin({ name, origin }: Tool): string {
  if (origin === '' || !name.toLowerCase().startsWith(origin.toLowerCase())) return name;
  const rest = /^[_\-./:]+(.{2,})$/u.exec(name.slice(origin.length));
  return rest?.[1] ?? name;
}
