/**
 * A plan by deciding: the asks of the request, a tool for each ask, its producers, and each argument from one source. Every
 * decision is a choice among what exists, and its probability is known.
 */
import type { Tool } from '../../catalog/tool.js';
import { renderPhrase } from '../../language.js';
import type { Choice } from '../../model/choices.js';
import type { SelectedTool } from '../../result.js';
import { oneLine } from '../../visible-text.js';
import { checkPlan } from '../check-plan.js';
import { levelsOf } from '../order-effects.js';
import type { Written } from '../write.js';
import { chooseTools, type ToolOfAsk } from './choose-tools.js';
import type { Draft } from './drafts.js';
import { asksOf, joinAsks } from './join-asks.js';
import { createJsonWriter } from './json-writer.js';
import { createRead, createReadUnasked, type DecideParts, type Deciding, type Read } from './read.js';
import { describe } from './step-prompt.js';
import { decideSteps } from './steps.js';

/**
 * Decides a plan with the selected tools.
 *
 * @returns `unplannable` if no tool serves any ask; `clarification` if a required argument has no source
 * @throws WinnowError errors of the model
 */
export async function decidePlan(tools: readonly Tool[], parts: DecideParts): Promise<Written> {
  const {
    request,
    asked: { text: message },
    context,
    trace,
  } = parts;
  if (tools.length === 0) return { kind: 'unplannable', reason: renderPhrase('noTool', request) };
  const read = createRead(parts);
  const readUnasked = createReadUnasked(parts, read);
  const earlier = (request.history ?? []).map(({ content }) => content);
  const asked = await readAsks(message, { context, read, earlier });
  const { asks, one } = asked;
  trace.add('planning', asks.length === 1 ? 'one thing is asked for' : `${asks.length} things are asked for`, { asks });
  const deciding = { tools, message, read, readUnasked, ...parts };
  const chosen = await chooseForAll(asked, deciding);
  trace.add('planning', 'a tool for each ask', {
    asks: chosen.map(({ ask, tool, ranked }) => ({
      ask,
      tool: tool?.name,
      ranked: ranked.map(({ tool: { name }, ...one }) => ({ name, ...one })),
    })),
  });
  const unserved = chosen.flatMap(({ ask, tool }) => (tool ? [] : [ask]));
  if (unserved.length === chosen.length) return { kind: 'unplannable', reason: renderPhrase('noTool', request) };
  const { drafts, confidence } = await decideSteps(chosen, { ...deciding, one });
  return toWritten(drafts, { unserved, confidence }, deciding);
}

/**
 * From this probability on, a tool confirms an ask that is in doubt. Where names come first, most second parts of development
 * requests have 0.79 to 0.91; tools for what is to be kept have up to 0.66. Where fits come first, the less likely tool of four
 * such requests has 0.46 to 0.67, and of two that ask for one thing 0.32 and 0.42.
 */
const CONFIRMS = { namesFirst: 0.7, fitsFirst: 0.5 };

/** Asks that are in doubt count only if a tool confirms them; else they are a part of the ask before. */
async function chooseForAll({ asks, one, isSure }: Asks, deciding: Deciding): Promise<readonly ToolOfAsk[]> {
  const chosen = await joinAsks(await chooseTools(asks, deciding), { ...deciding, one });
  if (isSure) return chosen;
  const all = asksOf(chosen);
  if (all.length === 1) return chosen.map((only) => ({ ...only, asks: [] }));
  const least = deciding.isOrdered ? CONFIRMS.fitsFirst : CONFIRMS.namesFirst;
  const confirmed = asksOf(chosen.filter(({ tool, probability }) => tool && probability >= least));
  if (confirmed.length === all.length) return chosen;
  deciding.trace.add('planning', 'asks that no tool confirms are parts of others', { asks: all, confirmed });
  if (confirmed.length === 0) return chooseTools([deciding.message], deciding);
  const whole = confirmed.length > 1 ? wholeAsks(all, confirmed) : undefined;
  const kept = chosen.filter(({ ask }) => confirmed.includes(ask));
  return kept.map((one) => ({ ...one, ask: whole?.get(one.ask) ?? deciding.message }));
}

/** Each confirmed ask with those behind it that are not; the first one also with those before it. */
function wholeAsks(asks: readonly string[], confirmed: readonly string[]): ReadonlyMap<string, string> {
  const starts = confirmed.map((ask, place) => (place === 0 ? 0 : asks.indexOf(ask)));
  return new Map(confirmed.map((ask, place) => [ask, asks.slice(starts[place], starts[place + 1]).join('; ')]));
}

const COUNTS: readonly Choice[] = ['1', '2', '3', '4', '5', '6', '7', '8'].map((text) => ({ text, ends: 'plain' }));
const OPENING = '{"count": ';
const MAX_ASKS = 24;
const MAX_ASK_TOKENS = 80;
/**
 * From the probability `single` of "one thing" on, the message itself is the ask; the model's list decides on any higher
 * number. From `doubted` on, the list is in doubt. Of 119 development requests without things to be kept, 66 name several
 * things: 39 of these lie below 0.7 and 60 below 0.85, of the others 2 and 5. Of 29 with things to be kept, which ask for
 * one, 4 and 10 do; two calls of one tool are the mistake there.
 */
