/** Adds one step to a plan: the producers that it waits for, then its arguments, then what they lack. */
import type { Tool } from '../../catalog/tool.js';
import { decideArguments, OPENING } from './decide-arguments.js';
import { type Draft, isSame, referredIn } from './drafts.js';
import { lookupsOf, namedArgument, readersFor, withoutTimes } from './needs.js';
import {
  findRepeated,
  mayRepeat,
  type Repeated,
  requestedIn,
  takenByNext,
  withServedItems,
  withShared,
} from './served-values.js';
import { lookUpNamed, settleLookup, settleMissing, settleRequired } from './settle.js';
import { type About, type Adding, mayWait, promptFor, type Step } from './step.js';
import { impliedPrompt } from './step-prompt.js';

type Lookups = ReturnType<typeof lookupsOf>;
type Decided = Awaited<ReturnType<typeof decideArguments>>;

const NO_LOOKUPS: Lookups = new Map();

/** Adds the step after its producers. @returns its id, or the id of an equal step */
export async function addStep(tool: Tool, about: About, adding: Adding): Promise<string> {
  const { known, message } = adding;
  const { role } = about;
  const ask = role ?? about.ask;
  const said = known.saidFor(tool, ask);
  const own = role === undefined ? known.ownOf(said, ask) : known.partOf(said, role);
  const addProducer = (producer: Tool, argument: string, words?: string) => {
    const next = { ...about, consumers: [...about.consumers, tool], serves: { tool, argument }, role: words };
    return addStep(producer, next, adding);
  };
  const step: Step = { tool, about, adding, ask, said, own, settled: new Map(), addProducer };
  const named = role === undefined ? undefined : namedArgument(tool, role, adding);
  if (named?.isOnly) step.settled.set(named.name, named);
  const next = nextCall(step);
  const hasOwnAsk = about.ask !== about.whole;
  if (next && !hasOwnAsk) step.settled.set(next.argument, next.next);
  await settleRequired(step);
  const lookups = mayWait(step)
    ? lookupsOf(tool, { handles: said.handles, consumers: about.consumers }, adding)
    : NO_LOOKUPS;
  let decided = await decide(step, { lookups });
  // The model leaves it out, or goes on in its own words.
  if (named && decided.from[named.name] !== 'request') {
    step.settled.set(named.name, named);
    decided = await decide(step, { lookups });
  }
  if (next && hasOwnAsk && !isFurther(decided, next, about.chain.earlier)) {
    step.settled.set(next.argument, next.next);
    decided = await decide(step, { lookups });
  }
  for (const argument of decided.awaited) await settleLookup(argument, lookups.get(argument) ?? [], step);
  if (decided.missing.length > 0 && role === undefined && ask !== message)
    decided = await decideWithOthers(decided, step);
  const guessed =
    about.mayGuess && (await settleMissing(withoutTimes(decided.missing, tool), readersFor(tool, adding), step));
  if (decided.awaited.length > 0 || guessed) decided = await decide(step);
  return finish(await lookUpNamed(decided, step), step);
}

/** Whether the call has a value of its own ask that no earlier call has. */
function isFurther(
  { arguments: values, from }: Decided,
  { argument }: Repeated,
  earlier: readonly Repeated[],
): boolean {
  return from[argument] === 'request' && !earlier.some(({ value }) => value === values[argument]);
}

/** What this call of the tool has in place of the one before it. */
function nextCall({ tool, about }: Step): Repeated | undefined {
  const last = about.chain.earlier.at(-1);
  return last?.tool === tool ? last : undefined;
}

/**
 * One of several asks gets what it lacks from the results of the others ("encrypt the BMI"), else from their words: the
 * repository that one of them names may hold for this one, too. Of 24 development cases of NESTFUL the edges have an F1 of
 * 0.65 in place of 0.53 (`test/bench/plans.mjs --set nestful-given --half learn --cases 24`).
 */
async function decideWithOthers({ missing, ...alone }: Decided, step: Step): Promise<Decided> {
  const { about, adding, ask, settled } = step;
  const { progress, message } = adding;
  progress.confidence = Math.min(progress.confidence, alone.probability);
  for (const [name, value] of Object.entries(alone.arguments))
    settled.set(name, { value, from: alone.from[name] ?? 'composed' });
  // A result serves one argument, as words do.
  const used = referredIn(alone.arguments, progress.drafts);
  const isFree = (draft: Draft) => draft.serves === undefined && !used.includes(draft);
  const results = about.consumers.length === 0 ? progress.drafts.filter(isFree) : [];
  const isSaidBefore = (name: string) => results.some((draft) => name in draft.arguments);
  const unsaid = missing.filter((name) => !isSaidBefore(name));
  await settleMissing(
    unsaid,
    results.map((draft) => draft.tool),
    step,
  );
  return decide(step, { ask: missing.every((name) => settled.has(name)) ? ask : message });
}

