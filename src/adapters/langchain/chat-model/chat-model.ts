/**
 * A LangChain chat model with tool calling on top of Winnow's models, so that an agent can run on the local model without a
 * key. A step is one call or one answer. Mistakes of the model become an answer that says so; server errors are thrown.
 */
import { randomUUID } from 'node:crypto';
import type { BaseLanguageModelInput, StructuredOutputMethodOptions } from '@langchain/core/language_models/base';
import {
  BaseChatModel,
  type BaseChatModelCallOptions,
  type BindToolsInput,
} from '@langchain/core/language_models/chat_models';
import { AIMessageChunk, type BaseMessage, type StandardMessageStructure } from '@langchain/core/messages';
import type { ChatResult } from '@langchain/core/outputs';
import type { Runnable } from '@langchain/core/runnables';
import type { Tool } from '../../../core/catalog/tool.js';
import { WinnowError } from '../../../core/errors.js';
import type { Model, Usage } from '../../../core/model/model.js';
import { loadNamedPrompt } from '../../../core/prompts/prompts.js';
import { toolsFromLangChain } from '../bound-tools.js';
import { renderConversation, type StepParts, type TakenStep, takeStep } from './take-step.js';

export interface ChatModelOptions {
  /** From `createModel`; the caller closes it. */
  model: Model;
  /** Most tokens of one step. Default: 1,024. */
  maxTokens?: number | undefined;
  /** Files that replace `prompts/agent-step.md` and `prompts/repair.md`. */
  prompts?: { 'agent-step'?: string | undefined; repair?: string | undefined } | undefined;
  /** Used if tools are bound without a tool choice; `any`: a step must be a call. Default: `auto`. */
  toolChoice?: 'auto' | 'any' | undefined;
}

interface ChatCallOptions extends BaseChatModelCallOptions {
  tools?: readonly Tool[];
}

/**
 * Makes a LangChain chat model of any model of Winnow.
 * @throws WinnowError `prompt_invalid`
 * @example
 * const chat = createChatModel({ model: await createModel({}) });
 */
export function createChatModel(options: ChatModelOptions): WinnowChatModel {
  return new WinnowChatModel(options);
}

export class WinnowChatModel extends BaseChatModel<ChatCallOptions> {
  readonly #options: ChatModelOptions;
  readonly #parts: StepParts;

  /** @throws WinnowError `prompt_invalid` */
  constructor(options: ChatModelOptions) {
    super({});
    const { model, maxTokens = 1_024, prompts = {} } = options;
    const prompt = loadNamedPrompt('agent-step', prompts['agent-step']);
    this.#options = options;
    this.#parts = { model, maxTokens, prompt, repair: loadNamedPrompt('repair', prompts.repair) };
  }

  override _llmType(): string {
    return 'winnow';
  }

  /** @throws WinnowError `invalid_option`, `invalid_catalog` */
  override bindTools(tools: BindToolsInput[], options: Partial<ChatCallOptions> = {}) {
    return this.withConfig({
      tool_choice: this.#options.toolChoice ?? 'auto',
      ...options,
      tools: toolsFromLangChain(tools),
    });
  }

  /** Forces a tool call; LangChain's own implementation lets the model answer in words. */
  override withStructuredOutput<Output extends object>(
    schema: object,
    config?: StructuredOutputMethodOptions<false>,
  ): Runnable<BaseLanguageModelInput, Output>;
  override withStructuredOutput<Output extends object>(
    schema: object,
    config?: StructuredOutputMethodOptions<true>,
  ): Runnable<BaseLanguageModelInput, { raw: BaseMessage; parsed: Output }>;
  override withStructuredOutput(schema: object, config?: StructuredOutputMethodOptions<boolean>) {
    const forced = new WinnowChatModel({ ...this.#options, toolChoice: 'any' });
    const { includeRaw, ...rest } = config ?? {};
    return super.withStructuredOutput.call(forced, schema, includeRaw ? { ...rest, includeRaw } : rest);
  }

  /** @throws WinnowError `invalid_request`, `invalid_option`, and errors of the model */
  override async _generate(messages: BaseMessage[], options: this['ParsedCallOptions']): Promise<ChatResult> {
    const { tools, canAnswer } = choose(options);
    const conversation = renderConversation(messages);
    const taken = await takeStep(this.#parts, { conversation, tools, canAnswer, signal: options.signal });
    const message = toMessage(taken, this.#parts.model.id, options.stop);
    return { generations: [{ text: message.text, message }], llmOutput: { tokenUsage: message.usage_metadata } };
  }
}

/** @throws WinnowError `invalid_option` */
function choose({ tools = [], tool_choice: choice = 'auto' }: ChatCallOptions) {
  const name: unknown = typeof choice === 'string' ? choice : (choice.function?.name ?? choice.name);
  if (name === 'none') return { tools: [], canAnswer: true };
  if (name === 'auto') return { tools, canAnswer: true };
  if (name === 'any' || name === 'required') return { tools, canAnswer: tools.length === 0 };
  const named = tools.filter((tool) => tool.name === name);
  if (named.length > 0) return { tools: named, canAnswer: false };
  throw new WinnowError('invalid_option', `tool_choice: no tool "${name}" is bound.`);
}

/** The whole message as one chunk, which LangChain's streams and structured outputs require. */
function toMessage(
  { parsed, text, finish, usage }: TakenStep,
  modelName: string,
  stop: readonly string[] = [],
): AIMessageChunk<StandardMessageStructure> {
  const about = {
    usage_metadata: toUsageMetadata(usage),
    response_metadata: { model_name: modelName, finish_reason: finish, ...(parsed.ok ? {} : { raw: text }) },
  };
  if (!parsed.ok)
    return new AIMessageChunk({ ...about, content: `I could not write a usable step: ${parsed.issues.join('; ')}.` });
  const step = parsed.value;
  if ('answer' in step) {
    const content = stop.filter(Boolean).reduce((text, end) => text.split(end, 1)[0] ?? '', step.answer);
    return new AIMessageChunk({ ...about, content });
  }
  const call = { name: step.tool, args: step.arguments, id: `call_${randomUUID()}`, type: 'tool_call' as const };
  return new AIMessageChunk({ ...about, content: '', tool_calls: [call] });
}

function toUsageMetadata({ read, cached, written }: Usage) {
  const input = read + cached;
  return {
    input_tokens: input,
    output_tokens: written,
    total_tokens: input + written,
    input_token_details: { cache_read: cached },
  };
}
