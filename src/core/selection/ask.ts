/** One round of asking the model, whichever way suits it, on whichever rung of the ladder the summaries fit. */
import { missingProducers } from '../catalog/producers.js';
import { oneLine } from '../catalog/summary.js';
import type { Tool } from '../catalog/tool.js';
import { toWinnowError, WinnowError } from '../errors.js';
import type { CallAbout, Prompt } from '../model/model.js';
import type { Dropped } from '../result.js';
import type { RankedTool } from '../search/rank.js';
import type { Answer } from './answer.js';
import { explainChoice } from './explain.js';
import { climb, fittingSheet, type LadderLimits } from './ladder.js';
import { askForList } from './list-answer.js';
import { askForRank } from './rank-answer.js';
import { summaryRoom } from './room.js';
import { answerWay, type SelectionCall, type SelectionParts } from './selection-call.js';
import type { Sheet } from './sheet.js';
import { renderContext, searchText } from './user-part.js';

export interface AskCall extends SelectionCall {
  /** What keywords find, best first: a second opinion on the order. Found when it is asked for. */
  keywords: () => readonly RankedTool[];
  /** Told of each answer, also of one that is refused, which of its names are no tool that was shown, or stand there twice. */
  onDropped: (names: readonly Dropped[]) => void;
}

/** `leftOut`: visible tools that the model was not shown. @throws WinnowError when no usable answer comes, also after a repair. */
export async function ask(call: AskCall, parts: SelectionParts): Promise<Answer & { leftOut: number }> {
  const { view, request, trace } = call;
  const limits = {
    summaryTokens: Math.min(parts.options.summaryTokens, summaryRoom(parts, call)),
    summaryOrder: parts.options.summaryOrder,
    shortlistTools: parts.options.shortlistTools,
  };
  const footing = climb(view, searchText(request), { limits, model: parts.model });
  trace.add('summaries', `rung "${footing.rung}"`, {
    rung: footing.rung,
    tools: view.tools.length,
    leftOut: footing.leftOut,
  });
  const [sheet] = footing.sheets;
  const { leftOut } = footing;
  if (sheet && footing.sheets.length === 1) {
    const answer = await askAbout(sheet, call, parts);
    const isLast = sheet.style !== 'names' || !parts.options.secondLook || answer.named.length === 0;
    return { ...(isLast ? answer : await lookAgain(answer, limits, { call, parts })), leftOut };
  }
  const winners = await askShards(footing.sheets, call, parts);
  const tools = bestFirst(winners.map(toolsNamed));
  const last = fittingSheet(tools, { limits, model: parts.model, styles: FINAL_STYLES });
  const cut = last.tools.length < tools.length ? `, which has room for ${last.tools.length}` : '';
  trace.add('summaries', `${footing.sheets.length} shards named ${tools.length} tools for the final choice${cut}`);
  const answer = tools.length === 0 ? (winners[0] ?? NOTHING) : await askAbout(last, call, parts);
  return { ...answer, leftOut };
}

/** What was chosen by names alone: of the likeliest, and of those that keywords find, the model is shown what they do. */
async function lookAgain(
  first: Answer,
  limits: LadderLimits,
  { call, parts }: { call: AskCall; parts: SelectionParts },
): Promise<Answer> {
  const { trace, keywords, view } = call;
  const likeliest = bestFirst([toolsNamed(first), keywords().map(({ tool }) => tool)]).slice(0, limits.shortlistTools);
  const sheet = fittingSheet(likeliest, { limits, model: parts.model, styles: FINAL_STYLES });
  if (sheet.style === 'names' || sheet.tools.length === view.tools.length) return first;
  trace.add('summaries', `${sheet.tools.length} tools are looked at once more, with what they do`);
  try {
    return await askAbout(sheet, call, parts);
  } catch (error) {
    const failure = toWinnowError(error);
    if (failure.code === 'cancelled') throw failure;
    trace.add('selection', `the second look failed, so the first stands: ${failure.code}`);
    return first;
  }
}

const FINAL_STYLES = ['sentence', 'names'] as const;

const NOTHING: Answer = { named: [], chosen: 0, none: { says: true }, reason: '' };

function toolsNamed({ named }: Answer): Tool[] {
  return named.map(({ tool }) => tool);
}

/** The first of each list, then the second of each, each tool once: no list is nearer to the end than another. */
function bestFirst(lists: readonly (readonly Tool[])[]): Tool[] {
  const longest = Math.max(...lists.map(({ length }) => length));
  const inTurn = Array.from({ length: longest }, (_, place) => lists.flatMap((list) => list[place] ?? [])).flat();
  return [...new Set(inTurn)];
}

/** A shard that fails is left out and told; only when all fail, the selection does. */
async function askShards(sheets: readonly Sheet[], call: AskCall, parts: SelectionParts): Promise<Answer[]> {
  const settled = await Promise.allSettled(sheets.map((sheet) => askAbout(sheet, call, parts)));
  const answers = settled.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
  const failed = settled.flatMap((one) => (one.status === 'rejected' ? [one.reason] : []));
  if (answers.length === 0) throw failed[0];
  if (failed.length > 0) call.trace.add('summaries', `${failed.length} of ${sheets.length} shards failed`);
  return answers;
}

async function askAbout(sheet: Sheet, call: AskCall, parts: SelectionParts): Promise<Answer> {
  const { model, options } = parts;
  const { request, usage, signal, trace, onDropped } = call;
  const { prompt, about } = render(sheet, call, parts);
  if (answerWay(parts) === 'rank') {
    const leadUp = options.producers ? producersOf(call) : () => [];
    const answer = await askForRank(sheet, {
      model,
      prompt,
      about,
      core: options.core,
      readings: options.readings,
      keywords: call.keywords().filter(({ tool }) => sheet.tools.includes(tool)),
      keywordWeight: options.keywordWeight,
      wording: options.twins ? searchText(request) : undefined,
      leadUp,
      usage,
      signal,
    });
    const { explain } = parts;
    return options.reasons
      ? explainChoice(answer, { model, chosenWith: prompt, explain, about, usage, trace, signal })
      : answer;
  }
  const maxTools = request.maxTools ?? options.maxTools;
  const onRepair = (issues: readonly string[]) => trace.add('selection', 'the answer is repaired', { issues });
  const answer = await askForList(sheet, {
    model,
    prompt,
    about,
    repair: parts.repair,
    maxTools,
    usage,
    signal,
    onRepair,
    onDropped,
  });
  if (!answer.ok) {
    throw new WinnowError('model_failed', `the answer is not usable, also after a repair: ${answer.issues.join('; ')}`);
  }
  return answer.value;
}

function producersOf({ view, request }: SelectionCall): (tool: Tool) => Tool[] {
  return (tool) => missingProducers(tool, new Set(), { view, request }).map((supplied) => supplied.tool);
}

function render(
  sheet: Sheet,
  { request, facts }: SelectionCall,
  { prompt, options }: SelectionParts,
): { prompt: Prompt; about: CallAbout } {
  const values = {
    none: sheet.labels.none,
    summaries: sheet.text,
    context: renderContext(request, options),
    message: oneLine(request.message),
  };
  const about: CallAbout = {
    module: 'selection/select',
    promptName: prompt.name,
    promptHash: prompt.hash,
    variables: { ...values, summaries: `${sheet.tools.length} tools, ${sheet.style}` },
    ...facts,
  };
  return { prompt: prompt.render(values), about };
}
