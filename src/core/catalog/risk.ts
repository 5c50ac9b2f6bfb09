/** How much a tool may do: read, propose a change, or run commands, write and spend. Loads no library, for flags. */
export const RISKS = ['low', 'medium', 'high'] as const;
export type Risk = (typeof RISKS)[number];

export function isAbove(risk: Risk, other: Risk): boolean {
  return RISKS.indexOf(risk) > RISKS.indexOf(other);
}

/** Risk by the hints of the Model Context Protocol, with its defaults for missing ones; high where they contradict. */
export function riskOf(hints: { readOnlyHint?: unknown; destructiveHint?: unknown }): Risk {
  const { readOnlyHint = false, destructiveHint = readOnlyHint !== true } = hints;
  if (destructiveHint !== false) return 'high';
  return readOnlyHint === true ? 'low' : 'medium';
}

/** Hints as warnings; the opposite value of each claims that a tool does less. */
const WARNINGS = new Map([
  ['readOnlyHint', false],
  ['destructiveHint', true],
  ['idempotentHint', false],
  ['openWorldHint', true],
]);

/** Annotations of an untrusted source, without the hints that would make a client ask less often. */
export function withoutLoweringHints(annotations: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const kept = Object.entries(annotations).filter(([key, value]) => !WARNINGS.has(key) || WARNINGS.get(key) === value);
  return Object.fromEntries(kept);
}
