/** When selection fails, the full visible set goes on; where it does not fit, the best keyword matches up to the budget. */
import type { View } from '../catalog/scope.js';
import type { Tool } from '../catalog/tool.js';
import { keywordIndexOf } from '../search/keyword-index.js';
import { totalTokens } from './budget.js';

export interface FallbackBudget {
  /** For all schemas together. */
  schemaTokens: number;
  /** Most tools that the server takes in one request. */
  tools: number;
}

/** @param first names that stay before all others: what rules demand, required and always-on tools. */
export function fallbackTools(
  view: View,
  query: string,
  {
    budget,
    schemaTokens,
    first = new Set(),
  }: { budget: FallbackBudget; schemaTokens: (tool: Tool) => number; first?: ReadonlySet<string> },
): { tools: Tool[]; leftOut: number } {
  const total = totalTokens(view.tools, schemaTokens);
  if (total <= budget.schemaTokens && view.tools.length <= budget.tools) return { tools: [...view.tools], leftOut: 0 };
  const matches = keywordIndexOf(view)
    .search(query, view.tools.length)
    .map((match) => match.tool);
  const matched = new Set(matches);
  const rest = [...matches, ...view.tools.filter((tool) => !matched.has(tool))];
  const ordered = [...rest.filter((tool) => first.has(tool.name)), ...rest.filter((tool) => !first.has(tool.name))];
  const tools: Tool[] = [];
  let tokens = 0;
  for (const tool of ordered) {
    if (tools.length >= budget.tools) break;
    const cost = schemaTokens(tool);
    if (tokens + cost > budget.schemaTokens) continue;
    tools.push(tool);
    tokens += cost;
  }
  return { tools, leftOut: view.tools.length - tools.length };
}
