/**
 * All that changes what comes out of a run: kept in its folder, and compared when it goes on. How many cases run at once,
 * what may be spent, and whether answers are remembered, does not.
 */
import { WinnowError } from '../core/errors.js';
import { dayIn } from '../core/planning/times.js';
import type { CaseSource } from './case-source.js';
import type { Suite } from './suite.js';

export type Settings = Readonly<Record<string, unknown>>;

/** Day of the cases that name none: the one that is given, else that of the run which goes on, else today where this machine is. */
export function dayOf(given: string | undefined, earlier: Settings | undefined): string {
  return given ?? (typeof earlier?.today === 'string' ? earlier.today : dayIn(undefined));
}

/** What is in the sets: each by its name, as hashes. */
export function hashesOfSets(suites: readonly Suite[], { hashes }: Pick<CaseSource, 'hashes'>): Settings {
  const sets = suites.map(({ name, catalog }) => [
    name,
    { catalog: catalog.fingerprint.slice(0, 16), cases: hashes[name]?.slice(0, 16) },
  ]);
  return Object.fromEntries(sets);
}

/** As they are read again. */
export function toSettings(values: Settings): Settings {
  return JSON.parse(JSON.stringify(values));
}

/** @throws WinnowError `invalid_option` naming each setting in which a run that goes on differs */
export function refuseOtherSettings(run: 'run' | 'tuning', there: Settings, here: Settings): void {
  const issues = differencesOf(there, here);
  if (issues.length === 0) return;
  const message = `The ${run} can't go on with other settings: ${issues.join('; ')}. Give the same flags, or another --out.`;
  throw new WinnowError('invalid_option', message, { issues });
}

/** Paths at which two settings differ, each with both values, for example `options.maxTools: 8 there, 5 here`. */
export function differencesOf(there: unknown, here: unknown, path = ''): string[] {
  if (JSON.stringify(there) === JSON.stringify(here)) return [];
  if (!isNested(there) || !isNested(here)) return [`${path || 'settings'}: ${show(there)} there, ${show(here)} here`];
  const keys = new Set([...Object.keys(there), ...Object.keys(here)]);
  return [...keys].flatMap((key) => differencesOf(there[key], here[key], path === '' ? key : `${path}.${key}`));
}

/** Lists, too: a place in one is told as a key is. */
function isNested(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}

function show(value: unknown): string {
  return (JSON.stringify(value) ?? 'nothing').slice(0, 80);
}
