/** The first stage: the model names tools, by list or by rank, on the rung of the ladder that fits. */
import type { Tool } from '../catalog/tool.js';
import { toWinnowError } from '../errors.js';
import { renderContext, searchText } from '../prompts/context.js';
import { summaryBudget } from './budget.js';
import { type Answer, answerWay, PRIORITY, type SelectionPrompt, type Stage, type StageContext } from './candidates.js';
import { climb, fittingSheet, SHORT_STYLES, SHORTLIST_TOOLS, type Sheet } from './ladder.js';
import { askForList } from './list.js';
import { askForRank } from './rank.js';

/** Turns chosen names into candidates; the next best stay in the answer for the stage `fill`. */
export const modelChoice: Stage = {
  name: 'model',
  async apply(candidates, context) {
    const { answer, leftOut } = await ask(context);
    const chosen = answer.named.slice(0, answer.chosen).map(({ tool, via, probability }, place) => ({
      tool,
      priority: PRIORITY.chosen,
      selected: { name: tool.name, via, rank: place + 1, ...probabilityOf(probability) },
    }));
    return { tools: [...candidates.tools, ...chosen], answer, leftOut };
  },
};

/** The probability for the result, with four decimals. */
export function probabilityOf(probability: number | undefined): { probability?: number } {
  return probability === undefined ? {} : { probability: Math.round(probability * 10_000) / 10_000 };
}

export const NO_TOOL: Answer = { named: [], chosen: 0, none: { says: true }, reason: '' };

/**
 * Asks once if descriptions fit. After names alone or shards a second look shows descriptions of the likeliest tools and
 * the best keyword matches. The model reads shards in parallel; the selection fails only if all of them fail.
 *
 * @throws WinnowError if no answer is valid, even after a repair
 */
async function ask(context: StageContext): Promise<{ answer: Answer; leftOut: number }> {
  const { view, request, trace } = context.call;
  const budget = { model: context.parts.model, summaryTokens: summaryBudget(context.parts, context.call) };
  const { rung, sheets, leftOut } = await climb(view, searchText(request), budget);
  const read = sheets.reduce((sum, sheet) => sum + sheet.tools.length, 0);
  const parts = sheets.length > 1 ? `, in ${sheets.length} parts` : '';
  trace.add('summaries', `choosing among ${read} tools, a line each${parts}`, {
    rung,
    tools: view.tools.length,
    leftOut,
  });
  const looks = await Promise.allSettled(sheets.map((sheet) => askAbout(sheet, context)));
  const answers = looks.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
  const failed = looks.flatMap((one) => (one.status === 'rejected' ? [one.reason] : []));
  const [first = NO_TOOL] = answers;
  if (answers.length === 0 && failed.length > 0) throw failed[0];
  if (failed.length > 0) trace.add('summaries', `${failed.length} of ${sheets.length} parts failed`);
  const named = answers.map((answer) => answer.named.map(({ tool }) => tool));
  const isClear = sheets.length <= 1 && sheets[0]?.style !== 'names';
  if (isClear || named.flat().length === 0) return { answer: first, leftOut };
  const keywords = (await context.keywords()).map(({ tool }) => tool);
  const likeliest = interleaved([...named, keywords]).slice(0, SHORTLIST_TOOLS);
  const sheet = fittingSheet(likeliest, budget, SHORT_STYLES);
  const isOne = answers.length === 1;
  if (isOne && (sheet.style === 'names' || sheet.tools.length === view.tools.length)) return { answer: first, leftOut };
  trace.add('summaries', `a second look at ${sheet.tools.length} of the ${likeliest.length} likeliest tools`);
  try {
    return { answer: await askAbout(sheet, context), leftOut };
  } catch (error) {
    const failure = toWinnowError(error);
    if (failure.code === 'cancelled' || !isOne) throw failure;
    trace.add('selection', `the second look failed, so the first stands: ${failure.code}`);
    return { answer: first, leftOut };
  }
}

function interleaved(lists: readonly (readonly Tool[])[]): Tool[] {
  const longest = Math.max(0, ...lists.map(({ length }) => length));
  const places = Array.from({ length: longest }, (_, place) => lists.flatMap((list) => list[place] ?? []));
  return [...new Set(places.flat())];
}

function askAbout(sheet: Sheet, context: StageContext): Promise<Answer> {
  const ask = answerWay(context.parts) === 'rank' ? askForRank : askForList;
  return ask(sheet, renderPrompt(sheet, context), context);
}

function renderPrompt(sheet: Sheet, { call, parts }: StageContext): SelectionPrompt {
  const { prompt, options } = parts;
  const values = {
    none: sheet.labels.none,
    summaries: sheet.text,
    context: renderContext(call.request, options),
    message: call.request.message,
  };
  const about = {
    module: 'selection/select',
    promptName: prompt.name,
    promptHash: prompt.hash,
    variables: { ...values, summaries: `${sheet.tools.length} tools, ${sheet.style}` },
    ...call.facts,
  };
  return { prompt: prompt.render(values), about };
}
