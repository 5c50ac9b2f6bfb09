/** The flags of a command as they are typed, for the commands that it tells people to give next. */
import type { RunFlags } from './run-flags.js';

const NAMES = {
  config: '--config',
  store: '--store',
  policy: '--policy',
  catalog: '--catalog',
  toolsModule: '--tools-module',
  workerModule: '--worker-module',
  user: '--user',
  role: '--role',
} as const satisfies Partial<Record<keyof RunFlags, string>>;

export type KnownFlag = keyof typeof NAMES;

/** With a blank in front, quoted for a shell; a URL with a password in it is left out. Empty where none was given. */
export function flagsAgain(flags: Pick<RunFlags, KnownFlag>, wanted: readonly KnownFlag[]): string {
  return wanted
    .flatMap((key) => [flags[key] ?? []].flat().map((value) => [NAMES[key], value] as const))
    .filter(([, value]) => !holdsPassword(value))
    .map(([name, value]) => ` ${name} ${quoted(value)}`)
    .join('');
}

function holdsPassword(value: string): boolean {
  return URL.canParse(value) && new URL(value).password !== '';
}

function quoted(value: string): string {
  return /^[\w@%+=:,./-]+$/u.test(value) ? value : `'${value.replaceAll("'", String.raw`'\''`)}'`;
}
