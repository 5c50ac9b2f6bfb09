/** Turns the tools of the asks into the steps of a plan: producers before consumers, arguments, the check. */
import { codesIn, isGiven } from '../../catalog/identifiers.js';
import { type Provision, producerGraph } from '../../catalog/producers.js';
import { RISKS } from '../../catalog/risk.js';
import { listOf } from '../../catalog/schema/json.js';
import { fittedSchemas } from '../../catalog/schema/normalise.js';
import type { Tool } from '../../catalog/tool.js';
import type { SourceName } from '../../result.js';
import { oneLine } from '../../visible-text.js';
import { decideArguments, OPENING } from './arguments.js';
import type { ToolOfAsk } from './choose-tools.js';
import { type Draft, isSame, nearOf, othersOf } from './drafts.js';
import { isNumberIdentifier } from './given.js';
import { awaitedArguments, canProvide, chooseProvision, lookupsOf, reference, referenceTo, saidIn } from './needs.js';
import { type Settling, spansOf, type TakenWords, takesField } from './options.js';
import type { Deciding } from './read.js';
import { findTool } from './read-names.js';
import { readSaid, timesFor } from './said.js';
import { findRepeated, type Repeated, withServedItems, withShared } from './served-values.js';
import { type Candidate, resultFields, type SourceContext, wordsOf } from './sources.js';
import { describe, impliedPrompt, type Served, stepPrompt } from './step-prompt.js';

