/** Turns the tools of the asks into the steps of a plan, each with its producers, once for each call that the request wants. */
import { listOf } from '../../catalog/schema/json.js';
import { fittedSchemas } from '../../catalog/schema/normalise.js';
import type { Tool } from '../../catalog/tool.js';
import type { SourceName } from '../../result.js';
import { addStep } from './add-step.js';
import type { ToolOfAsk } from './choose-tools.js';
import { nearOf, type Progress } from './drafts.js';
import { readKnown } from './known.js';
import type { Deciding } from './read.js';
import type { Repeated } from './served-values.js';
import { folded, wordsOf } from './sources.js';
import type { About, Adding, Chain } from './step.js';

/** @see About. `asks`: what the model wrote as several asks for the tool */
type AboutAsk = Pick<About, 'ask' | 'mayGuess'> & { readonly asks: readonly string[] };

const MAX_CALLS = 24;
/** Of several asks with tools of their own, each is for one thing about as surely as this, whatever the request is. */
const OF_SEVERAL = 0.95;
/** Sources of values that are as the request says them. */
const AS_SAID: ReadonlySet<SourceName> = new Set(['request', 'step']);

/**
 * The steps of the asks that have a tool.
 *
 * @param parts.one probability that the request asks for one thing, between 0 and 1
 */
export async function decideSteps(chosen: readonly ToolOfAsk[], parts: Deciding & { one: number }): Promise<Progress> {
  const progress: Progress = { drafts: [], confidence: Math.min(...chosen.map(({ probability }) => probability)) };
  const one = chosen.length > 1 ? Math.max(parts.one, OF_SEVERAL) : parts.one;
  const adding = { ...parts, one, progress, known: await readKnown(chosen, progress.drafts, parts) };
  for (const { ask, asks = [], tool, ranked } of chosen) {
    if (!tool) continue;
    const about = { ask, asks };
    const near = nearOf(tool, ranked);
    const isFound = near.length > 0 && (await addFirstGiven([tool, ...near], about, adding));
    if (!isFound) await addAsk(tool, { ...about, mayGuess: true }, adding);
  }
  return progress;
}

/** Adds the steps of the first tool whose required arguments all have a source. @returns whether there is one */
async function addFirstGiven(
  tools: readonly Tool[],
  about: Omit<AboutAsk, 'mayGuess'>,
  adding: Adding,
): Promise<boolean> {
  const { progress } = adding;
  const before = { steps: progress.drafts.length, confidence: progress.confidence };
  for (const [place, tool] of tools.entries()) {
    await addAsk(tool, { ...about, mayGuess: false }, adding);
    const added = progress.drafts.slice(before.steps);
    const needed = listOf(fittedSchemas(tool).input.required).map(String);
    // A tool that needs nothing would always do.
    const isAsked = added.some((draft) => draft.tool === tool && needed.some((name) => draft.from[name] === 'request'));
    if (added.every(({ missing }) => missing.length === 0) && (place === 0 || isAsked)) return true;
    progress.drafts.length = before.steps;
    progress.confidence = before.confidence;
  }
  return false;
}

async function addAsk(tool: Tool, { asks, ...about }: AboutAsk, adding: Adding): Promise<void> {
  const { drafts } = adding.progress;
  const before = drafts.length;
  const calls = await addCalls(tool, { ...about, asks }, adding);
  const added = drafts.slice(before);
  // What is not in words of the request may differ, too: then each ask is a call, unless one call has a list of them.
  const areWords = added.every(({ from }) => Object.values(from).every((one) => AS_SAID.has(one)));
  const isListed = added.some((draft) =>
    Object.values(draft.arguments).some((one) => Array.isArray(one) && one.length > 1),
  );
  if (calls > 1 || asks.length === 0 || areWords || isListed) return;
  drafts.length = before;
  for (const ask of asks) await addCalls(tool, { ...about, ask, asks: [] }, adding);
}

/** Adds a step for each call of the tool that an ask wants. @returns their number */
async function addCalls(tool: Tool, { ask, asks, ...about }: AboutAsk, adding: Adding): Promise<number> {
  const calls: Repeated[] = [];
  let found: Repeated | undefined;
  const { drafts } = adding.progress;
  do {
    const before = drafts.length;
    const chain: Chain = { earlier: [...calls], roles: [] };
    const words = found && wordsOf(found.next);
    // A further call has an ask of its own if the model wrote one with its value.
    const own = words === undefined ? undefined : asks.find((one) => one.includes(words));
    await addStep(tool, { ...about, ask: own ?? ask, whole: ask, consumers: [], chain }, adding);
    found = chain.repeated;
    if (found && isLeftBehind(found, adding)) drafts.length = before;
    if (found) calls.push(found);
  } while (found && calls.length < MAX_CALLS);
  return calls.length + 1;
}

/** Whether the call has its value from an earlier message, and the message has another one in its place: "and in Linz?". */
function isLeftBehind({ words, next }: Repeated, { request: { message, history = [] } }: Adding): boolean {
  const said = folded(message);
  const earlier = folded(history.map(({ content }) => content).join('\n'));
  const isEarlier = earlier.includes(folded(words)) && !said.includes(folded(words));
  return isEarlier && said.includes(folded(wordsOf(next)));
}
