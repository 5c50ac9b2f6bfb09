/** Adds one step to a plan: the producers that it waits for, then its arguments, then what they lack. */
import type { Provision } from '../../catalog/producers.js';
import { isAbove } from '../../catalog/risk.js';
import type { Tool } from '../../catalog/tool.js';
import { decideArguments, OPENING } from './arguments.js';
import { type Draft, isSame, type Progress, referredIn } from './drafts.js';
import { isNumberIdentifier } from './given.js';
import type { Known } from './known.js';
import { awaitedArguments, canProvide, chooseProvision, lookupsOf, referenceTo } from './needs.js';
import type { Deciding } from './read.js';
import { findTool } from './read-names.js';
import { findRepeated, type Repeated, withServedItems, withShared } from './served-values.js';
import { type Candidate, openReference } from './sources.js';
import { describe, impliedPrompt, type Served } from './step-prompt.js';

export interface About {
  readonly ask: string;
  /**
   * Other tools that may do what is asked for, likeliest first. As a producer, one of these comes before those of the graph: of
   * 67 development requests one more is right and two get nearer (`test/bench/plans.mjs --set coding-agent --half learn`).
   */
  readonly likely: readonly Tool[];
  /** The tools that wait for the step, the one of the ask first. */
  readonly consumers: readonly Tool[];
  readonly chain: Chain;
  /** Whether the model names a producer for an argument that nothing else provides. */
  readonly mayGuess: boolean;
  readonly serves?: Served;
}

/** The steps of one ask, from the first producer to its tool. */
export interface Chain {
  /** The calls that led to this chain, for further values of the same argument. */
  readonly earlier: readonly Repeated[];
  /** Whether a step of it is to be called again; undefined until the first one with words of the request. */
  repeated?: { readonly found: Repeated | undefined };
}

/** @property mayRepeat whether the request may want a tool several times, with other values */
export interface Adding extends Deciding {
  readonly progress: Progress;
  readonly known: Known;
  readonly mayRepeat: boolean;
}

type Lookups = ReturnType<typeof lookupsOf>;
type Decided = Awaited<ReturnType<typeof decideArguments>>;

const MAX_PRODUCERS = 3;
const NO_LOOKUPS: Lookups = new Map();

