/**
 * Puts secrets back into a plan of which the store keeps only the masked form. Only what was not kept can be given
 * again, to the part of a text: whoever resumes a run can't make it do anything else.
 */
import { isObject, joinPath, sameJson } from '../../core/catalog/schema/json.js';
import { createIssues, type Issues, refuse, showNames } from '../../core/planning/issues.js';
import { findReferences, type Reference, replaceReferences } from '../../core/planning/references.js';
import { MASK } from '../../core/secret-forms.js';
import { isMasked } from './mask-secrets.js';
import type { ParsedPlan, ParsedStep } from './plan-run.js';
import { lookUp, readItems, type Scope } from './resolve-arguments.js';
import { rootsOf } from './step-order.js';

/** Step id -> arguments by name. */
export type GivenAgain = Readonly<Record<string, Readonly<Record<string, unknown>>>>;

/**
 * The plan with its secrets filled in again, and these alone; nothing else may change.
 * @param scope of the run, which shows which references have lost their value
 * @throws WinnowError `invalid_request` naming each argument, or part of one, that is no secret of the plan
 */
export function fillIn(plan: ParsedPlan, given: GivenAgain, scope: Scope): { plan: ParsedPlan; secrets: unknown[] } {
  const secrets: unknown[] = [];
  const refused = createIssues();
  const known = new Set(plan.steps.map(({ id }) => id));
  for (const [id, values] of Object.entries(given))
    if (!known.has(id)) refused.addEach(Object.keys(values), (name) => noSecret([id, name]));
  const fill = (step: ParsedStep): ParsedStep => {
    const own = Object.hasOwn(given, step.id) ? given[step.id] : {};
    const place = { path: [step.id], piecesOf: cutting(step, scope), secrets, refused };
    const filled = fillPart(step.arguments, own, place);
    const byPerson = Object.fromEntries(Object.keys(Object(own)).map((name) => [name, 'person' as const]));
    const from = step.from && { from: { ...step.from, ...byPerson } };
    return { ...step, ...from, arguments: { ...Object(filled) } };
  };
  const steps = plan.steps.map(fill);
  refuse(refused);
  return { plan: { ...plan, steps }, secrets };
}

function noSecret(path: Place['path']): string {
  const place = showNames(path).reduce<string>(joinPath, '');
  return `arguments: ${place} is no secret that was left out; leave it out here`;
}

interface Place {
  readonly path: readonly (string | number)[];
  /** The parts of a text that stay, around those that were not kept. */
  readonly piecesOf: (text: string) => readonly string[];
  /** Collects what was filled in. */
  readonly secrets: unknown[];
  /** Collects what may not be given. */
  readonly refused: Issues;
}

/** What was kept stays, whether it is given again or left out. */
function fillPart(kept: unknown, given: unknown, place: Place): unknown {
  const { path, piecesOf, secrets, refused } = place;
  const within = (key: string | number) => ({ ...place, path: [...path, key] });
  if (isObject(kept) && isObject(given)) {
    const own = (key: string) => (Object.hasOwn(kept, key) ? kept[key] : undefined);
    const filled = Object.entries(given).map(([key, part]) => [key, fillPart(own(key), part, within(key))]);
    return { ...kept, ...Object.fromEntries(filled) };
  }
  if (Array.isArray(kept) && Array.isArray(given) && kept.length === given.length)
    return kept.map((part, at) => fillPart(part, given[at], within(at)));
  const filled = typeof kept === 'string' ? readFilled(given, piecesOf(kept)) : undefined;
  if (filled) secrets.push(...filled);
  else if (!sameJson(kept, given)) refused.add(() => noSecret(path));
  return given;
}

/** What a value has between these pieces, which stand in it in their order; undefined: it has others. */
function readFilled(given: unknown, [first = '', ...rest]: readonly string[]): unknown[] | undefined {
  const last = rest.pop();
  if (last === undefined) return undefined;
  if (rest.length === 0 && first === '' && last === '') return [given];
  if (typeof given !== 'string' || !given.startsWith(first) || !given.endsWith(last)) return undefined;
  const filled: string[] = [];
  let from = first.length;
  for (const piece of rest) {
    const at = given.indexOf(piece, from);
    if (at < 0) return undefined;
    filled.push(given.slice(from, at));
    from = at + piece.length;
  }
  const end = given.length - last.length;
  return end < from ? undefined : [...filled, given.slice(from, end)];
}

/** Cuts out the masks of a text, and its references whose value was not kept: in a loop, of no item. */
function cutting(step: ParsedStep, scope: Scope): Place['piecesOf'] {
  const items = step.each === undefined ? [] : readItems(step.each, scope);
  const ofItems = Array.isArray(items) && items.length > 0 ? items.map((item) => ({ ...scope, item })) : [scope];
  const known = new Map<string, boolean>();
  const isLost = (reference: Reference) => {
    const scopes = reference.step === 'item' ? ofItems : [scope];
    const lost = known.get(reference.text) ?? scopes.every((one) => lookUp(reference, one).is === 'lost');
    known.set(reference.text, lost);
    return lost;
  };
  return (text) => {
    const references = findReferences(text, rootsOf(scope, step));
    return replaceReferences(text, references, (one) => (isLost(one) ? MASK : one.text)).split(MASK);
  };
}

/** @throws WinnowError `invalid_request` naming each secret that a step to be run lacks */
export function requireSecrets(steps: readonly ParsedStep[]): void {
  const found = createIssues();
  for (const { id, arguments: values } of steps)
    found.addEach(
      Object.keys(values).filter((name) => isMasked(values[name])),
      (name) => `arguments: ${id}.${name} is secret and was not kept; give it again as {"${id}": {"${name}": …}}`,
    );
  refuse(found);
}
