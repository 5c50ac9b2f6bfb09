/**
 * Where each argument of a call comes from, for approvers and the audit. The plan supplies this as information only; a
 * call without a plan has none.
 */
import { isObject, sameJson } from '../core/catalog/schema/json.js';
import { showName } from '../core/planning/issues.js';
import { type Root, referencesIn } from '../core/planning/references.js';
import type { ArgumentSource, ArgumentSources, SourceName, Step } from '../core/result.js';
import { spellHidden } from '../core/visible-text.js';

/** Values from these sources were never stated explicitly. */
const MARKED: ReadonlySet<SourceName> = new Set(['composed', 'unknown']);
export const isMarked = ({ source }: ArgumentSource): boolean => MARKED.has(source);

/**
 * Sources for a planned step. An argument that `from` does not name, or whose reference was added or removed since,
 * counts as the person's own. Undefined: the plan does not say where its arguments come from.
 *
 * @param roots what references may begin with besides a step id; default: none
 */
export function sourcesOf(
  { arguments: values, from }: Pick<Step, 'arguments' | 'from'>,
  roots: readonly Root[] = [],
): ArgumentSources | undefined {
  if (!from) return undefined;
  const known = new Map(Object.entries(from));
  const sources = Object.entries(values).map(([name, value]): [string, ArgumentSource] => {
    const references = referencesIn(value, roots).map(({ text }) => text);
    const source = known.get(name);
    // The parts of a list or an object may have several sources; the plan names the least certain one.
    const isPart = typeof value !== 'string' && source !== 'step';
    const isKept = source !== undefined && (isPart || (source === 'step') === references.length > 0);
    return [name, { source: isKept ? source : 'person', ...(references.length > 0 ? { references } : {}) }];
  });
  return Object.fromEntries(sources);
}

/** Sources for the arguments that a tool gets; filled-in ones are defaults of its schema. */
export function sourcesFor(
  given: Readonly<Record<string, unknown>>,
  sources: ArgumentSources | undefined,
): ArgumentSources | undefined {
  if (!sources) return undefined;
  const known = new Map(Object.entries(sources));
  return Object.fromEntries(Object.keys(given).map((name) => [name, known.get(name) ?? { source: 'default' }]));
}

/** @param changed names of arguments that a person has edited; they count as that person's own */
export function sourcesAfterEdit(
  given: Readonly<Record<string, unknown>>,
  { sources, changed }: { sources?: ArgumentSources | undefined; changed: readonly string[] },
): ArgumentSources | undefined {
  const own = Object.fromEntries(changed.map((name) => [name, { source: 'person' as const }]));
  return sourcesFor(given, sources && { ...sources, ...own });
}

/** Arguments that an audit entry names, and references of each: whoever repeats a call must not fill the store with them. */
export const MOST_IN_AUDIT = { names: 50, references: 5 };

/** Sources for the audit: the first ones, with names that are short, and how many more there are. */
export function sourcesForAudit(sources: ArgumentSources): ArgumentSources {
  const all = Object.entries(sources);
  const named = all.slice(0, MOST_IN_AUDIT.names).map(([name, { source, references }]): [string, ArgumentSource] => {
    const shown = references?.slice(0, MOST_IN_AUDIT.references).map(showName);
    return [showName(name), { source, ...(shown ? { references: shown } : {}) }];
  });
  const more = all.length - named.length;
  return Object.fromEntries([...named, ...(more > 0 ? [[`and ${more} more`, { source: 'unknown' as const }]] : [])]);
}

export interface ArgumentDifference {
  readonly argument: string;
  readonly before: unknown;
  readonly now: unknown;
}

/** Arguments that differ, by name; undefined where a side has none of that name. */
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
  return spellHidden(words.join(' '));
}
