/**
 * Whether tools fit a request at all, as a probability: a small model that is shown tools calls one of them, whatever the
 * request. It is asked of all together, and where it is not sure of each by itself. A judgement that fails changes nothing.
 */
import { isObject } from '../catalog/schema/json.js';
import { oneLine } from '../catalog/summary.js';
import type { Tool } from '../catalog/tool.js';
import type { Options } from '../config/options.js';
import { toWinnowError } from '../errors.js';
import {
  addUsage,
  type CallAbout,
  type Model,
  type Prompt,
  type RequestFacts,
  type TokenReader,
  type Usage,
} from '../model/model.js';
import { spentUsage } from '../model/structured.js';
import type { PromptTemplate } from '../prompts/prompt-template.js';
import type { Request } from '../request.js';
import type { Trace } from '../trace.js';
import { answerWay } from './selection-call.js';
import { renderContext } from './user-part.js';

export interface JudgeParts {
  model: Model;
  options: Options;
  /** Asks of all tools at once. */
  fit: PromptTemplate<'tools' | 'context' | 'message'>;
  /** Asks of one tool. */
  fitOfOne: PromptTemplate<'tool' | 'context' | 'message'>;
}

export interface JudgeCall {
  request: Request;
  usage: Usage;
  trace: Trace;
  signal: AbortSignal | undefined;
  /** For the call log. */
  facts: RequestFacts;
}

export interface Judged {
  /** At most `MOST_AT_ONCE`, which a caller sees to. */
  tools: readonly Tool[];
  /** Whether other requests will see the same tools: then a model in process keeps what it has read of them. */
  areSame: boolean;
  /** From this probability on, nobody cares how much higher it is. */
  enough: number;
}

const OPENING = '{"fits": "';

/** Of more the 1.5B model does not know whether they fit, and reading them takes seconds. */
export const MOST_AT_ONCE = 4;
/** So sure of all together, the judgement of each could hardly change it. */
const SURE = 0.6;
/**
 * Of the judgement of the best tool by itself, beside 1 for that of all together, as log-odds. On 174 fit and 177 unfit requests
 * (BFCL, ACEBench, the fixtures' and one another's) the two tell 111 unfit ones at one fit one lost, the first alone 83.
 */
const WEIGHT_OF_BEST = 0.5;
const NEARLY = 1e-6;

/** @returns between 0 and 1; undefined where the model is not asked for probabilities, or a reading failed. */
export async function judgeFit(judged: Judged, call: JudgeCall, parts: JudgeParts): Promise<number | undefined> {
  const { model, options } = parts;
  const openReader = model.openReader?.bind(model);
  if (answerWay(parts) !== 'rank' || !openReader) return undefined;
  const timeout = AbortSignal.timeout(options.selectionTimeoutMs);
  const signal = call.signal ? AbortSignal.any([call.signal, timeout]) : timeout;
  try {
    return await judge(judged, { ...call, signal, openReader }, parts);
  } catch (error) {
    addUsage(call.usage, spentUsage(error));
    const failure = toWinnowError(error);
    if (failure.code === 'cancelled' && call.signal?.aborted) throw failure;
    call.trace.add('selection', `whether the tools fit was not judged: ${failure.message}`);
    return undefined;
  }
}

interface Asking extends JudgeCall {
  openReader: NonNullable<Model['openReader']>;
}

async function judge({ tools, areSame, enough }: Judged, call: Asking, parts: JudgeParts): Promise<number> {
  const { fit, fitOfOne, options } = parts;
  const said = { context: renderContext(call.request, options), message: oneLine(call.request.message) };
  const { lead, ...prompt } = fit.render({ ...said, tools: tools.map(renderLine).join('\n') });
  const ask = (asked: Prompt, { name, hash }: { name: string; hash: string }, about: readonly Tool[]) =>
    readYes(asked, { promptName: name, promptHash: hash, variables: { ...said, tools: about.map(nameOf) } }, call);
  const together = await ask(areSame && lead !== undefined ? { ...prompt, lead } : prompt, fit, tools);
  if (together >= SURE) return together;
  let [best, probability] = [0, 0];
  for (const tool of tools) {
    const alone = await ask(fitOfOne.render({ ...said, tool: renderTool(tool) }), fitOfOne, [tool]);
    best = Math.max(best, alone);
    probability = mean(together, best);
    if (probability >= enough) break;
  }
  return probability;
}

type Asked = Pick<CallAbout, 'promptName' | 'promptHash' | 'variables'>;

async function readYes(prompt: Prompt, asked: Asked, { openReader, signal, usage, facts }: Asking): Promise<number> {
  const about: CallAbout = { module: 'selection/judge-fit', ...asked, ...facts };
  const reader = await openReader({ prompt, opening: OPENING, signal, about });
  let fits: number | undefined;
  try {
    fits = await probabilityOfYes(reader);
    return fits;
  } finally {
    addUsage(usage, reader.usage());
    await reader.close({ fits });
  }
}

async function probabilityOfYes(reader: TokenReader): Promise<number> {
  const [yes, no] = ['yes', 'no'].map((word) => reader.tokenize(word)[0]);
  if (yes === undefined || no === undefined) return 1;
  const [forYes = 0, forNo = 0] = await reader.weigh([], [yes, no]);
  return logistic(forYes - forNo);
}

/** Weighted, as log-odds. */
function mean(together: number, best: number): number {
  return logistic((logOdds(together) + WEIGHT_OF_BEST * logOdds(best)) / (1 + WEIGHT_OF_BEST));
}

function logistic(logOdds: number): number {
  return 1 / (1 + Math.exp(-logOdds));
}

/** Finite, so that one judgement alone never settles it. */
function logOdds(probability: number): number {
  const held = Math.min(1 - NEARLY, Math.max(NEARLY, probability));
  return Math.log(held / (1 - held));
}

function nameOf({ name }: Tool): string {
  return name;
}

function renderLine(tool: Tool): string {
  return `- ${renderTool(tool)}`;
}

/** The names of the arguments tell a small model more of what a tool can't do than its description. */
function renderTool({ name, description, inputSchema }: Tool): string {
  const names = isObject(inputSchema.properties) ? Object.keys(inputSchema.properties) : [];
  return `${name}(${names.join(', ')}): ${oneLine(description)}`;
}
