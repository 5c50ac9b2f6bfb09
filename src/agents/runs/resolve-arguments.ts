/**
 * Arguments with references -> arguments with values. A reference on its own keeps the type of its value; inside a text
 * it is inserted as text. Inserted values are never scanned for references.
 */

import { isObject, joinPath, mapLeaves, objectOf } from '../../core/catalog/schema/json.js';
import { findBroken, findReferences, type Reference, renderPath } from '../../core/planning/references.js';
import type { ArgumentSources } from '../../core/result.js';
import { sourcesOf } from '../argument-sources.js';
import { isMasked } from './mask-secrets.js';
import { noteOfLeftOut, type ParsedPlan, type ParsedStep, type StepState } from './plan-run.js';
import { rootsOf } from './step-order.js';

interface Resolved {
  readonly arguments: Record<string, unknown>;
  readonly sources: ArgumentSources | undefined;
  /** References to steps that have no result yet; the arguments still contain them. */
  readonly unresolved: readonly string[];
  /** One line per missing path, with step, argument, and what the result contains. */
  readonly issues: readonly string[];
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
  | { is: 'wrong'; problem: string };

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
  if (!found.ok) {
    const cut = notes.find((note) => note.includes('maxOutputBytes'));
    return { is: 'wrong', problem: `"${text}" is not in ${what}; ${found.reason}${cut ? ` (${cut})` : ''}` };
  }
  if (!hasMasks || mayBeMasked || !isMasked(found.value))
    return { is: 'value', value: found.value, isMasked: hasMasks };
  return { is: 'wrong', problem: `"${text}" is secret and was not kept; resume with a value for this argument` };
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
    return { value: valuesOf(inputs), what: 'the inputs', isMasked: inputs?.[String(name)]?.isMasked === true };
  const { status, output, notes, isMasked: hasMasks } = states.get(step) ?? {};
  if (status !== 'done') return undefined;
  return { value: output, what: `the result of ${step}`, isMasked: hasMasks === true, ...(notes ? { notes } : {}) };
}

function valuesOf(inputs: Scope['inputs'] = {}): Record<string, unknown> {
  const given = Object.entries(inputs).filter(([, { value }]) => value !== undefined);
  return Object.fromEntries(given.map(([name, { value }]) => [name, value]));
}

export function resolveArguments(step: ParsedStep, scope: Scope): Resolved {
  const unresolved = new Set<string>();
  const issues: string[] = [];
  const roots = rootsOf(scope, step);

  let room = MAX_CHARACTERS;

  /** The value as text; its size is limited, so that small requests can't become large ones. */
  function putIn(reference: Reference, place: string): string {
    const text = asText(resolveReference(reference, place));
    room -= text.length;
    if (room >= 0) return text;
    if (room + text.length >= 0) issues.push(`${place}: references put in more than ${MAX_CHARACTERS} characters`);
    return '';
  }

  function resolveReference(reference: Reference, place: string): unknown {
    const found = lookUp(reference, scope);
    if (found.is === 'value') return found.value;
    if (found.is === 'wrong') return void issues.push(`${place}: ${found.problem}`);
    unresolved.add(reference.text);
    return reference.text;
  }

  function resolveText(text: string, place: string): unknown {
    for (const broken of findBroken(text, roots))
      issues.push(`${place}: "${broken}" is no reference; write \${s1.field}`);
    const references = findReferences(text, roots);
    const [first] = references;
    if (first?.whole) return resolveReference(first, place);
    // Piece by piece, so that inserted text can't be taken for a reference.
    let rest = text;
    let written = '';
    for (const reference of references) {
      const at = rest.indexOf(reference.text);
      written += rest.slice(0, at) + putIn(reference, place);
      rest = rest.slice(at + reference.text.length);
    }
    return written + rest;
  }

  const values = mapLeaves(step.arguments, (value, path) =>
    typeof value === 'string' ? resolveText(value, path.reduce<string>(joinPath, `${step.id}.arguments`)) : value,
  );
  const sources = sourcesOf(step, roots);
  return { arguments: { ...objectOf(values) }, sources, unresolved: [...unresolved], issues };
}

/** Limit for all text that references insert into one step. */
const MAX_CHARACTERS = 2 ** 22;

function asText(value: unknown): string {
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
}

type Found = { ok: true; value: unknown } | { ok: false; reason: string };

/** Only own fields and list indexes: `constructor`, `length` and the like are no part of a result. */
function follow(output: unknown, path: readonly (string | number)[]): Found {
  let current = output;
  for (const [depth, part] of path.entries()) {
    if (Array.isArray(current) && typeof part === 'number' && part < current.length) current = current[part];
    else if (isObject(current) && Object.hasOwn(current, part)) current = current[part];
    else return { ok: false, reason: `${renderPath(path.slice(0, depth)) || 'it'} ${describe(current)}` };
  }
  return { ok: true, value: current };
}

const MAX_KEYS = 20;

function describe(value: unknown): string {
  if (Array.isArray(value))
    return `is a list of ${value.length}${value.length > 0 ? `, from [0] to [${value.length - 1}]` : ''}`;
  if (!isObject(value)) return `is ${value === null || value === undefined ? 'empty' : `a ${typeof value}`}`;
  const keys = Object.keys(value);
  const more = keys.length > MAX_KEYS ? ` and ${keys.length - MAX_KEYS} more` : '';
  const shown = keys.slice(0, MAX_KEYS).map((key) => renderPath([key]));
  return keys.length === 0 ? 'holds nothing' : `holds ${shown.join(', ')}${more}`;
}