/** Adds the step after its producers. @returns its id, or the id of an equal step */
export async function addStep(tool: Tool, about: About, adding: Adding): Promise<string> {
  const { progress, known, read, message } = adding;
  const { drafts } = progress;
  const { chain, consumers, likely, serves } = about;
  /** Arguments that need no choice. */
  const settled = new Map<string, Candidate>();
  const said = known.saidFor(tool, about.ask);
  const own = known.ownOf(said, about.ask);
  const { handles } = said;
  const mayWait = consumers.length < MAX_PRODUCERS;
  const last = chain.earlier.at(-1);

  await settleRequired();
  if (last?.tool === tool) settled.set(last.argument, last.next);
  const lookups = mayWait ? lookupsOf(tool, { handles, consumers }, adding) : NO_LOOKUPS;
  let decided = await decide(lookups);
  for (const argument of decided.awaited) await settleLookup(argument, lookups.get(argument) ?? []);
  if (decided.missing.length > 0 && about.ask !== message) decided = await decideWithOthers(decided);
  const readers = adding.tools.filter(({ risk }) => !isAbove(risk, tool.risk));
  const guessed = about.mayGuess && (await settleMissing(decided.missing, readers));
  if (decided.awaited.length > 0 || guessed) decided = await decide(NO_LOOKUPS);
  return finish(decided);

  /** Adds the producers of required arguments, or takes the result of an earlier step. */
  async function settleRequired(): Promise<void> {
    const isNumberSaid = (name: string) =>
      read('fill-arguments', promptFor(about.ask), OPENING, (open) =>
        isNumberIdentifier(name, { open, numbers: known.numbers }),
      );
    const waiting = mayWait
      ? await awaitedArguments(tool, { ask: about.ask, context: said, isNumberSaid }, adding)
      : [];
    for (const { argument, provisions } of waiting) {
      const made = drafts.filter((draft) => provisions.some(({ producer }) => isReusable(draft, producer)));
      // Among several results the model chooses, as among all choices that fit.
      if (made.length > 1) continue;
      const [found] = made;
      const provision = found
        ? provisions.find(({ producer }) => producer === found.tool)
        : chooseProvision(tool, { provisions, likely }, adding);
      if (provision) await settleBy(argument, provision, found);
    }
  }

  /** Without what it needs, a lookup is left out, and no question of it reaches the user. */
  async function settleLookup(argument: string, provisions: readonly Provision[]): Promise<void> {
    const provision = chooseProvision(tool, { provisions, likely }, adding);
    if (!provision) return;
    const before = drafts.length;
    await settleBy(argument, provision);
    if (drafts.slice(before).every(({ missing }) => missing.length === 0)) return;
    drafts.length = before;
    settled.delete(argument);
  }

  async function settleBy(argument: string, provision: Provision, made?: Draft): Promise<void> {
    const step = made?.id ?? (await addProducer(provision.producer, argument));
    settled.set(argument, { value: referenceTo(step, provision, { tool, argument }), from: 'step' });
  }

  function addProducer(producer: Tool, argument: string): Promise<string> {
    const next = { ...about, consumers: [...consumers, tool], serves: { tool, argument } };
    return addStep(producer, next, adding);
  }

  /**
   * One of several asks gets what it lacks from the results of the others ("encrypt the BMI"), else from their words: the
   * repository that one of them names may hold for this one, too. Of 24 development cases of NESTFUL the edges have an F1 of
   * 0.65 in place of 0.53 (`test/bench/plans.mjs --set nestful-given --half learn --cases 24`).
   */
  async function decideWithOthers({ missing, ...alone }: Decided): Promise<Decided> {
    progress.confidence = Math.min(progress.confidence, alone.probability);
    for (const [name, value] of Object.entries(alone.arguments))
      settled.set(name, { value, from: alone.from[name] ?? 'composed' });
    // A result serves one argument, as words do.
    const used = referredIn(alone.arguments, drafts);
    const isFree = (draft: Draft) => draft.serves === undefined && !used.includes(draft);
    const results = consumers.length === 0 ? drafts.filter(isFree) : [];
    const isSaidBefore = (name: string) => results.some((draft) => name in draft.arguments);
    const unsaid = missing.filter((name) => !isSaidBefore(name));
    await settleMissing(
      unsaid,
      results.map((draft) => draft.tool),
    );
    return decide(NO_LOOKUPS, missing.every((name) => settled.has(name)) ? about.ask : message);
  }

  /**
   * For arguments that neither the request nor the graph provides, the model names one of the tools, or none. A tool whose
   * result is not there yet becomes a step.
   *
   * @returns whether it names one
   */
  async function settleMissing(missing: readonly string[], tools: readonly Tool[]): Promise<boolean> {
    if (!mayWait) return false;
    const waiting = [...consumers, tool];
    const before = settled.size;
    for (const argument of missing) {
      const others = tools.filter(
        (other) => !waiting.includes(other) && canProvide(other, tool, argument, adding.view),
      );
      if (others.length === 0) continue;
      const producer = await findTool(`${describe(tool, argument)}: ${about.ask}`, { ...adding, tools: others });
      if (!producer) continue;
      const made = drafts.find((draft) => isReusable(draft, producer));
      const step = made?.id ?? (await addProducer(producer, argument));
      settled.set(argument, { value: openReference(step), from: 'step' });
    }
    return settled.size > before;
  }

  /** Whether the draft already has the result: it serves an ask, or another step of the same ask. */
  function isReusable(draft: Draft, producer: Tool): boolean {
    if (draft.tool !== producer) return false;
    return draft.serves === undefined || (draft.purpose === about.ask && draft.serves.tool !== tool);
  }

  function promptFor(ask: string) {
    return known.promptFor(tool, { ask, serves }, { handles, settled });
  }

  function decide(lookups: Lookups, ask = about.ask): Promise<Decided> {
    const values = promptFor(ask);
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
      context: { ...(ask === about.ask ? own : said), results: known.results() },
    });
  }

  /** Adds the step, unless an equal one is there, and looks whether the request wants it once more. */
  async function finish(chosen: Decided): Promise<string> {
    const asking = { ...adding, message: about.ask };
    const served = { ...chosen, arguments: await withServedItems(tool, chosen.arguments, asking) };
    let call = last?.tool === tool && chosen.missing.length === 0 ? withShared(served, last) : served;
    progress.confidence = Math.min(progress.confidence, call.probability);
    // A lookup after an effect may find another result than the same lookup before it.
    const effect = drafts.findLastIndex((draft) => draft.tool.risk === 'high' && draft.tool !== tool);
    const equal = drafts
      .slice(effect + 1)
      .find((draft) => isSame(draft, { tool, arguments: call.arguments, serves }, adding));
    if (equal) return equal.id;
    if (adding.mayRepeat && !chain.repeated && Object.values(call.from).includes('request')) {
      const found = await findRepeated({ tool, ...call }, chain.earlier, { ...asking, values: own });
      chain.repeated = { found };
      if (found) call = { ...call, arguments: { ...call.arguments, [found.argument]: found.value } };
    }
    const id = `s${drafts.length + 1}`;
    drafts.push({ id, tool, ...call, purpose: about.ask, serves });
    return id;
  }
}
