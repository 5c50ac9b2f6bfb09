/**
 * Arguments with references -> arguments with values. A reference on its own keeps the type of its value; inside a text
 * it is inserted as text. Inserted values are never scanned for references. Each value is counted before it is put in,
 * so that a small plan has no large arguments.
 */

import { isContainer, isObject, joinPath, jsonTypeOf, mapLeaves, objectOf } from '../../core/catalog/schema/json.js';
import { oncePer } from '../../core/kept.js';
import { createIssues, showName, showNames } from '../../core/planning/issues.js';
import {
  findBroken,
  findReferences,
  type Reference,
  renderPath,
  replaceReferences,
} from '../../core/planning/references.js';
import type { ArgumentSources } from '../../core/result.js';
import { sourcesOf } from '../argument-sources.js';
import { MOST_ARGUMENT_BYTES, MOST_ARGUMENT_PARTS } from '../sandbox/prepare-arguments.js';
import { isMasked } from './mask-secrets.js';
import { noteOfLeftOut, type ParsedPlan, type ParsedStep, type StepState } from './plan-run.js';
import { rootsOf } from './step-order.js';

interface Resolved {
  /** Empty where they would have too many bytes. */
  readonly arguments: Record<string, unknown>;
  readonly sources: ArgumentSources | undefined;
  /** References to steps that have no result yet; the arguments still contain them. */
  readonly unresolved: readonly string[];
  /** One line per missing path, with step, argument, and what the result contains. */
  readonly issues: readonly string[];
  /** Bytes that were counted, as JSON. */
  readonly bytes: number;
}

/** What references can refer to. */
export interface Scope {
  readonly states: ReadonlyMap<string, StepState>;
  readonly inputs?: ParsedPlan['inputs'];
  /** The current item of a step with `each`. */
  readonly item?: { readonly value: unknown; readonly isMasked: boolean } | undefined;
}

export type LookedUp =
  | { is: 'value'; value: unknown; isMasked: boolean }
  | { is: 'open' }
  /** `lost`: the value is secret and was not kept. */
  | { is: 'wrong' | 'lost'; problem: string };

/** The scope of a step of a run, or of one item of it. */
export function scopeOf(
  { states, plan }: Pick<Scope, 'states'> & { readonly plan: Pick<ParsedPlan, 'inputs'> },
  item?: Scope['item'],
): Scope {
  return { states, inputs: plan.inputs, item };
}

/** The value of a reference. `open`: its step has no result yet, or the loop has not begun. */
export function lookUp(reference: Reference, scope: Scope, { mayBeMasked = false } = {}): LookedUp {
  const root = rootOf(reference, scope);
  if (!root) return { is: 'open' };
  const { text, path } = reference;
  const { value: whole, what, isMasked: hasMasks, notes = [] } = root;
  const leftOut = noteOfLeftOut(root);
  const found = leftOut ? { ok: false as const, reason: leftOut } : follow(whole, path);
  // A path into an object that is masked as a whole breaks off at the mask.
  if (hasMasks && !mayBeMasked && (found.ok || typeof found.at === 'string') && isMasked(found.at))
    return {
      is: 'lost',
      problem: `"${showName(text)}" is secret and was not kept; resume with a value for this argument`,
    };
  if (!found.ok) {
    const cut = notes.find((note) => note.includes('maxOutputBytes'));
    return { is: 'wrong', problem: `"${showName(text)}" is not in ${what}; ${found.reason}${cut ? ` (${cut})` : ''}` };
  }
  return { is: 'value', value: found.at, isMasked: hasMasks };
}

interface Whole extends Pick<StepState, 'notes'> {
  readonly value: unknown;
  readonly what: string;
  readonly isMasked: boolean;
}

