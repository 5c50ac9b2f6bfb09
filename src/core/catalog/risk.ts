/** How much a tool may do: read, propose a change, or run commands, write and spend. Loads no library, for flags. */
export const RISKS = ['low', 'medium', 'high'] as const;
export type Risk = (typeof RISKS)[number];

/** By the hints of the Model Context Protocol, with its defaults for those that are missing; high where they contradict. */
export function riskOf(hints: { readOnlyHint?: unknown; destructiveHint?: unknown }): Risk {
  const { readOnlyHint = false, destructiveHint = readOnlyHint !== true } = hints;
  if (destructiveHint !== false) return 'high';
  return readOnlyHint === true ? 'low' : 'medium';
}
