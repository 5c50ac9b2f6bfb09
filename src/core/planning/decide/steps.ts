/** Turns the tools of the asks into the steps of a plan: producers before consumers, arguments, the check. */
import { isGiven, type Provision, producerGraph } from '../../catalog/producers.js';
import { RISKS } from '../../catalog/risk.js';
import { sameJson } from '../../catalog/schema/json.js';
import { fittedSchemas } from '../../catalog/schema/normalise.js';
import { fillDefaults } from '../../catalog/schema/paths.js';
import type { Tool } from '../../catalog/tool.js';
import type { SourceName } from '../../result.js';
import { oneLine } from '../../visible-text.js';
import { decideArguments, OPENING } from './arguments.js';
import type { ToolOfAsk } from './choose-tools.js';
import { isNumberIdentifier } from './given.js';
import { awaitedArguments, canProvide, chooseProvision, lookupsOf, reference, referenceTo, saidIn } from './needs.js';
import { type Settling, spansOf, type TakenWords, takesField } from './options.js';
import type { Deciding } from './read.js';
import { findTool } from './read-names.js';
import { readSaid, timesFor } from './said.js';
import { findRepeated, type Repeated, withServedItems, withShared } from './served-values.js';
import { type Candidate, resultFields, type SourceContext, wordsOf } from './sources.js';
import { describe, impliedPrompt, type Served, stepPrompt } from './step-prompt.js';

/** A step in progress, with its required arguments that have no source. */
export interface Draft {
  readonly id: string;
  readonly tool: Tool;
  readonly arguments: Record<string, unknown>;
  readonly from: Record<string, SourceName>;
  readonly purpose: string;
  readonly missing: readonly string[];
  readonly taken: TakenWords;
  /** The argument of another step that its result provides; undefined for the tool of an ask. */
  readonly serves: Served | undefined;
}

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
  readonly serves?: Served;
}

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
    tool ? [{ ask, asks, tool, likely: othersOf(tool, ranked) }] : [],
  );
  // An ask that the model completed from the history may name a day in full.
  const message = [...new Set([parts.request.message, ...chosen.map(({ ask }) => ask)])].join('\n');
  const said = await readSaid({ ...parts.request, message });
  const earlier = spansOf((parts.request.history ?? []).map(({ content }) => oneLine(content)));
  const drafts: Draft[] = [];
  let confidence = Math.min(...chosen.map(({ probability }) => probability));
  for (const { tool, ask, asks, likely } of served) {
    const before = drafts.length;
    const calls = await addCalls(tool, { ask, asks, likely });
    // What is not in words of the request may differ, too: then each ask is a call.
    const areWords = drafts.slice(before).every(({ from }) => Object.values(from).every((one) => AS_SAID.has(one)));
    if (calls > 1 || asks.length === 0 || areWords) continue;
    drafts.length = before;
    for (const one of asks) await addCalls(tool, { ask: one, asks: [], likely });
  }
  return { drafts, confidence };

  /** Adds a step for each call of the tool that an ask wants. @returns their number */
  async function addCalls(
    tool: Tool,
    { ask, asks, likely }: Omit<About, 'consumers' | 'chain'> & { asks: readonly string[] },
  ) {
    const calls: Repeated[] = [];
    let found: Repeated | undefined;
    do {
      const chain: Chain = { earlier: [...calls] };
      const words = found && wordsOf(found.next);
      // A further call has an ask of its own if the model wrote one with its value.
      const own = words === undefined ? undefined : asks.find((one) => one.includes(words));
      await addStep(tool, { ask: own ?? ask, likely, consumers: [], chain });
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
    const shown = () => promptValues(tool, about, { handles, settled });
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
    const decide = (lookups: Lookups) => {
      const values = shown();
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
    const found = await findMissing(tool, decided.missing, about);
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
    const entities = Object.values(request.entities ?? {}).filter((value) => typeof value === 'string');
    return {
      said: timesFor(tool, said),
      // Without a history, words that only the ask has are the model's own.
      texts: [...new Set([...(earlier.length > 0 ? [message] : []), ...entities, parts.message])],
      earlier,
      handles: new Map(
        handles.map((one) => [one.name, isGiven(one, { ...request, message: saidIn(request, message) })]),
      ),
      timeZone: request.timeZone,
    };
  }
}

/** Whether two steps make the same call, defaults filled in, or the draft is a lookup with a subset of the same arguments. */
function isSame(
  draft: Draft,
  { tool, arguments: values, serves }: Pick<Draft, 'tool' | 'arguments' | 'serves'>,
  { defaults }: Pick<Deciding, 'defaults'>,
): boolean {
  if (draft.tool !== tool) return false;
  const whole = (given: Draft['arguments']) => (defaults ? fillDefaults(tool.inputSchema, given) : given);
  const [one, other] = [whole(draft.arguments), whole(values)];
  // Undefined: the defaults are too large to be filled in.
  if (one !== undefined && sameJson(one, other)) return true;
  const names = Object.keys(draft.arguments);
  const areLookups = draft.serves !== undefined && serves !== undefined && names.length > 0;
  return areLookups && names.every((name) => sameJson(draft.arguments[name], values[name]));
}

/** The other tools that fit. One with effects only if the request makes its name likelier: it may become a producer. */
function othersOf(tool: Tool, ranked: ToolOfAsk['ranked']): Tool[] {
  const isNamed = (one: ToolOfAsk['ranked'][number]) => one.tool.risk === 'low' || one.lift > 1;
  const others = ranked.filter((one) => one.tool !== tool && one.odds > 1 && isNamed(one));
  return others.sort((one, other) => other.odds - one.odds).map((one) => one.tool);
}