/** The value in which the path of a reference starts. */
function rootOf({ step, path: [name] }: Reference, { states, inputs, item }: Scope): Whole | undefined {
  if (step === 'item') return item && { ...item, what: 'this item' };
  if (step === 'input')
    return {
      value: inputs ? valuesOf(inputs) : {},
      what: 'the inputs',
      isMasked: inputs?.[String(name)]?.isMasked === true,
    };
  const { status, output, notes, isMasked: hasMasks } = states.get(step) ?? {};
  if (status !== 'done') return undefined;
  return { value: output, what: `the result of ${step}`, isMasked: hasMasks === true, ...(notes ? { notes } : {}) };
}

/** Made once, since each reference looks into it. */
const valuesOf = oncePer((inputs: NonNullable<Scope['inputs']>): Record<string, unknown> => {
  const given = Object.entries(inputs).filter(([, { value }]) => value !== undefined);
  return Object.fromEntries(given.map(([name, { value }]) => [name, value]));
});

export type Item = NonNullable<Scope['item']>;

/** The value of the one reference in `each` or `when`, or why there is none. */
export function readReference(
  text: string,
  step: Pick<ParsedStep, 'each'>,
  scope: Scope,
  options?: { mayBeMasked: boolean },
): Extract<LookedUp, { is: 'value' }> | string {
  const [reference] = findReferences(text, rootsOf(scope, step));
  const found = reference && lookUp(reference, scope, options);
  if (found?.is === 'value') return found;
  return found && found.is !== 'open' ? found.problem : `"${text}" has no value`;
}

/** At most, per step; more is a batch job. */
const MAX_ITEMS = 100;

/** The items of a step with `each`, or why there are none. */
export function readItems(each: string, scope: Scope): Item[] | string {
  // Masked values matter only to the items that use them.
  const found = readReference(each, {}, scope, { mayBeMasked: true });
  if (typeof found === 'string') return found;
  const { value, isMasked } = found;
  if (!Array.isArray(value)) return `"${each}" is no list, but ${jsonTypeOf(value)}`;
  if (value.length > MAX_ITEMS) return `"${each}" has ${value.length} items, and at most ${MAX_ITEMS} are run`;
  return value.map((one) => ({ value: one, isMasked }));
}

/** @param left bytes that the run has left for them. Default: those of one call */
export function resolveArguments(step: ParsedStep, scope: Scope, left = MOST_ARGUMENT_BYTES): Resolved {
  const unresolved = new Set<string>();
  const issues = createIssues();
  const roots = rootsOf(scope, step);
  const room = Math.min(left, MOST_ARGUMENT_BYTES);
  let { bytes, parts } = sizeOf(step.arguments);
  const isTooLarge = () => bytes > room || parts > MOST_ARGUMENT_PARTS;

  function count(value: unknown): void {
    const size = isContainer(value) ? sizeOf(value) : { bytes: bytesOf(value, room - bytes), parts: 0 };
    bytes += size.bytes;
    parts += size.parts;
  }

  /** @param form of the value that is put in */
  function resolveReference(reference: Reference, path: Path, form = (value: unknown) => value): unknown {
    // The step can't run, and each look has its price.
    if (isTooLarge()) return undefined;
    if (issues.isFull) return issues.add(() => reference.text);
    const found = lookUp(reference, scope);
    if (found.is === 'open') {
      unresolved.add(reference.text);
      return reference.text;
    }
    if (found.is !== 'value') return issues.add(() => `${placeOf(step, path)}: ${found.problem}`);
    const value = form(found.value);
    count(value);
    return isTooLarge() ? undefined : value;
  }

  function resolveText(text: string, path: Path): unknown {
    for (const broken of findBroken(text, roots))
      issues.add(() => `${placeOf(step, path)}: "${showName(broken)}" is no reference; write \${s1.field}`);
    const references = findReferences(text, roots);
    const [first] = references;
    if (first?.whole) return resolveReference(first, path);
    return replaceReferences(text, references, (one) => String(resolveReference(one, path, asText) ?? ''));
  }

  const values = mapLeaves(step.arguments, (value, path) =>
    typeof value === 'string' ? resolveText(value, path) : value,
  );
  if (isTooLarge()) {
    const most = bytes > room ? `${Math.max(room, 0)} bytes` : `${MOST_ARGUMENT_PARTS} parts`;
    const isOfRun = bytes > room && room < MOST_ARGUMENT_BYTES;
    const which = isOfRun ? 'that the run has left (limit runBytes)' : 'that a call may have';
    const issue = `${step.id}.arguments: with their references more than the ${most} ${which}`;
    return { arguments: {}, sources: undefined, unresolved: [], issues: [issue], bytes };
  }
  const sources = sourcesOf(step, roots);
  return { arguments: { ...objectOf(values) }, sources, unresolved: [...unresolved], issues: issues.lines(), bytes };
}