/** @param choice.ask whose words count. Default: those of the step */
function decide(step: Step, choice: { lookups?: Lookups; ask?: string } = {}): Promise<Decided> {
  const { tool, about, adding, said, own, settled } = step;
  const { read, known } = adding;
  const { serves, chain } = about;
  const { lookups = NO_LOOKUPS, ask = step.ask } = choice;
  const values = promptFor(ask, step);
  const unasked = { ...values, facts: '', context: '', message: '' };
  return decideArguments(tool, {
    read: (use) => read('fill-arguments', values, OPENING, use),
    readUnasked: (use) => read('fill-arguments', unasked, OPENING, use),
    readImplied: serves && ((use) => read('fill-arguments', impliedPrompt(tool, serves), OPENING, use)),
    settled,
    taken: new Map([
      ...chain.earlier.map(({ value }) => [String(value), undefined] as const),
      ...known.takenBy(settled, tool),
    ]),
    lookups,
    context: { ...(ask === step.ask ? own : said), results: known.results() },
  });
}

/** Adds the step, unless an equal one is there, and looks whether the request wants it once more. */
async function finish(chosen: Decided, step: Step): Promise<string> {
  const { tool, about, adding } = step;
  const { chain, serves } = about;
  const { progress } = adding;
  const { drafts } = progress;
  const asking = { ...adding, message: about.ask };
  const served = { ...chosen, arguments: await withServedItems(tool, chosen.arguments, asking) };
  const last = nextCall(step);
  let call = served;
  if (last && chosen.missing.length === 0) {
    const taken = takenByNext(last, served, step.said);
    leaveOut(taken, tool, drafts);
    call = withShared(served, last, taken);
  }
  progress.confidence = Math.min(progress.confidence, call.probability);
  // A lookup after an effect may find another result than the same lookup before it.
  const effect = drafts.findLastIndex((draft) => draft.tool.risk === 'high' && draft.tool !== tool);
  const equal = drafts
    .slice(effect + 1)
    .find((draft) => isSame(draft, { tool, arguments: call.arguments, serves }, adding));
  if (equal) return equal.id;
  const found = mayRepeat(adding.one) && !chain.repeated ? await findAgain(call, step) : undefined;
  if (found) call = { ...call, arguments: { ...call.arguments, [found.argument]: found.value } };
  const id = `s${drafts.length + 1}`;
  drafts.push({ id, tool, ...call, purpose: about.ask, serves });
  return id;
}

/**
 * Looks whether the request wants the call once more: the first step of the chain with words of the request, and behind it those
 * with a code ("tickets T-12 and T-13"), a day or a time.
 */
async function findAgain(call: Decided, { tool, about, adding, said, own }: Step): Promise<Repeated | undefined> {
  const { chain } = about;
  const { known } = adding;
  const isOpen = (name: string) => !chain.isLookedAt || call.from[name] === 'computed' || said.handles.has(name);
  const isRequested = requestedIn(own.texts);
  const isLookedAt = (name: string) => isRequested(call.arguments[name], call.from[name]) && isOpen(name);
  const from = onlyNamed(call.from, isLookedAt);
  if (Object.keys(from).length === 0) return undefined;
  // A listed value that a lookup takes says nothing of the texts behind it.
  chain.isLookedAt ||= Object.values(from).some((one) => one !== 'enum');
  const taken = new Map([...call.taken, ...chain.roles.map((words) => [words, undefined] as const)]);
  const { whole, ask } = about;
  const values = about.role === undefined && ask === whole ? own : known.ownOf(known.saidFor(tool, whole), whole);
  const asking = { ...adding, message: whole, values };
  const found = await findRepeated({ tool, ...call, from, taken, wholes: chain.roles }, chain.earlier, asking);
  chain.repeated = found && { ...found, call };
  return chain.repeated;
}

/** Takes arguments from the last call of the tool. */
function leaveOut(names: readonly string[], tool: Tool, drafts: Draft[]): void {
  const place = drafts.findLastIndex((draft) => draft.tool === tool);
  const before = drafts[place];
  if (!before || names.length === 0) return;
  const isKept = (name: string) => !names.includes(name);
  const [values, from] = [onlyNamed(before.arguments, isKept), onlyNamed(before.from, isKept)];
  drafts[place] = { ...before, arguments: values, from };
}

function onlyNamed<T>(values: Readonly<Record<string, T>>, isKept: (name: string) => boolean): Record<string, T> {
  return Object.fromEntries(Object.entries(values).filter(([name]) => isKept(name)));
}