const PROBABILITY = { doubted: 0.7, single: 0.85 };

interface Asks {
  readonly asks: readonly string[];
  /** Probability that the message asks for one thing. */
  readonly one: number;
  /** Whether the model is sure of their number. */
  readonly isSure: boolean;
}

/**
 * One reading counts the asks; the model writes them out only if they are several or need the history.
 *
 * @param earlier messages before it, oldest first
 * @returns the message itself if it asks for one thing
 */
function readAsks(
  message: string,
  { context, earlier, read }: { context: string; earlier: readonly string[]; read: Read },
): Promise<Asks> {
  return read('split-asks', { context, message }, OPENING, async (open) => {
    const writer = createJsonWriter(open);
    const ranked = await writer.rank(COUNTS, COUNTS.length);
    const one = ranked.find(({ name }) => name === '1')?.probability ?? 0;
    // "And tomorrow?" is complete only with the earlier messages.
    const isSingle = one >= (earlier.length === 0 ? PROBABILITY.single : PROBABILITY.doubted);
    if (isSingle && earlier.length === 0) return { asks: [message], one, isSure: true };
    const count = isSingle ? '1' : ranked.find(({ name }) => name !== '1')?.name;
    // The count is decided, so the list does not end behind the first one: of 226 development requests two more are right.
    const least = isSingle ? 1 : 2;
    writer.force(`${count}, "asks": ["`);
    const asks: string[] = [];
    for (let isOpen = true; isOpen && asks.length < MAX_ASKS; ) {
      const { text, after } = await writer.writeText(MAX_ASK_TOKENS);
      asks.push(text.trim());
      const isShort = asks.length < least;
      const endings = ['", "', '"]'].map((text): Choice => ({ text, ends: 'itself' }));
      const [next] = isShort || after ? [] : await writer.rank(endings);
      isOpen = isShort || after.startsWith(',') || next?.name === '", "';
      writer.force('", "');
    }
    const separate = separateOf(asks, earlier);
    const isSplit = separate.length > 1 || (earlier.length > 0 && separate.length > 0);
    return {
      asks: isSplit ? separate : [message],
      one,
      isSure: !isSplit || isSingle || one < PROBABILITY.doubted,
    };
  });
}

/** Removes asks whose words occur in a row in another ask, and asks that repeat an earlier message. */
function separateOf(asks: readonly string[], earlier: readonly string[]): string[] {
  const known = earlier.map(inWords);
  const said = asks.map(inWords);
  return asks.filter((_, place) => {
    const ask = said[place] ?? '';
    const isFuller = (other: string, at: number) => other.includes(ask) && (other !== ask || at < place);
    return ask !== '  ' && !said.some(isFuller) && !known.includes(ask);
  });
}

function inWords(text: string): string {
  return ` ${(text.toLowerCase().match(/[\p{Script=Latin}\p{N}]+|\p{L}/gu) ?? []).join(' ')} `;
}

async function toWritten(
  drafts: readonly Draft[],
  { unserved, confidence }: { unserved: string[]; confidence: number },
  { request, tools, defaults, trace }: Deciding,
): Promise<Written> {
  const missing = drafts.flatMap(({ tool, missing }) => missing.map((name) => ({ tool, name })));
  if (missing.length > 0) {
    const what = missing.map(({ tool, name }) => describe(tool, name));
    const question = renderPhrase('missing', request, { what: [...new Set(what)].join('; ') });
    return { kind: 'clarification', question, missing: [...new Set(missing.map(({ name }) => name))], unserved };
  }
  const steps = drafts.map(({ tool, missing: _, serves: __, taken: ___, ...step }) => ({ ...step, tool: tool.name }));
  const checked = await checkPlan(steps, new Map(drafts.map(({ tool }) => [tool.name, tool])), { defaults });
  if (!checked.ok) {
    trace.add('planning', 'the decided plan does not pass its check', { issues: checked.issues });
    return { kind: 'invalid', issues: checked.issues, steps };
  }
  const added = drafts.filter(
    ({ tool }, place) => !tools.includes(tool) && drafts.findIndex((other) => other.tool === tool) === place,
  );
  const sure = Math.round(confidence * 10_000) / 10_000;
  return {
    kind: 'plan',
    goal: oneLine(request.message),
    steps: checked.steps,
    levels: levelsOf(checked.steps),
    unserved,
    confidence: sure,
    added: added.map(
      ({ tool: { name }, serves, purpose }): SelectedTool =>
        serves
          ? { name, via: 'producer', serves: `${serves.tool.name}.${serves.argument}` }
          : { name, via: 'model', serves: purpose },
    ),
  };
}
