/**
 * Where each argument of a call comes from: for whoever approves it, and for the audit. It is information from the plan
 * and binds nothing; a call that comes without a plan has none.
 */
import { isObject, sameJson } from '../core/catalog/schema/json.js';
import { type Root, referencesIn } from '../core/planning/references.js';
import type { ArgumentSource, ArgumentSources, SourceName, Step } from '../core/result.js';

/** Nobody gave such a value in so many words. */
const MARKED: ReadonlySet<SourceName> = new Set(['composed', 'unknown']);
export const isMarked = ({ source }: ArgumentSource): boolean => MARKED.has(source);

/**
 * Of a step as it is planned. An argument that `from` does not name, or whose reference was put in or taken out since,
 * is the person's own. Undefined: the plan does not say where its arguments come from.
 *
 * @param roots what references of the step may begin with besides a step; default: none
 */
export function sourcesOf(
  { arguments: values, from }: Pick<Step, 'arguments' | 'from'>,
  roots: readonly Root[] = [],
): ArgumentSources | undefined {
  if (!from) return undefined;
  const told = new Map(Object.entries(from));
  const sources = Object.entries(values).map(([name, value]): [string, ArgumentSource] => {
    const references = referencesIn(value, roots).map(({ text }) => text);
    const source = told.get(name);
    // The parts of a list or an object may have several sources, of which the plan tells the least sure one.
    const isPart = typeof value !== 'string' && source !== 'step';
    const isKept = source !== undefined && (isPart || (source === 'step') === references.length > 0);
    return [name, { source: isKept ? source : 'person', ...(references.length > 0 ? { references } : {}) }];
  });
  return Object.fromEntries(sources);
}

/** The same for the arguments that a tool gets: what was filled in is the default of its schema. */
export function sourcesFor(
  given: Readonly<Record<string, unknown>>,
  sources: ArgumentSources | undefined,
): ArgumentSources | undefined {
  if (!sources) return undefined;
  const told = new Map(Object.entries(sources));
  return Object.fromEntries(Object.keys(given).map((name) => [name, told.get(name) ?? { source: 'default' }]));
}

/** @param changed names of arguments that a person has changed since: they are that person's own */
export function sourcesAfterEdit(
  given: Readonly<Record<string, unknown>>,
  { sources, changed }: { sources?: ArgumentSources | undefined; changed: readonly string[] },
): ArgumentSources | undefined {
  const own = Object.fromEntries(changed.map((name) => [name, { source: 'person' as const }]));
  return sourcesFor(given, sources && { ...sources, ...own });
}

export interface ArgumentDifference {
  readonly argument: string;
  readonly before: unknown;
  readonly now: unknown;
}

/** By name; undefined where one of the two has none of the name. */
export function differencesOf(before: unknown, after: unknown): ArgumentDifference[] {
  const own = (all: unknown, name: string): unknown =>
    isObject(all) && Object.hasOwn(all, name) ? all[name] : undefined;
  const names = new Set([...Object.keys(Object(before)), ...Object.keys(Object(after))]);
  return [...names]
    .map((argument) => ({ argument, before: own(before, argument), now: own(after, argument) }))
    .filter(({ before: one, now }) => !sameJson(one, now));
}

/** `request`, `step ${s1.code}`, `! unknown` */
export function renderSource(argument: ArgumentSource): string {
  const words = [...(isMarked(argument) ? ['!'] : []), argument.source, ...(argument.references ?? [])];
  return words.join(' ').replace(/[\p{Cc}\p{Cf}]/gu, '');
}
