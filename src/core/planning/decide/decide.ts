/**
 * A plan by deciding: the asks of the request, a tool for each ask, its producers, and each argument from one source. Every
 * decision is a choice among what exists, and its probability is known.
 */
import type { Tool } from '../../catalog/tool.js';
import { renderPhrase } from '../../language.js';
import { oneLine } from '../../visible-text.js';
import type { Written } from '../write.js';
import { chooseTools } from './choose-tools.js';
import { COUNTS, joinAsksOfOneCall } from './count-calls.js';
import { createJsonWriter } from './json-writer.js';
import { createRead, createReadUnasked, type DecideParts, type Read } from './read.js';
import { decideSteps } from './steps.js';

/**
 * Decides a plan with the selected tools.
 *
 * @returns `unplannable` if no tool serves any ask; `clarification` if a required argument has no source
 * @throws WinnowError errors of the model
 */
export async function decidePlan(tools: readonly Tool[], parts: DecideParts): Promise<Written> {
  const { request, context, trace } = parts;
  if (tools.length === 0) return { kind: 'unplannable', reason: renderPhrase('noTool', request) };
  const message = oneLine(request.message);
  const read = createRead(parts);
  const readUnasked = createReadUnasked(parts, read);
  const earlier = (request.history ?? []).map(({ content }) => content);
  const asks = await readAsks(message, { context, read, earlier });
  trace.add('planning', asks.length === 1 ? 'one thing is asked for' : `${asks.length} things are asked for`, { asks });
  const deciding = { tools, message, read, readUnasked, ...parts };
  const chosen = await joinAsksOfOneCall(await chooseTools(asks, deciding), deciding);
  trace.add('planning', 'a tool for each ask', {
    asks: chosen.map(({ ask, tool, ranked }) => ({
      ask,
      tool: tool?.name,
      ranked: ranked.map(({ tool: { name }, ...one }) => ({ name, ...one })),
    })),
  });
  return decideSteps(chosen, deciding);
}

const OPENING = '{"count": ';
const MAX_ASKS = 24;
const MAX_ASK_TOKENS = 80;
/**
 * From this probability of "one thing" on, the message itself is the ask. The model's list decides on any higher number. Of 22
 * development requests of NESTFUL, those that name several things (17) have at most 0.58, except one with 0.71; those that
 * name one (5) have 0.91 and more, except one with 0.57 (`test/bench/plans.mjs --set nestful-given --half learn`).
 */
const SINGLE = 0.7;

/**
 * One reading counts the asks; the model writes them out only if they are several or need the history.
 *
 * @param earlier messages before it, oldest first
 * @returns the message itself if it asks for one thing
 */
function readAsks(
  message: string,
  { context, earlier, read }: { context: string; earlier: readonly string[]; read: Read },
): Promise<string[]> {
  return read('split-asks', { context, message }, OPENING, async (open) => {
    const writer = createJsonWriter(open);
    const ranked = await writer.rank(COUNTS, COUNTS.length);
    const isSingle = ranked.some(({ name, probability }) => name === '1' && probability >= SINGLE);
    // "And tomorrow?" is complete only with the earlier messages.
    if (isSingle && earlier.length === 0) return [message];
    const count = isSingle ? '1' : ranked.find(({ name }) => name !== '1')?.name;
    writer.force(`${count}, "asks": ["`);
    const asks: string[] = [];
    for (let isOpen = true; isOpen && asks.length < MAX_ASKS; ) {
      const { text, after } = await writer.writeText(MAX_ASK_TOKENS);
      asks.push(text.trim());
      const [next] = after ? [] : await writer.rank(['", "', '"]'].map((ending) => ({ text: ending, ends: 'itself' })));
      isOpen = after.startsWith(',') || next?.name === '", "';
      writer.force('", "');
    }
    const separate = separateOf(asks, earlier);
    return separate.length > 1 || (earlier.length > 0 && separate.length > 0) ? separate : [message];
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
