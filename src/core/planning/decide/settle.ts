/** Gives arguments of a step the results of other steps, which it adds where they are not there yet. */
import { type Provision, producerGraph } from '../../catalog/producers.js';
import { isNumber, isObject, objectOf } from '../../catalog/schema/json.js';
import { fittedSchemas } from '../../catalog/schema/normalise.js';
import type { Tool } from '../../catalog/tool.js';
import { formOf } from '../times.js';
import { type Draft, referredIn } from './drafts.js';
import { type Doubtful, isIdentifierAmong } from './given.js';
import {
  awaitedArguments,
  bestProvisions,
  canProvide,
  isListArgument,
  isLookup,
  referenceTo,
  takesName,
  type Waiting,
} from './needs.js';
import { findTool } from './read-names.js';
import { readRoles } from './roles.js';
import { openReference, plainSchema } from './sources.js';
import { mayWait, readCall, type Step } from './step.js';
import { describe } from './step-prompt.js';

/** Adds the producers of required arguments, or takes the result of an earlier step. */
export async function settleRequired(step: Step): Promise<void> {
  const { tool, adding, ask, said } = step;
  if (!mayWait(step)) return;
  const isAmong = (name: string, doubtful: Doubtful) =>
    readCall(step, (open) => isIdentifierAmong(name, doubtful, open));
  const waiting = await awaitedArguments(tool, { ask, context: said, settled: step.settled, isAmong }, adding);
  const places: Provided[] = [];
  for (const one of waiting) {
    const { provision } = (await providedBy(one, step)) ?? {};
    if (provision) places.push({ name: one.argument, isList: isListArgument(tool, one.argument), provision });
  }
  const roles = await rolesOf(places, step);
  for (const one of waiting) {
    // Steps added for the arguments before it may have its result, too.
    const known = places.find(({ name }) => name === one.argument)?.provision;
    const found = await providedBy(one, step, known);
    if (!found) continue;
    const { provision, made } = found;
    const alike = places.flatMap((place) =>
      isAlike(place.provision, provision) ? (step.settled.get(place.name) ?? []) : [],
    );
    // The result of a step is one thing, and another argument has it.
    const isTaken = made && referredIn(alike, adding.progress.drafts).includes(made);
    await settleBy(one.argument, provision, step, { made: isTaken ? undefined : made, roles: roles.get(one.argument) });
  }
}

interface Provided {
  readonly name: string;
  readonly isList: boolean;
  readonly provision: Provision;
}

/** Whether two arguments take the same field of the same tool, and so two things; without an output schema, any field. */
function isAlike(one: Provision, other: Provision): boolean {
  if (one.producer !== other.producer) return false;
  return !one.producer.outputSchema || one.path.join() === other.path.join();
}

/** What each argument means, where there are several things to look up. Other fields of one result are of one thing. */
async function rolesOf(places: readonly Provided[], step: Step): Promise<ReadonlyMap<string, readonly string[]>> {
  const hostOf = ({ provision }: Provided, place: number) =>
    places
      .slice(0, place)
      .find((one) => one.provision.producer === provision.producer && !isAlike(one.provision, provision));
  // An attachment is found within a mail: what finds it takes the mail, too. Two alike are two things all the same.
  const { argumentsOf } = producerGraph(step.adding.view);
  const isFoundWithin = ({ provision }: Provided) =>
    argumentsOf(provision.producer).some(
      (one) => one.isRequired && one.isIdentifier && places.some(({ name }) => name === one.name),
    );
  const isOnly = (place: Provided) =>
    !places.some((other) => other !== place && isAlike(other.provision, place.provision));
  const things = places.filter((one, place) => !hostOf(one, place) && !(isFoundWithin(one) && isOnly(one)));
  const [only, other] = things;
  if (!only || (!other && !only.isList && !takesName(only.provision.producer, step.adding))) return new Map();
  const root = fittedSchemas(step.tool).input;
  const { texts, earlier, said } = step.own;
  // A day or an amount is for an argument that takes it.
  const schemas = Object.values(objectOf(root.properties)).map((schema) => plainSchema(schema, root));
  const times = schemas.some((schema) => formOf(schema) !== undefined) ? said.times : [];
  const numbers = schemas.some(isNumber) ? said.numbers : [];
  const gone = [...times, ...numbers].map(({ text }) => text);
  const read = await readCall(step, (open) => readRoles(things, { texts, earlier, gone }, open));
  step.adding.trace.add('planning', 'what each argument looks up', Object.fromEntries(read));
  step.about.chain.roles.push(...[...read.values()].flat());
  return new Map(places.map((one, place) => [one.name, read.get(hostOf(one, place)?.name ?? one.name) ?? []]));
}

/**
 * The provision for an argument, and the step that already has its result; undefined if the model is to choose among several.
 *
 * @param known the provision where no step has it. Default: it is chosen
 */
async function providedBy(
  { argument, provisions }: Waiting,
  step: Step,
  known?: Provision,
): Promise<{ readonly provision: Provision; readonly made: Draft | undefined } | undefined> {
  const isOf = (draft: Draft) => provisions.some(({ producer }) => isReusable(draft, producer, step));
  const [made, other] = step.adding.progress.drafts.filter(isOf);
  // Among several results the model chooses, as among all choices that fit.
  if (other) return undefined;
  const provision = made
    ? provisions.find(({ producer }) => producer === made.tool)
    : (known ?? (await chooseProvision(argument, provisions, step)));
  return provision && { provision, made };
}

/**
 * Of tools that are equally good the model names one, else the first counts: a list by price finds no car by its model. Of 152
 * development requests one more has its lookup, and none loses it (`test/bench/shapes` and three sets of fixtures, in view).
 */
