/** Stage one: from a request and what its caller sees to the few tools whose schemas are loaded. It never fails the request. */
import type { Rule } from '../catalog/rule.js';
import type { View } from '../catalog/scope.js';
import { oneLine } from '../catalog/summary.js';
import type { Tool } from '../catalog/tool.js';
import type { Options } from '../config/options.js';
import { toWinnowError } from '../errors.js';
import type { CallAbout, Model, Prompt, Usage } from '../model/model.js';
import type { PromptTemplate } from '../prompts/prompt-template.js';
import type { Request } from '../request.js';
import type { SelectedTool, Selection } from '../result.js';
import { keywordIndexOf } from '../search/keyword-index.js';
import type { Trace } from '../trace.js';
import type { Answer } from './answer.js';
import { compose } from './compose.js';
import { fallbackTools } from './fallback.js';
import { climb } from './ladder.js';
import { askForList } from './list-answer.js';
import { missingProducers } from './producers/add-producers.js';
import { createProducerContext } from './producers/producer-context.js';
import { askForRank } from './rank-answer.js';
import { createSheet, type Sheet } from './sheet.js';
import { renderContext } from './user-part.js';

export interface SelectionParts {
  model: Model;
  options: Options;
  rules: readonly Rule[];
  prompt: PromptTemplate<'none' | 'summaries' | 'context' | 'message'>;
  repair: PromptTemplate<'system' | 'user' | 'answer' | 'issues'>;
  /** Tokens of a tool's full schema. */
  schemaTokens: (tool: Tool) => number;
}

export interface SelectionCall {
  view: View;
  request: Request;
  usage: Usage;
  trace: Trace;
  signal: AbortSignal | undefined;
  requestId?: string | undefined;
}

const MAX_KEYWORD_MATCHES = 20;

export async function select(call: SelectionCall, parts: SelectionParts): Promise<Selection> {
  const { view, trace } = call;
  const all = passthrough(call, parts);
  if (all) return all;
  let answer: Answer;
  try {
    answer = await ask(call, parts);
  } catch (error) {
    const failure = toWinnowError(error);
    if (failure.code === 'cancelled' && call.signal?.aborted) throw failure;
    return fallBack(call, parts, `${failure.code}: ${failure.message}`);
  }
  if (answer.none.says) {
    trace.add('selection', 'the model found that no tool fits', { none: answer.none.probability });
  }
  const { tools, dropped } = compose({
    view,
    request: call.request,
    answer,
    rules: parts.rules,
    options: answer.none.says ? { ...parts.options, fill: false } : parts.options,
    keywordMatches: () =>
      keywordIndexOf(view)
        .search(call.request.message, MAX_KEYWORD_MATCHES)
        .map((match) => match.tool),
    schemaTokens: parts.schemaTokens,
  });
  const lost = [...answer.dropped, ...dropped];
  if (lost.length > 0) trace.add('selection', `${lost.length} names were dropped`, { dropped: lost.slice(0, 20) });
  const mode = tools.length === 0 ? 'none' : 'selected';
  return { mode, reason: answer.reason, tools: [...tools], dropped: lost, leftOut: 0 };
}

/** Few tools, or small ones: all are taken, and the trace says so. */
function passthrough(
  { view, request, trace }: SelectionCall,
  { options, schemaTokens }: SelectionParts,
): Selection | undefined {
  const few = view.tools.length <= options.passthroughTools;
  if (!few && !fitTogether(view.tools, options.passthroughTokens, schemaTokens)) return undefined;
  const reason = few
    ? `${view.tools.length} tools are visible: selection is skipped up to ${options.passthroughTools}`
    : 'all schemas fit the budget';
  trace.add('selection', reason);
  const names = view.tools.map((tool) => tool.name);
  const required = new Set(request.require ?? []);
  const tools = names.map((name): SelectedTool => ({ name, via: required.has(name) ? 'required' : 'all' }));
  return { mode: 'passthrough', reason, tools, dropped: [], leftOut: 0 };
}

function fitTogether(tools: readonly Tool[], budget: number, schemaTokens: (tool: Tool) => number): boolean {
  let tokens = 0;
  for (const tool of tools) {
    tokens += schemaTokens(tool);
    if (tokens > budget) return false;
  }
  return true;
}

async function ask(call: SelectionCall, parts: SelectionParts): Promise<Answer> {
  const { view, request, trace } = call;
  const query = [request.message, request.intent ?? ''].join(' ');
  const limits = {
    summaryTokens: Math.min(parts.options.summaryTokens, Math.floor(parts.model.limits.contextTokens * 0.6)),
    shortlistTools: parts.options.shortlistTools,
  };
  const footing = climb(view, query, { limits, model: parts.model });
  trace.add('summaries', `rung "${footing.rung}"`, {
    rung: footing.rung,
    tools: view.tools.length,
    leftOut: footing.leftOut,
  });
  const [sheet] = footing.sheets;
  if (sheet && footing.sheets.length === 1) return askAbout(sheet, call, parts);
  const winners = await Promise.all(footing.sheets.map((one) => askAbout(one, call, parts)));
  const tools = winners.flatMap((answer) => answer.named.map((named) => named.tool));
  const last = createSheet(tools, { style: 'sentence', stable: false });
  trace.add('summaries', `${footing.sheets.length} shards named ${tools.length} tools for the final choice`);
  return askAbout(last, call, parts);
}

async function askAbout(sheet: Sheet, call: SelectionCall, parts: SelectionParts): Promise<Answer> {
  const { model, options } = parts;
  const { usage, signal, trace } = call;
  const way = options.answer === 'auto' ? model.preferredAnswer : options.answer;
  const { prompt, about } = render(sheet, call, parts);
  if (way === 'rank') {
    const leadUp = options.producers ? producersOf(call) : () => [];
    return askForRank(sheet, {
      model,
      prompt,
      about,
      core: options.core,
      complements: options.complements,
      leadUp,
      usage,
      signal,
    });
  }
  const maxTools = call.request.maxTools ?? options.maxTools;
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
  });
  if (!answer.ok) throw new Error(`the answer is not usable, also after a repair: ${answer.issues.join('; ')}`);
  return answer.value;
}

function producersOf({ view, request }: SelectionCall): (tool: Tool) => Tool[] {
  const context = createProducerContext(view, request);
  return (tool) => missingProducers(tool, new Set(), context).map((supplied) => supplied.tool);
}

function render(
  sheet: Sheet,
  { request, requestId }: SelectionCall,
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
    ...(requestId === undefined ? {} : { requestId }),
  };
  return { prompt: prompt.render(values), about };
}

function fallBack(
  { view, request, trace }: SelectionCall,
  { model, options, schemaTokens }: SelectionParts,
  reason: string,
): Selection {
  const room = Math.floor(model.limits.contextTokens * 0.6);
  const budget = { schemaTokens: Math.min(room, Math.max(options.schemaTokens, room)), tools: model.limits.tools };
  const { tools, leftOut } = fallbackTools(view, request.message, { budget, schemaTokens });
  trace.add('fallback', `selection failed (${reason}): ${tools.length} of ${view.tools.length} tools go on`, {
    leftOut,
    reason,
  });
  const selected = tools.map((tool): SelectedTool => ({ name: tool.name, via: leftOut > 0 ? 'keyword' : 'all' }));
  return { mode: 'fallback', reason, tools: selected, dropped: [], leftOut };
}
