/** How much a tool may do: read, propose a change, or run commands, write and spend. Loads no library, for flags. */
export const RISKS = ['low', 'medium', 'high'] as const;
export type Risk = (typeof RISKS)[number];

/** By the hints of the Model Context Protocol; `medium` where they say nothing. */
export function riskOf({ readOnlyHint, destructiveHint }: { readOnlyHint?: unknown; destructiveHint?: unknown }): Risk {
  if (readOnlyHint === true) return 'low';
  return destructiveHint === true ? 'high' : 'medium';
}
