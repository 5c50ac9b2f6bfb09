/** Selection by list: the model writes the names as JSON. It works with every model server. */
import { z } from 'zod';
import type { JsonSchema } from '../catalog/tool.js';
import { WinnowError } from '../errors.js';
import type { Completion, ModelLimits } from '../model/model.js';
import { completeStructured, type Parsed, readJson } from '../model/structured.js';
import { nearestName } from '../nearest-name.js';
import type { Dropped } from '../result.js';
import { answerTokens } from './budget.js';
import type { Answer, NamedTool, SelectionPrompt, StageContext } from './candidates.js';
import type { Sheet } from './ladder.js';

/** Only the first dropped names get a suggestion: a thousand would take seconds. */
const MAX_SUGGESTIONS = 20;

/** @throws WinnowError `model_failed` if the answer stays invalid after a repair, or an error of the model. */
export async function askForList(
  sheet: Sheet,
  asked: SelectionPrompt,
  { call, parts, drop }: StageContext,
): Promise<Answer> {
  const { model, options, repair } = parts;
  const { request, usage, trace, signal } = call;
  const maxTools = request.maxTools ?? options.maxTools;
  const answer = await completeStructured({
    model,
    repair,
    usage,
    onRepair: (issues) => trace.add('selection', 'the answer is repaired', { issues }),
    request: {
      ...asked,
      stage: 'selection',
      schema: { name: 'selection', schema: answerSchema(sheet, model.limits, maxTools) },
      maxTokens: answerTokens(maxTools),
      signal,
    },
    parse(completion) {
      const parsed = parseAnswer(completion, sheet);
      drop(parsed.dropped);
      return parsed;
    },
  });
  if (answer.ok) return answer.value;
  throw new WinnowError('model_failed', `the answer is not usable, also after a repair: ${answer.issues.join('; ')}`);
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

/** Exported for tests: reads the answer, or gives the issues to repair; lists the dropped names in both cases. */
export function parseAnswer(
  completion: Pick<Completion, 'text' | 'finish' | 'logprobs'>,
  sheet: Sheet,
): Parsed<Answer> & { dropped: readonly Dropped[] } {
  const refused = (...issues: string[]) => ({ ok: false as const, issues, dropped: [] });
  const json = readJson(completion.text, (value) => answerShape.safeParse(value).success);
  if (!json.ok)
    return completion.finish === 'stop' ? refused(...json.issues) : refused('the answer was cut: be shorter');
  const shaped = answerShape.safeParse(json.value);
  if (!shaped.success) return refused('selected_tools: must be an array of tool names');
  const names = shaped.data.selected_tools;
  const { answer, dropped } = sortNames(names, sheet, probabilitiesOf(completion, names));
  if (answer.named.length === 0 && names.length > 0 && !answer.none.says)
    return { ...refused(`selected_tools: none of ${names.slice(0, 5).join(', ')} is in the list of tools`), dropped };
  return { ok: true, value: { ...answer, reason: shaped.data.reason ?? '' }, dropped };
}

function sortNames(
  names: readonly string[],
  { labels, tools }: Sheet,
  probabilities: ReadonlyMap<string, number>,
): { answer: Answer; dropped: Dropped[] } {
  const named = new Map<string, NamedTool>();
  const dropped = new Map<string, Dropped>();
  for (const name of names) {
    const tool = labels.toolOf(name);
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

/** The probability of each name, as the product over its tokens, if the server gives log-probabilities. */
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