export interface ResolvedStep extends Resolved {
  readonly step: ParsedStep;
}

/**
 * The arguments of all steps before a run, as far as they are known; yields after each step.
 * @param most bytes for all of them together
 */
export function* resolveAhead(plan: ParsedPlan, most: number): Generator<void, ResolvedStep[], void> {
  const resolved: ResolvedStep[] = [];
  let left = most;
  for (const step of plan.steps) {
    const one = resolveArguments(step, { states: new Map(), inputs: plan.inputs }, left);
    left -= one.bytes;
    resolved.push({ ...one, step });
    yield;
  }
  return resolved;
}

type Path = readonly (string | number)[];

function placeOf({ id }: ParsedStep, path: Path): string {
  return showNames(path).reduce<string>(joinPath, `${id}.arguments`);
}

interface Size {
  /** As JSON. */
  readonly bytes: number;
  /** Fields and items, at any depth. */
  readonly parts: number;
}

/** Measured once, since many references can give the same value. */
const sizeOf = oncePer(
  (value: object): Size => ({ bytes: Buffer.byteLength(JSON.stringify(value)), parts: countParts(value) }),
);

function countParts(value: unknown): number {
  return isContainer(value) ? Object.values(value).reduce((sum, part) => sum + 1 + countParts(part), 0) : 0;
}

/** As JSON. A text that has no room anyway is not written. */
function bytesOf(value: unknown, room: number): number {
  if (typeof value === 'string' && value.length > room) return value.length;
  return Buffer.byteLength(JSON.stringify(value) ?? '');
}

function asText(value: unknown): string {
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
}

/** `at`: the value at the end of the path, or where it breaks off. */
type Found = { ok: true; at: unknown } | { ok: false; at?: unknown; reason: string };

/** Only own fields and list indexes: `constructor`, `length` and the like are no part of a result. */
function follow(output: unknown, path: readonly (string | number)[]): Found {
  let current = output;
  for (const [depth, part] of path.entries()) {
    if (Array.isArray(current) && typeof part === 'number' && part < current.length) current = current[part];
    else if (isObject(current) && Object.hasOwn(current, part)) current = current[part];
    else {
      const where = renderPath(showNames(path.slice(0, depth))) || 'it';
      return { ok: false, at: current, reason: `${where} ${describe(current)}` };
    }
  }
  return { ok: true, at: current };
}

const MAX_KEYS = 20;

function describe(value: unknown): string {
  if (Array.isArray(value))
    return `is a list of ${value.length}${value.length > 0 ? `, from [0] to [${value.length - 1}]` : ''}`;
  if (isObject(value)) return describeFields(value);
  return `is ${value === null || value === undefined ? 'empty' : `a ${typeof value}`}`;
}

const describeFields = oncePer((value: object): string => {
  const keys = Object.keys(value);
  const shown = keys.slice(0, MAX_KEYS).map((key) => renderPath([showName(key)]));
  const more = keys.length > MAX_KEYS ? ` and ${keys.length - MAX_KEYS} more` : '';
  return keys.length === 0 ? 'holds nothing' : `holds ${shown.join(', ')}${more}`;
});
