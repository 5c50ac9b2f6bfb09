/** The list way: the model writes the names as JSON; works with every model server. */
import { z } from 'zod';
import type { JsonSchema } from '../catalog/tool.js';
import type { CallAbout, Completion, Model, ModelLimits, Prompt, Usage } from '../model/model.js';
import { completeStructured, type Parsed, readJson } from '../model/structured.js';
import { nearestName } from '../nearest-name.js';
import type { PromptTemplate } from '../prompts/prompt-template.js';
import type { Dropped } from '../result.js';
import { answerTokens } from './budget.js';
import type { Answer, NamedTool } from './candidates.js';
import type { Sheet } from './ladder.js';

export interface ListQuestion {
  model: Model;
  prompt: Prompt;
  repair: PromptTemplate<'system' | 'user' | 'answer' | 'issues'>;
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

const CUT = 'the answer was cut, and is taken as far as it came';
const answerShape = z.object({ selected_tools: z.array(z.string()), reason: z.string().optional().catch(undefined) });

function isAnswer(value: unknown): boolean {
  return answerShape.safeParse(value).success;
}

/** Exported for tests: text -> answer, or the problems to repair; and what of its names is not taken, either way. */
export function parseAnswer(
  completion: Pick<Completion, 'text' | 'finish' | 'logprobs'>,
  sheet: Sheet,
): Parsed<Answer> & { dropped: readonly Dropped[] } {
  const isCut = completion.finish !== 'stop';
  const whole = readJson(completion.text, isAnswer);
  const json = isCut && !whole.ok ? readJson(closeList(completion.text)) : whole;
  if (!json.ok) return { ok: false, issues: isCut ? ['the answer was cut: be shorter'] : json.issues, dropped: [] };
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

/**
 * A small model may run in a loop behind the names that it means: the list as far as its names were written whole. The
 * text itself where none was.
 */
function closeList(text: string): string {
  const [list] =
    /\{\s*"selected_tools"\s*:\s*\[(?:\s*"(?:[^"\\]|\\.)*"\s*,)*(?:\s*"(?:[^"\\]|\\.)*"\s*(?=\]))?/u.exec(text) ?? [];
  return list?.includes('"', list.indexOf('[')) ? `${list.trimEnd().replace(/,$/u, '')}],"reason":"${CUT}"}` : text;
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
  { logprobs, text }: Pick<Completion, 'text' | 'logprobs'>,
  names: readonly string[],
): Map<string, number> {
  const found = new Map<string, number>();
  if (!logprobs) return found;
  const starts: number[] = [];
  let length = 0;
  for (const token of logprobs) {
    starts.push(length);
    length += token.text.length;
  }
  let from = 0;
  for (const name of names) {
    const at = text.indexOf(`"${name}"`, from);
    if (at < 0) continue;
    from = at + name.length;
    const inside = logprobs.filter(
      (_, place) => (starts[place] ?? 0) >= at && (starts[place] ?? 0) <= at + name.length,
    );
    if (!found.has(name)) found.set(name, Math.exp(inside.reduce((sum, token) => sum + token.logprob, 0)));
  }
  return found;
}
