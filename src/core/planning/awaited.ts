/** Arguments that wait for an earlier step: the request does not hold their values, a chosen tool finds them. */

export interface AwaitedArgument {
  readonly tool: string;
  readonly argument: string;
  /** Tools whose results hold the value. */
  readonly producers: readonly string[];
}

/** One line a tool, each with a line end. */
export function renderAwaited(awaited: readonly AwaitedArgument[]): string {
  const lines = awaited.map(({ tool, producers }) => `${tool} needs what ${producers.join(' or ')} finds.\n`);
  return [...new Set(lines)].join('');
}