async function chooseProvision(
  argument: string,
  provisions: readonly Provision[],
  { tool, adding, ask }: Step,
): Promise<Provision | undefined> {
  const best = bestProvisions(tool, provisions, adding);
  if (best.length < 2) return best[0];
  const tools = best.map(({ producer }) => producer);
  const named = await findTool(`${describe(tool, argument)}: ${ask}`, { ...adding, tools });
  return best.find(({ producer }) => producer === named) ?? best[0];
}

/** Without what it needs, a lookup is left out, and no question of it reaches the user. */
export async function settleLookup(argument: string, provisions: readonly Provision[], step: Step): Promise<void> {
  const { adding, settled } = step;
  const { drafts } = adding.progress;
  const provision = await chooseProvision(argument, provisions, step);
  if (!provision) return;
  const before = drafts.length;
  await settleBy(argument, provision, step);
  if (drafts.slice(before).every(({ missing }) => missing.length === 0)) return;
  drafts.length = before;
  settled.delete(argument);
}

/**
 * Looks up what optional identifiers, and those within objects and lists, have in words: the chairs and the lamp of an order. The
 * call is decided by then, so each of the words gets a lookup of its own and gives way to its result.
 */
export async function lookUpNamed<T extends Pick<Draft, 'arguments' | 'from'>>(decided: T, step: Step): Promise<T> {
  const { tool, adding, said } = step;
  const graph = producerGraph(adding.view);
  const awaited = new Set(graph.argumentsOf(tool).flatMap(({ name, isRequired }) => (isRequired ? [name] : [])));
  const waiting = mayWait(step) ? graph.identifiersOf(tool).filter(({ name }) => !awaited.has(name)) : [];
  if (waiting.length === 0) return decided;
  const found = new Map<string, string>();
  const { chain } = step.about;
  // The call is asked for again, not its lookups.
  const before = chain.isLookedAt;
  chain.isLookedAt = true;
  const values = await within(decided.arguments);
  chain.isLookedAt = before;
  const isText = (name: string) => typeof decided.arguments[name] === 'string';
  const changed = Object.keys(values).filter((name) => isText(name) && values[name] !== decided.arguments[name]);
  const from = Object.fromEntries(changed.map((name) => [name, 'step' as const]));
  return { ...decided, arguments: values, from: { ...decided.from, ...from } };

  async function within(object: Readonly<Record<string, unknown>>): Promise<Record<string, unknown>> {
    const entries = await inOrder(Object.entries(object), async ([name, one]) => [name, await resolved(name, one)]);
    return Object.fromEntries(entries);
  }

  async function inside(value: unknown): Promise<unknown> {
    if (Array.isArray(value)) return inOrder(value, inside);
    return isObject(value) ? within(value) : value;
  }

  async function resolved(name: string, value: unknown): Promise<unknown> {
    const isNamed = waiting.some((one) => one.name === name) && typeof value === 'string' && !value.startsWith('${');
    if (!isNamed || said.handles.get(name)?.codes.includes(value)) return inside(value);
    const provisions = graph.provisionsFor(tool, name).filter(isLookup);
    const provision = await chooseProvision(name, provisions, step);
    if (!provision) return value;
    const id = found.get(`${name} ${value}`) ?? (await step.addProducer(provision.producer, name, value));
    found.set(`${name} ${value}`, id);
    return referenceTo(id, provision, { tool, argument: name });
  }
}

async function inOrder<T, R>(items: readonly T[], use: (item: T) => Promise<R>): Promise<R[]> {
  const results: R[] = [];
  for (const item of items) results.push(await use(item));
  return results;
}

/** @param result.roles the words that it means; of a list, those of each item. Default: the ask says it */
async function settleBy(
  argument: string,
  provision: Provision,
  step: Step,
  { made, roles = [] }: { made?: Draft | undefined; roles?: readonly string[] | undefined } = {},
): Promise<void> {
  const ids = made ? [made.id] : [];
  for (const role of made ? [] : roles.length > 0 ? roles : [undefined])
    ids.push(await step.addProducer(provision.producer, argument, role));
  const values = [...new Set(ids)].map((id) => referenceTo(id, provision, { tool: step.tool, argument }));
  step.settled.set(argument, { value: values.length > 1 ? values.flat() : values[0], from: 'step' });
}

/**
 * For arguments that neither the request nor the graph provides, the model names one of the tools, or none. A tool whose
 * result is not there yet becomes a step.
 *
 * @returns whether it names one
 */
export async function settleMissing(missing: readonly string[], tools: readonly Tool[], step: Step): Promise<boolean> {
  const { tool, about, adding, settled } = step;
  if (!mayWait(step)) return false;
  const waiting = [...about.consumers, tool];
  const before = settled.size;
  for (const argument of missing) {
    const others = tools.filter((other) => !waiting.includes(other) && canProvide(other, tool, argument, adding.view));
    if (others.length === 0) continue;
    const producer = await findTool(`${describe(tool, argument)}: ${step.ask}`, { ...adding, tools: others });
    if (!producer) continue;
    const made = adding.progress.drafts.find((draft) => isReusable(draft, producer, step));
    const id = made?.id ?? (await step.addProducer(producer, argument));
    settled.set(argument, { value: openReference(id), from: 'step' });
  }
  return settled.size > before;
}

/** Whether the draft already has the result: it serves an ask, or another step of the same ask. */
function isReusable(draft: Draft, producer: Tool, { tool, about }: Step): boolean {
  if (draft.tool !== producer) return false;
  return draft.serves === undefined || (draft.purpose === about.ask && draft.serves.tool !== tool);
}