interface About {
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

/** @see About. `asks`: what the model wrote as several asks for the tool */
type AboutAsk = Pick<About, 'ask' | 'likely' | 'mayGuess'> & { readonly asks: readonly string[] };

/** The steps of one ask, from the first producer to its tool. */
interface Chain {
  /** The calls that led to this chain, for further values of the same argument. */
  readonly earlier: readonly Repeated[];
  /** Whether a step of it is to be called again; undefined until the first one with words of the request. */
  repeated?: { readonly found: Repeated | undefined };
}

type Lookups = ReturnType<typeof lookupsOf>;

const MAX_PRODUCERS = 3;
const MAX_CALLS = 24;
const NO_LOOKUPS: Lookups = new Map();
/** Sources of values that are as the request says them. */
const AS_SAID: ReadonlySet<SourceName> = new Set(['request', 'step']);

/**
 * The steps of the asks that have a tool.
 *
 * @param parts.mayRepeat whether the request may want a tool several times, with other values
 */
export async function decideSteps(
  chosen: readonly ToolOfAsk[],
  { mayRepeat, ...parts }: Deciding & { mayRepeat: boolean },
): Promise<{ drafts: readonly Draft[]; confidence: number }> {
  const served = chosen.flatMap(({ ask, asks = [], tool, ranked }) =>
    tool ? [{ ask, asks, tool, likely: othersOf(tool, ranked), near: nearOf(tool, ranked) }] : [],
  );
  // An ask that the model completed from the history may name a day in full.
  const message = [...new Set([parts.request.message, ...chosen.map(({ ask }) => ask)])].join('\n');
  const said = await readSaid({ ...parts.request, message });
  const earlier = spansOf((parts.request.history ?? []).map(({ content }) => oneLine(content)));
  const drafts: Draft[] = [];
  let confidence = Math.min(...chosen.map(({ probability }) => probability));
  for (const { tool, near, ...about } of served) {
    const isFound = near.length > 0 && (await addFirstGiven([tool, ...near], about));
    if (!isFound) await addAsk(tool, { ...about, mayGuess: true });
  }
  return { drafts, confidence };

  /** Adds the steps of the first tool whose required arguments all have a source. @returns whether there is one */
  async function addFirstGiven(tools: readonly Tool[], about: Omit<AboutAsk, 'mayGuess'>): Promise<boolean> {
    const before = { steps: drafts.length, confidence };
    for (const [place, tool] of tools.entries()) {
      await addAsk(tool, { ...about, mayGuess: false });
      const added = drafts.slice(before.steps);
      const needed = listOf(fittedSchemas(tool).input.required).map(String);
      // A tool that needs nothing would always do.
      const isAsked = added.some(
        (draft) => draft.tool === tool && needed.some((name) => draft.from[name] === 'request'),
      );
      if (added.every(({ missing }) => missing.length === 0) && (place === 0 || isAsked)) return true;
      drafts.length = before.steps;
      confidence = before.confidence;
    }
    return false;
  }

  async function addAsk(tool: Tool, { asks, ...about }: AboutAsk): Promise<void> {
    const before = drafts.length;
    const calls = await addCalls(tool, { ...about, asks });
    // What is not in words of the request may differ, too: then each ask is a call.
    const areWords = drafts.slice(before).every(({ from }) => Object.values(from).every((one) => AS_SAID.has(one)));
    if (calls > 1 || asks.length === 0 || areWords) return;
    drafts.length = before;
    for (const ask of asks) await addCalls(tool, { ...about, ask, asks: [] });
  }

  /** Adds a step for each call of the tool that an ask wants. @returns their number */
  async function addCalls(tool: Tool, { ask, asks, ...about }: AboutAsk): Promise<number> {
    const calls: Repeated[] = [];
    let found: Repeated | undefined;
    do {
      const chain: Chain = { earlier: [...calls] };
      const words = found && wordsOf(found.next);
      // A further call has an ask of its own if the model wrote one with its value.
      const own = words === undefined ? undefined : asks.find((one) => one.includes(words));
      await addStep(tool, { ...about, ask: own ?? ask, consumers: [], chain });
      found = chain.repeated?.found;
      if (found) calls.push(found);
    } while (found && calls.length < MAX_CALLS);
    return calls.length + 1;
  }

  /** Adds the step after its producers. @returns its id, or the id of an equal step */
  async function addStep(tool: Tool, about: About): Promise<string> {
    const settled = new Map<string, Candidate>();
    const context = knownFor(tool, about.ask);
    const { handles } = context;
    const shown = (ask = about.ask) => promptValues(tool, { ...about, ask }, { handles, settled });
    const isNumberSaid = (name: string) =>
      parts.read('fill-arguments', shown(), OPENING, (open) =>
        isNumberIdentifier(name, { open, numbers: said.numbers }),
      );
    const needed = { ask: about.ask, context, isNumberSaid };
    const mayWait = about.consumers.length < MAX_PRODUCERS;
    const waiting = mayWait ? await awaitedArguments(tool, needed, parts) : [];
    for (const { argument, provisions } of waiting) {
      const known = drafts.filter((draft) =>
        provisions.some(({ producer }) => isReusable(draft, producer, tool, about)),
      );
      // Among several results the model chooses, as among all choices that fit.
      if (known.length > 1) continue;
      const [found] = known;
      const provision = found
        ? provisions.find(({ producer }) => producer === found.tool)
        : chooseProvision(tool, { provisions, likely: about.likely }, parts);
      if (!provision) continue;
      await settleBy(argument, provision, found);
    }
    const { chain } = about;
    const last = chain.earlier.at(-1);
    if (last?.tool === tool) settled.set(last.argument, last.next);
    const decide = (lookups: Lookups, ask = about.ask) => {
      const values = shown(ask);
      const unasked = { ...values, facts: '', context: '', message: '' };
      const { serves } = about;
      return decideArguments(tool, {
        read: (use) => parts.read('fill-arguments', values, OPENING, use),
        readUnasked: (use) => parts.read('fill-arguments', unasked, OPENING, use),
        readImplied: serves && ((use) => parts.read('fill-arguments', impliedPrompt(tool, serves), OPENING, use)),
        settled,
        taken: new Map([
          ...chain.earlier.map(({ value }) => [String(value), undefined] as const),
          ...takenBy(settled, tool),
        ]),
        lookups,
        context: { ...context, results: results() },
      });
    };
    const lookups = mayWait ? lookupsOf(tool, { handles, consumers: about.consumers }, parts) : NO_LOOKUPS;
    let decided = await decide(lookups);
    for (const argument of decided.awaited) {
      const provisions = lookups.get(argument) ?? [];
      const provision = chooseProvision(tool, { provisions, likely: about.likely }, parts);
      if (!provision) continue;
      const before = drafts.length;
      await settleBy(argument, provision);
      if (drafts.slice(before).every(({ missing }) => missing.length === 0)) continue;
      // Without what it needs, the lookup is left out, and no question of it reaches the user.
      drafts.length = before;
      settled.delete(argument);
    }
    if (decided.missing.length > 0 && about.ask !== parts.message) {
      // What another ask names, such as the repository, may hold for this one, too.
      for (const [name, value] of Object.entries(decided.arguments))
        settled.set(name, { value, from: decided.from[name] ?? 'composed' });
      confidence = Math.min(confidence, decided.probability);
      decided = await decide(NO_LOOKUPS, parts.message);
    }
    const found = about.mayGuess ? await findMissing(tool, decided.missing, about) : new Map<string, string>();
    for (const [argument, id] of found) settled.set(argument, { value: `\${${id}.`, from: 'step' });
    if (decided.awaited.length + found.size > 0) decided = await decide(NO_LOOKUPS);
    const asking = { ...parts, message: about.ask };
    decided = { ...decided, arguments: await withServedItems(tool, decided.arguments, asking) };
    if (last?.tool === tool && decided.missing.length === 0) decided = withShared(decided, last);
    confidence = Math.min(confidence, decided.probability);
    // A lookup after an effect may find another result than the same lookup before it.
    const sinceEffect = drafts.slice(
      drafts.findLastIndex((draft) => draft.tool.risk === 'high' && draft.tool !== tool) + 1,
    );
    const equal = sinceEffect.find((draft) =>
      isSame(draft, { tool, arguments: decided.arguments, serves: about.serves }, parts),
    );
    if (equal) return equal.id;
    if (mayRepeat && !chain.repeated && Object.values(decided.from).includes('request')) {
      const found = await findRepeated({ tool, ...decided }, chain.earlier, { ...asking, values: context });
      chain.repeated = { found };
      if (found) decided = { ...decided, arguments: { ...decided.arguments, [found.argument]: found.value } };
    }
    const id = `s${drafts.length + 1}`;
    drafts.push({ id, tool, ...decided, purpose: about.ask, serves: about.serves });
    return id;

    async function settleBy(argument: string, provision: Provision, known?: Draft): Promise<void> {
      const next = { ...about, consumers: [...about.consumers, tool], serves: { tool, argument } };
      const step = known?.id ?? (await addStep(provision.producer, next));
      settled.set(argument, { value: referenceTo(step, provision, { tool, argument }), from: 'step' });
    }
  }

  /** Adds steps for arguments that neither the request nor the graph provides: the model names a tool for each, or none. */
  async function findMissing(tool: Tool, missing: readonly string[], about: About): Promise<Map<string, string>> {
    const { ask, consumers } = about;
    const found = new Map<string, string>();
    if (consumers.length >= MAX_PRODUCERS) return found;
    const waiting = [...consumers, tool];
    const readers = parts.tools.filter(
      (other) => !waiting.includes(other) && RISKS.indexOf(other.risk) <= RISKS.indexOf(tool.risk),
    );
    for (const argument of missing) {
      const others = readers.filter((other) => canProvide(other, tool, argument, parts.view));
      if (others.length === 0) continue;
      const producer = await findTool(`${describe(tool, argument)}: ${ask}`, { ...parts, tools: others });
      if (!producer) continue;
      const known = drafts.find((draft) => isReusable(draft, producer, tool, about));
      const serves = { tool, argument };
      found.set(argument, known?.id ?? (await addStep(producer, { ...about, consumers: waiting, serves })));
    }
    return found;
  }

  /** Whether the draft already has the result: it serves an ask, or another step of the same ask. */
  function isReusable(draft: Draft, producer: Tool, consumer: Tool, { ask }: About): boolean {
    if (draft.tool !== producer) return false;
    return draft.serves === undefined || (draft.purpose === ask && draft.serves.tool !== consumer);
  }

  function promptValues(tool: Tool, { ask, serves }: About, settling: Settling) {
    const isOffered = takesField(tool, settling);
    const offeredBy = (draft: Draft) => resultFields(fittedSchemas(draft.tool).output).filter(isOffered);
    const earlier = drafts.map((draft) => ({ ...draft, offered: offeredBy(draft) }));
    return stepPrompt(tool, { ask, serves, said: timesFor(tool, said), earlier, context: parts.context });
  }

  /** Words used to find a thing count as used for its consumer, except numbers and times of an argument of the same name. */
  function takenBy(settled: ReadonlyMap<string, Candidate>, tool: Tool): TakenWords {
    const used = JSON.stringify([...settled.values()]);
    const own = Object.keys(Object(fittedSchemas(tool).input.properties));
    const found = drafts.flatMap(({ id, taken }) => (used.includes(`\${${id}.`) ? [...taken] : []));
    return new Map(found.filter(([, argument]) => argument === undefined || !own.includes(argument)));
  }

  function results(): SourceContext['results'] {
    return drafts.flatMap(({ id, tool }): SourceContext['results'] => {
      const { output } = fittedSchemas(tool);
      if (output === undefined) return [{ reference: `\${${id}.`, schema: undefined }];
      return resultFields(output).map(({ path, schema }) => ({ reference: reference(id, path), schema }));
    });
  }

  function knownFor(tool: Tool, message: string): Omit<SourceContext, 'results'> {
    const { request, view } = parts;
    const handles = producerGraph(view)
      .argumentsOf(tool)
      .filter(({ isIdentifier }) => isIdentifier);
    const whole = saidIn(request, message);
    const entities = Object.values(request.entities ?? {}).filter((value) => typeof value === 'string');
    return {
      said: timesFor(tool, said),
      // Without a history, words that only the ask has are the model's own.
      texts: [...new Set([...(earlier.length > 0 ? [message] : []), ...entities, parts.message])],
      earlier,
      handles: new Map(
        handles.map((one) => [
          one.name,
          { isGiven: isGiven(one, { ...request, message: whole }), codes: codesIn(whole, one) },
        ]),
      ),
      timeZone: request.timeZone,
    };
  }
}
