/** Reads what was thrown by its form and not its class: errors of Node may come from another realm. */

/** The code of a system or network error, for example `ENOENT`. */
export function codeOf(error: unknown): string | undefined {
  const code = fieldOf(error, 'code');
  return typeof code === 'string' ? code : undefined;
}

export function fieldOf(error: unknown, key: string): unknown {
  return typeof error === 'object' && error !== null ? Reflect.get(error, key) : undefined;
}
