/**
 * Reranking by a small model. Its order is used when it is confident and in time; otherwise the rules' order stands,
 * and the answer says why. It can only reorder matches, never add names.
 */
import { z } from 'zod';
import { renderSummary } from '../../core/catalog/summary.js';
import { orAborted, throwIfCancelled, toWinnowError, type WinnowError } from '../../core/errors.js';
import { type Model, noUsage, type Usage } from '../../core/model/model.js';
import { completeStructured, type Parsed, readJson } from '../../core/model/structured.js';
import { parse, parseOptions } from '../../core/parse.js';
import { loadNamedPrompt, type NamedPrompt, type PromptPaths } from '../../core/prompts/prompts.js';
import type { RankedTool } from '../../core/search/rank.js';

export const rerankSettingsSchema = z.strictObject({
  enabled: z.boolean().default(false),
  timeoutMs: z.int().min(1).max(600_000).default(8_000).describe('For all of it, with a repair.'),
  minConfidence: z.number().min(0).max(1).default(0.65).describe("Below it the rules' order stands."),
});
export type RerankSettings = z.output<typeof rerankSettingsSchema>;

export interface RerankOptions extends Partial<Omit<RerankSettings, 'enabled'>> {
  model: Model;
  prompt: NamedPrompt<'rerank-tools'>;
  repair: NamedPrompt<'repair'>;
  /** Called with the token usage of each reranking, even of unused ones. */
  onUsage?: ((usage: Usage) => void) | undefined;
  /** Called with the full error of a model; the caller's answer names no server. */
  onFailure?: ((error: WinnowError) => void) | undefined;
}

type Opinion =
  | {
      readonly isUsed: true;
      readonly order: readonly RankedTool[];
      readonly intent: string;
      readonly confidence: number;
      readonly needsClarification: boolean;
    }
  | { readonly isUsed: false; readonly reason: string };

/** How many matches go to the model. */
export const RERANKED_TOOLS = 10;
const MAX_NAMED = 5;
const ANSWER_TOKENS = 200;
const DEFAULTS = rerankSettingsSchema.parse({});

const answerSchema = z.object({
  intent: z.string().max(500),
  top_k_tools: z.array(z.string()).max(50),
  confidence: z.number().min(0).max(1),
  need_clarification: z.boolean(),
});

/** @throws WinnowError `cancelled` when the caller's own signal fired; nothing else. */
export async function rerank(
  query: string,
  found: readonly RankedTool[],
  { signal, ...options }: RerankOptions & { signal?: AbortSignal | undefined },
): Promise<Opinion> {
  const { minConfidence = DEFAULTS.minConfidence, timeoutMs = DEFAULTS.timeoutMs } = options;
  const timeout = AbortSignal.timeout(timeoutMs);
  const bounded = signal ? AbortSignal.any([signal, timeout]) : timeout;
  const usage = noUsage();
  try {
    const answer = await orAborted(ask(query, found, { ...options, usage, signal: bounded }), bounded);
    if (!answer.ok)
      return { isUsed: false, reason: `the answer of the model is not usable: ${answer.issues.join('; ')}` };
    const { top_k_tools, intent, confidence, need_clarification: needsClarification } = answer.value;
    const named = [...new Set(top_k_tools)].flatMap((name) => found.find(({ tool }) => tool.name === name) ?? []);
    if (confidence < minConfidence)
      return { isUsed: false, reason: `the model's confidence of ${confidence} is below ${minConfidence}` };
    if (named.length === 0 && !needsClarification)
      return { isUsed: false, reason: 'the model named none of the tools found' };
    const order = [...named, ...found.filter((one) => !named.includes(one))];
    return { isUsed: true, order, intent, confidence, needsClarification };
  } catch (error) {
    throwIfCancelled(signal);
    if (timeout.aborted) return { isUsed: false, reason: `the model did not answer within ${timeoutMs} ms` };
    const failure = toWinnowError(error);
    options.onFailure?.(failure);
    return { isUsed: false, reason: `${failure.code}: ${failure.meaning.meaning}` };
  } finally {
    options.onUsage?.(usage);
  }
}

type Answer = z.infer<typeof answerSchema>;

function ask(
  query: string,
  found: readonly RankedTool[],
  { model, prompt, repair, usage, signal }: RerankOptions & { usage: Usage; signal: AbortSignal },
): Promise<Parsed<Answer>> {
  const candidates = found.slice(0, RERANKED_TOOLS).map(({ tool }) => tool);
  const values = { tools: candidates.map((tool) => renderSummary(tool, 'sentence')).join('\n'), query };
  const names = candidates.map((tool) => tool.name);
  const about = { module: 'agents/rerank', promptName: prompt.name, promptHash: prompt.hash, variables: values };
  return completeStructured({
    model,
    request: {
      stage: 'selection',
      prompt: prompt.render(values),
      schema: { name: 'order_of_tools', schema: schemaOf(names) },
      maxTokens: ANSWER_TOKENS,
      signal,
      about,
    },
    parse: ({ text }) => parseAnswer(text),
    repair,
    usage,
  });
}

/** @throws WinnowError `invalid_option` naming each field that is wrong. */
export function parseRerankSettings(input: unknown): RerankSettings {
  return parseOptions(rerankSettingsSchema, input, 'rerank');
}

function schemaOf(names: readonly string[]) {
  return {
    type: 'object',
    properties: {
      intent: { type: 'string' },
      top_k_tools: { type: 'array', items: { enum: names }, maxItems: MAX_NAMED },
      confidence: { type: 'number', minimum: 0, maximum: 1 },
      need_clarification: { type: 'boolean' },
    },
    required: ['intent', 'top_k_tools', 'confidence', 'need_clarification'],
    additionalProperties: false,
  };
}

function parseAnswer(text: string): Parsed<Answer> {
  const json = readJson(text, (value) => answerSchema.safeParse(value).success);
  if (!json.ok) return json;
  return parse(answerSchema, json.value, { root: 'answer' });
}

// Reranking options of `tool_search` from a model, settings and prompt files.

interface CreateRerankOptions extends Pick<RerankOptions, 'onFailure' | 'onUsage'> {
  settings: RerankSettings;
  /** Files in place of those in `prompts/`. */
  prompts?: PromptPaths | undefined;
}

/**
 * Undefined where the settings switch it off. @throws WinnowError `prompt_invalid`
 * @example
 * const discovery = createDiscovery({
 *   catalog: () => catalog,
 *   rerank: createRerank(model, { settings: { enabled: true, minConfidence: 0.65, timeoutMs: 8_000 } }),
 * });
 */
export function createRerank(
  model: Model,
  { settings: { enabled, ...limits }, prompts, ...callbacks }: CreateRerankOptions,
): RerankOptions | undefined {
  if (!enabled) return undefined;
  const prompt = loadNamedPrompt('rerank-tools', prompts?.['rerank-tools']);
  return { model, prompt, repair: loadNamedPrompt('repair', prompts?.repair), ...limits, ...callbacks };
}
