/**
 * How a plan that was written after a failure differs from the one that failed. Each step must be one of the earlier plan,
 * and wait for the same steps, but for those that are done. Steps may be left out.
 */
import { mapLeaves } from '../../core/catalog/schema/json.js';
import { findReferences } from '../../core/planning/references.js';
import { canonicalJson } from '../approvals/canonical-json.js';
import type { ParsedPlan, ParsedStep, PlanRun } from './plan-run.js';
import { type Needs, needsOf, sortByNeeds } from './step-order.js';

/**
 * @returns one line for each difference that may change what runs, for a person to review
 * @throws WinnowError `invalid_request` for arguments that no call may have
 */
export function planDifferences(
  next: ParsedPlan,
  { plan: before, steps: states }: Pick<PlanRun, 'plan' | 'steps'>,
): string[] {
  const known = new Map<string, Call>();
  const [needsBefore, needs] = [needsOf(before), needsOf(next)];
  const earlier = callsOf(before, { needs: needsBefore, known });
  const later = callsOf(next, { needs, known });
  const isOver = (id: string) => states[id]?.status === 'done' || states[id]?.status === 'skipped';
  const left = new Set(before.steps);

  return next.steps.flatMap((step) => {
    const { id, tool } = step;
    const waitsFor = new Set([...allNeeds(id, needs)].map((other) => later.get(other)));
    const compare = (one: ParsedStep) => {
      const lost = [...(needsBefore.get(one.id) ?? [])].flatMap((other) => {
        const call = earlier.get(other);
        return call === undefined || isOver(other) || waitsFor.has(call) ? [] : [call.tool];
      });
      const changes = changesOf(step, later.get(id), earlier.get(one.id));
      return { one, lines: [...changes, ...lost.map((name) => `${id} no longer waits for ${name}`)] };
    };
    const candidates = [...left].filter((one) => one.tool === tool);
    const same = candidates.filter((one) => earlier.get(one.id) === later.get(id));
    const compared = (same.length > 0 ? same : candidates).map(compare);
    const [nearest] = compared.sort((one, other) => one.lines.length - other.lines.length);
    if (!nearest) return [`${id} calls ${tool}`, ...changesOf(step, later.get(id))];
    left.delete(nearest.one);
    return nearest.lines;
  });
}

/** A step without its id and dependencies. Equal steps of both plans are one object. */
interface Call {
  readonly index: number;
  readonly tool: string;
  /** Canonical text by place in the step; `.city` is an argument. References stand for the calls that they are of. */
  readonly parts: Readonly<Record<string, string>>;
}

/** @param known calls of both plans by their text, which grow by those of this plan */
function callsOf(plan: ParsedPlan, { needs, known }: { needs: Needs; known: Map<string, Call> }) {
  const byId = new Map(plan.steps.map((step) => [step.id, step]));
  const calls = new Map<string, Call>();
  const withCalls = (text: string) => {
    const parts: unknown[] = [];
    let from = 0;
    for (const { text: reference, step, path } of findReferences(text)) {
      const at = text.indexOf(reference, from);
      parts.push(text.slice(from, at), [calls.get(step)?.index, ...path]);
      from = at + reference.length;
    }
    return [...parts, text.slice(from)];
  };
  const toText = (part: unknown) =>
    canonicalJson(mapLeaves(part, (leaf) => (typeof leaf === 'string' ? withCalls(leaf) : leaf)));
  for (const id of sortByNeeds(needs)) {
    const step = byId.get(id);
    if (!step) continue;
    const parts = Object.fromEntries(partsOf(step).map(([name, part]) => [name, toText(part)]));
    const text = canonicalJson([step.tool, parts]);
    const call = known.get(text) ?? { index: known.size, tool: step.tool, parts };
    known.set(text, call);
    calls.set(id, call);
  }
  return calls;
}

function partsOf({ arguments: given, each, when }: ParsedStep): [string, unknown][] {
  const values = Object.entries(given).map(([name, value]): [string, unknown] => [`.${name}`, value]);
  return [...values, [' each', each], [' when', when]].filter(
    (part): part is [string, unknown] => part[1] !== undefined,
  );
}

function changesOf(step: ParsedStep, now: Call | undefined, before?: Call): string[] {
  const { id } = step;
  const written = partsOf(step).filter(([name]) => before?.parts[name] !== now?.parts[name]);
  const lost = Object.keys(before?.parts ?? {}).filter((name) => now?.parts[name] === undefined);
  return [
    ...written.map(([name, value]) => `${id}${name}: ${JSON.stringify(value)}`),
    ...lost.map((name) => `${id}${name}: left out`),
  ];
}

/** Those that a step waits for, and those that these wait for. */
function allNeeds(id: string, needs: Needs): ReadonlySet<string> {
  const found = new Set<string>();
  const open = [id];
  for (const one of open) {
    const further = [...(needs.get(one) ?? [])].filter((other) => !found.has(other));
    for (const other of further) found.add(other);
    open.push(...further);
  }
  return found;
}
