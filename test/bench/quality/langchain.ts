/**
 * LangChain's `createAgent` with `llmToolSelectorMiddleware`, really run. The tools handed on are those bound to the
 * agent's own call behind the selection; what the middleware throws, the caller of the agent gets.
 */
import type { Tool } from '../../../src/core/catalog/tool.js';
import type { SelectingAgent } from '../langchain-agent.mjs';
import { type Bridge, type BridgeOptions, createBridge } from './bridge.js';
import { type Arena, type Contestant, idleWhereGiven, type Reply, type Trial } from './contestant.js';
import { createSecondCall, type SecondCall } from './second-call.js';
import { isWithoutCalls, readToolCalls, stepsOf } from './tool-calls.js';
import { userText } from './user-text.js';

/**
 * Room for all names of the largest selection that is asked for, many times over. A server without a bound writes on
 * until its context is full; then the caller throws as well.
 */
const MAX_SELECTION_TOKENS = 1_024;
/** LangChain's messages may hold the whole answer; alike ones are counted together. */
const MAX_REASON_CHARACTERS = 80;
const BASE_URL = 'http://bridge.invalid/v1';

/** The version for Python writes the descriptions into the schema, that for JavaScript the names alone. */
export const LANGCHAIN: readonly Contestant[] = [
  createContestant('langchain', 'LangChain llmToolSelector as it is', 'nothing'),
  createContestant('langchain-shown', 'LangChain llmToolSelector, schema shown', 'names'),
  createContestant('langchain-described', 'LangChain llmToolSelector, schema with descriptions shown', 'descriptions'),
];

function createContestant(id: string, title: string, shows: BridgeOptions['shows']): Contestant {
  return {
    id,
    title,
    group: 'peer',
    idleOn: idleWhereGiven,
    enter(arena) {
      const bridge = createBridge({ model: arena.model, shows, maxTokens: MAX_SELECTION_TOKENS });
      const call = arena.set.judged === 'plan' ? createSecondCall(arena) : undefined;
      const parts: Parts = { arena, bridge, call, agents: new WeakMap() };
      return { answer: (trial) => answer(trial, parts) };
    },
  };
}

interface Parts {
  arena: Arena;
  bridge: Bridge;
  /** In place of the agent's own call. */
  call: SecondCall | undefined;
  /** One for those who see the same tools. */
  agents: WeakMap<readonly Tool[], SelectingAgent>;
}

async function answer(trial: Trial, { arena, bridge, call, agents }: Parts): Promise<Reply> {
  // Loaded where it is measured: it takes a second.
  const { createSelectingAgent } = await import('../langchain-agent.mjs');
  const options = { baseURL: BASE_URL, maxTools: arena.maxTools, fetch: bridge.fetch };
  bridge.begin(trial.tools, { answersTools: trial.wantsPlan && !call });
  try {
    const agent = agents.get(trial.tools) ?? createSelectingAgent(trial.tools, options);
    agents.set(trial.tools, agent);
    await agent.invoke({ messages: messagesOf(trial) });
  } catch (thrown) {
    const fault = bridge.fault();
    if (fault) throw fault;
    const message = thrown instanceof Error ? thrown.message : String(thrown);
    return { kind: 'unanswered', reason: message.replace(/\s+/gu, ' ').slice(0, MAX_REASON_CHARACTERS) };
  }
  const tools = bridge.boundTools();
  const mode = bridge.ranInLoop() ? 'loop' : 'selected';
  if (!trial.wantsPlan) return { kind: 'answered', tools, abstained: tools.length === 0, mode };
  const reply = call ? await call(trial, chosen(trial, tools)) : called(bridge.answer(), tools);
  return reply.kind === 'answered' ? { ...reply, tools, mode } : reply;
}

function messagesOf({ request }: Trial): Parameters<SelectingAgent['invoke']>[0]['messages'] {
  const history = (request.history ?? []).filter(({ role }) => role !== 'tool');
  return [...history, { role: 'user', content: userText(request) }];
}

function chosen({ tools }: Trial, names: readonly string[]): Tool[] {
  return tools.filter(({ name }) => names.includes(name));
}

function called(text: string, tools: readonly string[]): Reply {
  const calls = readToolCalls(text).filter(({ name }) => tools.includes(name));
  return { kind: 'answered', tools, steps: stepsOf(calls), abstained: isWithoutCalls(text) };
}
