/** The first stage: the model names tools, by list or by rank, on whichever rung of the ladder the summaries fit. */
import { missingProducers } from '../catalog/producers.js';
import { oneLine } from '../catalog/summary.js';
import type { Tool } from '../catalog/tool.js';
import { toWinnowError, WinnowError } from '../errors.js';
import type { CallAbout, Prompt } from '../model/model.js';
import { renderContext, searchText } from '../prompts/context.js';
import { summaryBudget } from './budget.js';
import { type Answer, answerWay, PRIORITY, type Stage, type StageContext } from './candidates.js';
import { climb, fittingSheet, SHORT_STYLES, SHORTLIST_TOOLS, type Sheet } from './ladder.js';
import { askForList } from './list.js';
import { askForRank } from './rank.js';

/** Chosen names become candidates; the next best stay in the answer, where `fill` takes them. */
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

/**
 * The producers of a tool that are not `present`, in the order of their use, for one request.
 *
 * @param answer its probabilities decide between producers of the same value
 */
export function missingFor({ call: { view, request } }: StageContext, answer?: Answer) {
  const probabilities = new Map(answer?.named.map(({ tool, probability = 0 }) => [tool.name, probability]));
  const context = { view, request, probabilityOf: (name: string) => probabilities.get(name) ?? 0 };
  return (tool: Tool, present: ReadonlySet<string> = new Set()) => missingProducers(tool, present, context);
}

/** As the result shows it: four decimals. */
export function probabilityOf(probability: number | undefined): { probability?: number } {
  return probability === undefined ? {} : { probability: Math.round(probability * 10_000) / 10_000 };
}

export const NOTHING: Answer = { named: [], chosen: 0, none: { says: true }, reason: '' };

/**
 * One look at all summaries where descriptions fit. Behind names alone or shards a second look shows what the likeliest
 * tools and the best keyword matches do. Shards are read side by side; only when all fail, the selection fails.
 *
 * @throws WinnowError when no usable answer comes, also after a repair.
 */
async function ask(context: StageContext): Promise<{ answer: Answer; leftOut: number }> {
  const { view, request, trace } = context.call;
  const budget = { model: context.parts.model, summaryTokens: summaryBudget(context.parts, context.call) };
  const { rung, sheets, leftOut } = climb(view, searchText(request), budget);
  trace.add('summaries', `rung "${rung}"`, { rung, tools: view.tools.length, leftOut });
  const looks = await Promise.allSettled(sheets.map((sheet) => askAbout(sheet, context)));
  const answers = looks.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
  const failed = looks.flatMap((one) => (one.status === 'rejected' ? [one.reason] : []));
  const [first = NOTHING] = answers;
  if (answers.length === 0 && failed.length > 0) throw failed[0];
  if (failed.length > 0) trace.add('summaries', `${failed.length} of ${sheets.length} shards failed`);
  const named = answers.map((answer) => answer.named.map(({ tool }) => tool));
  const isClear = sheets.length <= 1 && sheets[0]?.style !== 'names';
  if (isClear || named.flat().length === 0) return { answer: first, leftOut };
  const likeliest = inTurn([...named, context.keywords().map(({ tool }) => tool)]).slice(0, SHORTLIST_TOOLS);
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

/** The first of each list, then the second of each, each tool once. */
function inTurn(lists: readonly (readonly Tool[])[]): Tool[] {
  const longest = Math.max(0, ...lists.map(({ length }) => length));
  const places = Array.from({ length: longest }, (_, place) => lists.flatMap((list) => list[place] ?? []));
  return [...new Set(places.flat())];
}

async function askAbout(sheet: Sheet, context: StageContext): Promise<Answer> {
  const { call, parts } = context;
  const { request, usage, signal, trace } = call;
  const question = { ...renderPrompt(sheet, context), model: parts.model, usage, signal };
  if (answerWay(parts) === 'rank') {
    const missing = missingFor(context);
    const shown = new Set(sheet.tools);
    const keywords = context.keywords().filter(({ tool }) => shown.has(tool));
    return askForRank(sheet, { ...question, keywords, leadUp: (tool) => missing(tool).map((one) => one.tool) });
  }
  const answer = await askForList(sheet, {
    ...question,
    repair: parts.repair,
    maxTools: request.maxTools ?? parts.options.maxTools,
    onRepair: (issues) => trace.add('selection', 'the answer is repaired', { issues }),
    onDropped: context.drop,
  });
  if (answer.ok) return answer.value;
  throw new WinnowError('model_failed', `the answer is not usable, also after a repair: ${answer.issues.join('; ')}`);
}

function renderPrompt(sheet: Sheet, { call, parts }: StageContext): { prompt: Prompt; about: CallAbout } {
  const { prompt, options } = parts;
  const values = {
    none: sheet.labels.none,
    summaries: sheet.text,
    context: renderContext(call.request, options),
    message: oneLine(call.request.message),
  };
  const about: CallAbout = {
    module: 'selection/select',
    promptName: prompt.name,
    promptHash: prompt.hash,
    variables: { ...values, summaries: `${sheet.tools.length} tools, ${sheet.style}` },
    ...call.facts,
  };
  return { prompt: prompt.render(values), about };
}
