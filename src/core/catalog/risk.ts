/** How much a tool may do: read, propose a change, or run commands, write and spend. */
export const RISKS = ['low', 'medium', 'high'] as const;
export type Risk = (typeof RISKS)[number];
