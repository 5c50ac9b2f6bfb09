/** Arguments that wait for an earlier step: the request does not hold their values, a chosen tool finds them. */

export interface AwaitedArgument {
  readonly tool: string;
  readonly argument: string;
  /** Tools whose results hold the value. */
  readonly producers: readonly string[];
}

/** One line a tool and its producers, each with a line end. */
export function renderAwaited(awaited: readonly AwaitedArgument[]): string {
  const lines = new Map<string, string[]>();
  for (const { tool, argument, producers } of awaited) {
    const line = `${tool} comes after ${producers.join(' or ')}, which finds its`;
    lines.set(line, [...(lines.get(line) ?? []), argument]);
  }
  return [...lines].map(([line, names]) => `${line} ${names.join(', ')}.\n`).join('');
}
