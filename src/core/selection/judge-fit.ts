/**
 * Whether tools fit a request at all, as a probability: a small model that is shown tools calls one of them, whatever the
 * request. It is asked of all together, and where it is not sure of each by itself.
 */
import { isObject } from '../catalog/schema/json.js';
import { oneLine } from '../catalog/summary.js';
import type { Tool } from '../catalog/tool.js';
import {
  addUsage,
  type CallAbout,
  type Model,
  type Prompt,
  type RequestFacts,
  type Stage,
  type TokenReader,
  type Usage,
} from '../model/model.js';
import type { PromptTemplate } from '../prompts/prompt-template.js';
import { openedReader } from './opened-reader.js';

export interface FitPrompts {
  /** Asks of all tools at once. */
  fit: PromptTemplate<'tools' | 'context' | 'message'>;
  /** Asks of one tool. */
  fitOfOne: PromptTemplate<'tool' | 'context' | 'message'>;
}

export interface FitQuestion extends FitPrompts {
  openReader: NonNullable<Model['openReader']>;
  /** To which the tokens count. */
  stage: Stage;
  /** The request as both prompts show it. */
  said: { context: string; message: string };
  /** Whether each may be asked about by itself, which reads its line with each request. */
  eachToo: boolean;
  /** Whether other requests will see the same tools: then a model in process keeps what it has read of them. */
  areSame: boolean;
  /** From this probability on, nobody cares how much higher it is. */
  enough: number;
  usage: Usage;
  signal: AbortSignal | undefined;
  /** For the call log. */
  facts: RequestFacts;
}

const OPENING = '{"fits": "';

/** Of more the 1.5B model does not know whether they fit. */
export const MOST_AT_ONCE = 4;
/** So sure of all together, the judgement of each could hardly change it. */
const SURE = 0.6;
/**
 * Of the judgement of the best tool by itself, beside 1 for that of all together, as log-odds. On 174 fit and 177 unfit requests
 * (BFCL, ACEBench, the fixtures' and one another's) the two tell 111 unfit ones at one fit one lost, the first alone 83.
 */
const WEIGHT_OF_BEST = 0.5;
/** In place of the best by itself, where it is not asked about. */
const UNKNOWN = 0.5;
/** Further from 0 and 1 than any judgement counts, so that one alone never settles it. */
const NEARLY = 1e-6;

/** @param tools at most `MOST_AT_ONCE`. @returns between 0 and 1, at least that where it is `enough`. @throws WinnowError */
export async function judgeFit(tools: readonly Tool[], question: FitQuestion): Promise<number> {
  const { fit, fitOfOne, said, eachToo, areSame, enough } = question;
  const { lead, ...prompt } = fit.render({ ...said, tools: tools.map(renderLine).join('\n') });
  const ask = (asked: Prompt, { name, hash }: { name: string; hash: string }, about: readonly Tool[]) =>
    readYes(
      asked,
      { promptName: name, promptHash: hash, variables: { ...said, tools: about.map((tool) => tool.name) } },
      question,
    );
  const together = await ask(areSame && lead !== undefined ? { ...prompt, lead } : prompt, fit, tools);
  if (together >= Math.max(SURE, enough)) return together;
  if (!eachToo) return mean(together, UNKNOWN);
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

async function readYes(prompt: Prompt, asked: Asked, question: FitQuestion): Promise<number> {
  const { openReader, stage, signal, usage, facts } = question;
  const about: CallAbout = { module: 'selection/judge-fit', ...asked, ...facts };
  const reader = await openedReader(openReader({ prompt, opening: OPENING, stage, signal, about }), usage);
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

function logOdds(probability: number): number {
  const held = Math.min(1 - NEARLY, Math.max(NEARLY, probability));
  return Math.log(held / (1 - held));
}

function renderLine(tool: Tool): string {
  return `- ${renderTool(tool)}`;
}

/** The names of the arguments tell a small model more of what a tool can't do than its description. */
function renderTool({ name, description, inputSchema }: Tool): string {
  const names = isObject(inputSchema.properties) ? Object.keys(inputSchema.properties) : [];
  return `${name}(${names.join(', ')}): ${oneLine(description)}`;
}
