/** The list way: the model writes the names as JSON; works with every model server. */
import { z } from 'zod';
import type { JsonSchema } from '../catalog/tool.js';
import type { CallAbout, Completion, Model, ModelLimits, Prompt, Usage } from '../model/model.js';
import { completeStructured, type Parsed, readJson } from '../model/structured.js';
import { nearestName } from '../nearest-name.js';
import type { NamedPrompt } from '../prompts/prompts.js';
import type { Dropped } from '../result.js';
import { answerTokens } from './budget.js';
import type { Answer, NamedTool } from './candidates.js';
import type { Sheet } from './ladder.js';

export interface ListQuestion {
  model: Model;
  prompt: Prompt;
  repair: NamedPrompt<'repair'>;
  about: CallAbout;
  maxTools: number;
  usage: Usage;
  signal: AbortSignal | undefined;
  onRepair(issues: readonly string[]): void;
  /** Told of each answer, also of one that is refused. */
  onDropped(names: readonly Dropped[]): void;
}

/** Near misses are looked for among the first dropped names only: a thousand would take seconds. */
const MAX_SUGGESTIONS = 20;

export async function askForList(sheet: Sheet, question: ListQuestion): Promise<Parsed<Answer>> {
  const { model, prompt, about, maxTools, usage, signal, repair, onRepair, onDropped } = question;
  const schema = { name: 'selection', schema: answerSchema(sheet, model.limits, maxTools) };
  const request = {
    stage: 'selection' as const,
    prompt,
    schema,
    maxTokens: answerTokens(maxTools),
    signal,
    about,
  };
  return completeStructured({
    model,
    request,
    parse(completion) {
      const parsed = parseAnswer(completion, sheet);
      onDropped(parsed.dropped);
      return parsed;
    },
    repair,
    usage,
    onRepair,
  });
}

function answerSchema({ tools, labels }: Sheet, limits: ModelLimits, maxTools: number): JsonSchema {
  const names = [...tools.map((tool) => labels.labelOf(tool)), labels.none];
  const characters = names.reduce((sum, name) => sum + name.length, 0);
  const fits = names.length <= limits.enumValues && (names.length <= 250 || characters <= limits.enumCharacters);
  return {
    type: 'object',
    properties: {
      selected_tools: {
        type: 'array',
        items: fits ? { type: 'string', enum: names } : { type: 'string' },
        maxItems: Math.max(1, maxTools),
      },
      reason: { type: 'string' },
    },
    required: ['selected_tools', 'reason'],
    additionalProperties: false,
  };
}

const answerShape = z.object({ selected_tools: z.array(z.string()), reason: z.string().optional().catch(undefined) });

/** Exported for tests: text -> answer, or the problems to repair; and what of its names is not taken, either way. */
export function parseAnswer(
  completion: Pick<Completion, 'text' | 'finish' | 'logprobs'>,
  sheet: Sheet,
): Parsed<Answer> & { dropped: readonly Dropped[] } {
  const json = readAnswer(completion);
  if (!json.ok) return { ...json, dropped: [] };
  const value = Array.isArray(json.value) ? { selected_tools: json.value } : json.value;
  const shaped = answerShape.safeParse(value);
  if (!shaped.success) return { ok: false, issues: ['selected_tools: must be an array of tool names'], dropped: [] };
  const names = shaped.data.selected_tools;
  const { answer, dropped } = sortNames(names, sheet, probabilitiesOf(completion, names));
  const nothingUsable = answer.named.length === 0 && names.length > 0 && !answer.none.says;
  if (nothingUsable) {
    const issues = [`selected_tools: none of ${names.slice(0, 5).join(', ')} is in the list of tools`];
    return { ok: false, issues, dropped };
  }
  return { ok: true, value: { ...answer, reason: shaped.data.reason ?? '' }, dropped };
}

/** An answer that was cut, mostly by a loop of a small model, is read as far as its names were written whole. */
function readAnswer({ text, finish }: Pick<Completion, 'text' | 'finish'>): Parsed<unknown> {
  const whole = readJson(text, (value) => answerShape.safeParse(value).success);
  if (whole.ok || finish === 'stop') return whole;
  const [list = ''] = /(?<="selected_tools"\s*:\s*\[)[^\]]*/u.exec(text) ?? [];
  const names = [...list.matchAll(/"(?:[^"\\]|\\.)*"(?=\s*,|\s*$)/gu)].map(([name]): unknown => JSON.parse(name));
  if (names.length === 0) return { ok: false, issues: ['the answer was cut: be shorter'] };
  return { ok: true, value: { selected_tools: names, reason: 'the answer was cut, and is taken as far as it came' } };
}

/** Known names in their order; unknown and repeated ones are recorded, never credited. */
function sortNames(
  names: readonly string[],
  { labels, tools }: Sheet,
  probabilities: ReadonlyMap<string, number>,
): { answer: Answer; dropped: Dropped[] } {
  const named = new Map<string, NamedTool>();
  const dropped = new Map<string, Dropped>();
  for (const name of names) {
    const tool = labels.toolOf(name.trim());
    if (name === labels.none) continue;
    if (!tool) {
      const known = dropped.size < MAX_SUGGESTIONS ? tools.map((one) => one.name) : [];
      const suggestion = nearestName(name, known);
      dropped.set(name, {
        name: name.slice(0, 200),
        reason: 'unknown',
        ...(suggestion === undefined ? {} : { suggestion }),
      });
    } else if (named.has(tool.name)) {
      dropped.set(tool.name, { name: tool.name, reason: 'duplicate' });
    } else {
      const probability = probabilities.get(name);
      named.set(tool.name, { tool, via: 'model', ...(probability === undefined ? {} : { probability }) });
    }
  }
  const says = named.size === 0 && (names.length === 0 || names.includes(labels.none));
  const answer = { named: [...named.values()], chosen: named.size, none: { says }, reason: '' };
  return { answer, dropped: [...dropped.values()] };
}

/** Where the server gives log-probabilities: of each name, the product over the tokens that write it. */
function probabilitiesOf(
  { logprobs = [], text }: Pick<Completion, 'text' | 'logprobs'>,
  names: readonly string[],
): Map<string, number> {
  const found = new Map<string, number>();
  let length = 0;
  const placed = logprobs.map(({ text: piece, logprob }) => {
    length += piece.length;
    return { start: length - piece.length, logprob };
  });
  let from = 0;
  for (const name of placed.length > 0 ? names : []) {
    const at = text.indexOf(`"${name}"`, from);
    if (at < 0) continue;
    from = at + name.length;
    const inside = placed.filter(({ start }) => start >= at && start <= from);
    if (!found.has(name)) found.set(name, Math.exp(inside.reduce((sum, { logprob }) => sum + logprob, 0)));
  }
  return found;
}
