/** How much a tool may do: read, propose a change, or run commands, write and spend. Loads no library, for flags. */
export const RISKS = ['low', 'medium', 'high'] as const;
export type Risk = (typeof RISKS)[number];

/** By the hints of the Model Context Protocol, with its defaults for those that are missing; high where they contradict. */
export function riskOf(hints: { readOnlyHint?: unknown; destructiveHint?: unknown }): Risk {
  const { readOnlyHint = false, destructiveHint = readOnlyHint !== true } = hints;
  if (destructiveHint !== false) return 'high';
  return readOnlyHint === true ? 'low' : 'medium';
}

/** As warnings; the other value of each says that a tool does less. */
const WARNINGS = new Map([
  ['readOnlyHint', false],
  ['destructiveHint', true],
  ['idempotentHint', false],
  ['openWorldHint', true],
]);

/** Annotations of a source that nobody vouches for, without the hints that would have a client ask less. */
export function withoutLoweringHints(annotations: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const kept = Object.entries(annotations).filter(([key, value]) => !WARNINGS.has(key) || WARNINGS.get(key) === value);
  return Object.fromEntries(kept);
}
