/** An agent with many tools under a selector: LangChain's own, or ours; what each was asked, and what ran. */
import { type DynamicStructuredTool, tool } from '@langchain/core/tools';
import { MemorySaver } from '@langchain/langgraph';
import { type AnyAgentMiddleware, createAgent, llmToolSelectorMiddleware } from 'langchain';
import { z } from 'zod';
import { createToolSelector, type ToolSelectorOptions } from '../../../src/adapters/langchain/index.js';
import { createScriptedModel, type ScriptedAnswer } from '../../support/scripted-model.js';
import { type ChatAnswer, ScriptedChat } from './scripted-chat.js';

export const KINDS = ['read', 'write', 'move', 'delete', 'list'] as const;
const THINGS = ['file', 'note', 'mail', 'task'] as const;
/** What stands in no name: whoever shows it shows descriptions. */
export const TELLING = 'kept for seven years';

export interface Selecting {
  /** What the selection model answers, turn by turn or step by step. */
  selections: readonly (readonly string[] | ScriptedAnswer)[];
  answers: readonly ChatAnswer[];
  messages?: readonly string[];
  tools?: number;
  options?: Partial<ToolSelectorOptions>;
  /** Given to another process, it has what the thread is. */
  checkpointer?: MemorySaver;
}

export interface Selected {
  /** All that the selection model saw, call by call. */
  readonly asked: readonly string[];
  /** Names of the tools that the agent's model was shown, step by step. */
  readonly shown: readonly (readonly string[])[];
  /** Names of the tools that ran. */
  readonly ran: readonly string[];
  /** What tools answered in the last turn. */
  readonly answers: readonly string[];
  readonly final: string | undefined;
}

export async function selectByPeer({ selections, ...rest }: Selecting): Promise<Selected> {
  const model = new ScriptedChat(
    selections.map((one): ChatAnswer => {
      if (one instanceof Error) return one;
      return isNames(one) ? { name: 'extract', args: { tools: one } } : String(Object(one).text ?? one);
    }),
  );
  const asked = () => model.seen.map(({ messages, definitions }) => JSON.stringify([messages, definitions]));
  const { maxTools, alwaysInclude } = rest.options ?? {};
  const options = {
    ...(maxTools ? { maxTools } : {}),
    ...(alwaysInclude ? { alwaysInclude: [...alwaysInclude] } : {}),
  };
  // Under exactOptionalPropertyTypes its options have no type that anything fits.
  const peer: AnyAgentMiddleware = Reflect.apply(llmToolSelectorMiddleware, undefined, [{ model, ...options }]);
  return runAgent(peer, asked, rest);
}

export async function selectByOurs({ selections, ...rest }: Selecting): Promise<Selected> {
  const model = createScriptedModel({
    answers: selections.map((one): ScriptedAnswer => (isNames(one) ? JSON.stringify({ selected_tools: one }) : one)),
  });
  const asked = () => model.calls.map(({ prompt }) => `${prompt.system}\n${prompt.user}`);
  const planner = { model, options: { passthroughTools: (rest.tools ?? 20) > 15 ? 0 : 15, fillTokens: 0 } };
  const selected = await runAgent(createToolSelector({ planner, ...rest.options }), asked, rest);
  model.assertDone();
  return selected;
}

async function runAgent(
  middleware: AnyAgentMiddleware,
  asked: () => string[],
  {
    answers,
    messages = ['go'],
    tools = 20,
    checkpointer = new MemorySaver(),
  }: Omit<Selecting, 'selections' | 'options'>,
): Promise<Selected> {
  const ran: string[] = [];
  const chat = new ScriptedChat(answers);
  const bound = [...createTools(ran).slice(0, tools), { type: 'web_search' }];
  const agent = createAgent({ model: chat, tools: bound, checkpointer, middleware: [middleware] });
  const config = { configurable: { thread_id: 'thread' } };
  let last: Awaited<ReturnType<typeof agent.invoke>>['messages'] = [];
  for (const content of messages)
    last = (await agent.invoke(content ? { messages: [{ role: 'user', content }] } : { messages: [] }, config))
      .messages;
  const turn = last.slice(last.findLastIndex(({ type }) => type === 'human'));
  return {
    asked: asked(),
    shown: chat.seen.map((seen) => seen.tools),
    ran,
    answers: turn.filter(({ type }) => type === 'tool').map(({ text }) => text),
    final: last.at(-1)?.text,
  };
}

function createTools(ran: string[]): DynamicStructuredTool[] {
  return KINDS.flatMap((kind) =>
    THINGS.map((thing) => {
      const name = `${kind}_${thing}`;
      const description = kind === 'delete' ? `Throws away a ${thing}, ${TELLING}.` : `Can ${kind} a ${thing}.`;
      const run = async () => {
        ran.push(name);
        return `ran ${name}`;
      };
      return tool(run, { name, description, schema: z.object({ title: z.string().optional() }) });
    }),
  );
}

function isNames(one: readonly string[] | ScriptedAnswer): one is readonly string[] {
  return Array.isArray(one);
}
