/**
 * Arguments with references -> arguments with values. A reference that stands alone keeps the type of what it refers
 * to; inside a text it is put in as text. What is put in is never read for references again.
 */

import { isObject, joinPath } from '../../core/catalog/schema/json.js';
import { findBroken, findReferences, type Reference, renderPath } from '../../core/planning/references.js';
import type { ArgumentSources } from '../../core/result.js';
import { sourcesOf } from '../argument-sources.js';
import { isMasked } from './mask-secrets.js';
import type { ParsedStep, StepState } from './plan-run.js';

export interface Resolved {
  readonly arguments: Record<string, unknown>;
  readonly sources: ArgumentSources | undefined;
  /** References to steps that have no result yet; they stand in the arguments as they were. */
  readonly unresolved: readonly string[];
  /** One missing path a line, with step and argument, and what the result does hold. */
  readonly issues: readonly string[];
}

export function resolveArguments(step: ParsedStep, states: ReadonlyMap<string, StepState>): Resolved {
  const unresolved = new Set<string>();
  const issues: string[] = [];

  function lookUp(reference: Reference, place: string): unknown {
    const state = states.get(reference.step);
    if (state?.status !== 'done') {
      unresolved.add(reference.text);
      return reference.text;
    }
    const leftOut = state.notes?.find((note) => note.includes('limit runBytes'));
    const found = leftOut ? { ok: false as const, reason: leftOut } : follow(state.output, reference.path);
    if (found.ok && state.isMasked && isMasked(found.value)) {
      issues.push(`${place}: "${reference.text}" is secret and was not kept; resume with a value for this argument`);
      return undefined;
    }
    if (found.ok) return found.value;
    const cut = state.notes?.find((note) => note.includes('maxOutputBytes'));
    issues.push(
      `${place}: "${reference.text}" is not in the result of ${state.id}; ${found.reason}${cut ? ` (${cut})` : ''}`,
    );
    return undefined;
  }

  function resolveText(text: string, place: string): unknown {
    for (const broken of findBroken(text)) issues.push(`${place}: "${broken}" is no reference; write \${s1.field}`);
    const references = findReferences(text);
    const [first] = references;
    if (first?.whole) return lookUp(first, place);
    // By pieces, so that what is put in can't be taken for a reference.
    let rest = text;
    let written = '';
    for (const reference of references) {
      const at = rest.indexOf(reference.text);
      written += rest.slice(0, at) + asText(lookUp(reference, place));
      rest = rest.slice(at + reference.text.length);
    }
    return written + rest;
  }

  function resolve(value: unknown, place: string): unknown {
    if (typeof value === 'string') return resolveText(value, place);
    if (Array.isArray(value)) return value.map((item, index) => resolve(item, joinPath(place, index)));
    return isObject(value) ? resolveAll(value, place) : value;
  }

  function resolveAll(values: Readonly<Record<string, unknown>>, place: string): Record<string, unknown> {
    return Object.fromEntries(Object.entries(values).map(([key, part]) => [key, resolve(part, joinPath(place, key))]));
  }

  const values = resolveAll(step.arguments, `${step.id}.arguments`);
  return { arguments: values, sources: sourcesOf(step), unresolved: [...unresolved], issues };
}

function asText(value: unknown): string {
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
}

type Found = { ok: true; value: unknown } | { ok: false; reason: string };

/** Own fields of objects and places of lists only: `constructor`, `length` and the like are no part of a result. */
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
