/** A LangChain chat model that answers by script and records what it was shown; too few answers are an error. */
import {
  BaseChatModel,
  type BaseChatModelCallOptions,
  type BindToolsInput,
} from '@langchain/core/language_models/chat_models';
import { AIMessageChunk, type BaseMessage } from '@langchain/core/messages';
import type { ChatResult } from '@langchain/core/outputs';
import { convertToOpenAITool } from '@langchain/core/utils/function_calling';

export interface ScriptedCall {
  readonly name: string;
  readonly args?: Record<string, unknown>;
}
/** A final text, calls of tools, or what is thrown. */
export type ChatAnswer = string | ScriptedCall | readonly ScriptedCall[] | Error;

export interface Seen {
  /** Names of the bound tools, in order; the type of one that has no name. */
  readonly tools: readonly string[];
  readonly messages: readonly BaseMessage[];
  readonly definitions: readonly unknown[];
}

interface Script {
  readonly answers: readonly ChatAnswer[] | ((seen: Seen, index: number) => ChatAnswer | Promise<ChatAnswer>);
  readonly seen: Seen[];
}

export class ScriptedChat extends BaseChatModel<BaseChatModelCallOptions & { tools?: unknown[] }> {
  readonly script: Script;

  constructor(answers: Script['answers']) {
    super({});
    this.script = { answers, seen: [] };
  }

  /** What the model was shown, call by call. */
  get seen(): readonly Seen[] {
    return this.script.seen;
  }

  override bindTools(tools: BindToolsInput[], options: object = {}) {
    return this.withConfig({ ...options, tools: tools.map((tool) => convertToOpenAITool(tool)) });
  }

  override async _generate(messages: BaseMessage[], options: this['ParsedCallOptions']): Promise<ChatResult> {
    options.signal?.throwIfAborted();
    const definitions = options.tools ?? [];
    const seen = { messages: [...messages], definitions, tools: definitions.map(nameOf) };
    const index = this.script.seen.push(seen) - 1;
    const { answers } = this.script;
    const answer = typeof answers === 'function' ? await answers(seen, index) : answers[index];
    if (answer === undefined) throw new Error(`The scripted chat has no answer ${index + 1}.`);
    if (answer instanceof Error) throw answer;
    const calls: readonly ScriptedCall[] = typeof answer === 'string' ? [] : [answer].flat();
    const message = new AIMessageChunk({
      content: typeof answer === 'string' ? answer : '',
      tool_calls: calls.map(({ name, args = {} }, place) => ({ name, args, id: `call-${index + 1}-${place + 1}` })),
    });
    return { generations: [{ text: message.text, message }] };
  }

  override _llmType(): string {
    return 'scripted';
  }
}

function nameOf(definition: unknown): string {
  const { function: named, type } = Object(definition);
  return named?.name ?? type;
}
