/**
 * Steps with `each` or `when`. Results decide how often the tool is called, never which tool. A step is skipped where
 * its condition does not hold; with `each` it runs once per item, and each of these runs is a step of its own.
 */
import { isContainer, jsonTypeOf } from '../../core/catalog/schema/json.js';
import { fail } from '../sandbox/failure.js';
import { isMasked } from './mask-secrets.js';
import { type Condition, isOpen, noteOfLeftOut, type ParsedStep, type StepState } from './plan-run.js';
import { type Item, readItems, readReference, type Scope, scopeOf } from './resolve-arguments.js';
import { failureOf, runStep, type StepParts } from './run-step.js';

/** For all steps with their items; more is a batch job. */
export const MAX_ITEMS_OF_RUN = 1_000;

/** @param inTurn waits until another call may start, then does the work */
export async function runControlled(
  step: ParsedStep,
  parts: StepParts,
  inTurn: (work: () => Promise<void>) => Promise<void>,
): Promise<void> {
  const { record } = parts;
  if (step.each === undefined) return inTurn(() => runWhere(step, parts));
  const items = readItems(step.each, scopeOf(record));
  if (typeof items === 'string') return record.setStep(refused(step.id, items));
  const steps = items.map((_, place) => ({ ...step, id: `${step.id}[${place}]` }));
  const added = steps.filter(({ id }) => !record.states.has(id)).length;
  if (added > parts.room.items)
    return record.setStep(refused(step.id, `one run has at most ${MAX_ITEMS_OF_RUN} items of loops`));
  parts.room.items -= added;
  for (const { id } of steps) if (!record.states.has(id)) await record.setStep({ id, status: 'pending', attempts: 0 });
  // Waits for all items, even when the store fails meanwhile: none may run on unobserved.
  const ended = await Promise.allSettled(
    steps.map(async (one, place) => {
      if (isOpen(record.states.get(one.id))) await inTurn(() => runWhere(one, parts, items[place]));
    }),
  );
  const failed = ended.find((one) => one.status === 'rejected');
  if (failed) throw failed.reason;
  const states = steps.flatMap(({ id }) => record.states.get(id) ?? []);
  // If cancelled, it continues when the run is resumed.
  if (!states.some(({ status }) => status === 'pending')) await record.setStep(together(step.id, states));
}

async function runWhere(step: ParsedStep, parts: StepParts, item?: Item): Promise<void> {
  const { record, signal } = parts;
  if (signal.aborted) return;
  const held = step.when ? judge(step, step.when, scopeOf(record, item)) : true;
  if (typeof held === 'string') return record.setStep(refused(step.id, held));
  if (held) return runStep(step, parts, item);
  return record.setStep({ id: step.id, status: 'skipped', attempts: 0, notes: ['its condition does not hold'] });
}

/** Whether the condition holds, or why that can't be decided. */
function judge(step: ParsedStep, { value: written, is, to = null }: Condition, scope: Scope): boolean | string {
  const found = readReference(written, step, scope);
  if (typeof found === 'string') return found;
  const { value } = found;
  if (is === 'empty' || is === 'filled') return isEmpty(value) === (is === 'empty');
  if (isMasked(to)) return 'what its condition compares with is secret and was not kept; run the plan anew';
  if (is === 'equal' || is === 'different') return (value === to) === (is === 'equal');
  if (typeof value === 'number' && typeof to === 'number') return is === 'above' ? value > to : value < to;
  if (typeof value === 'string' && typeof to === 'string') return is === 'above' ? value > to : value < to;
  return `"${written}" is ${jsonTypeOf(value)} and can't be ${is} ${JSON.stringify(to)}`;
}

function isEmpty(value: unknown): boolean {
  if (isContainer(value)) return Object.keys(value).length === 0;
  return value === null || value === undefined || value === '';
}

function refused(id: string, reason: string): StepState {
  return { id, status: 'failed', attempts: 0, failure: failureOf(fail('unresolved_reference', `${id}: ${reason}`)) };
}

/** The result of a step with `each`: the list of its items' results, or why there is none. */
function together(id: string, states: readonly StepState[]): StepState {
  const attempts = states.reduce((sum, state) => sum + state.attempts, 0);
  const waiting = states.find(({ status }) => status === 'needs_approval');
  const broken = states.filter(({ status }) => status === 'failed' || status === 'unknown');
  const [first] = broken;
  if (waiting) return { id, attempts, status: 'needs_approval' };
  if (!first?.failure) {
    const leftOut = states.flatMap((state) => noteOfLeftOut(state) ?? []);
    // An incomplete list would shift positions; the existing results stay with their items.
    if (leftOut.length > 0)
      return { id, attempts, status: 'done', notes: [`of ${leftOut.length} of ${states.length} items ${leftOut[0]}`] };
    const output = states.flatMap((state) => (state.status === 'done' ? [state.output ?? null] : []));
    return { id, attempts, status: 'done', output };
  }
  const reason = `${broken.length} of ${states.length} items are not done, first ${first.id}: ${first.failure.reason}`;
  return { id, attempts, status: 'failed', failure: { ...first.failure, code: 'items_failed', reason } };
}
