/** The path of a request on a server that refuses, as vLLM does, a prompt and an answer that are more than its context together. */
import { afterEach, describe, expect, it } from '@jest/globals';
import { estimateTokens } from '../../../src/core/model/count-tokens.js';
import { createOpenAIModel } from '../../../src/core/model/openai/openai-model.js';
import type { PlanRequest } from '../../../src/core/request.js';
import { createScriptedModel } from '../../support/scripted-model.js';
import { type RecordedRequest, type ScriptedServer, startScriptedServer } from '../../support/scripted-server.js';
import { answer, fail } from '../../support/server-behaviours.js';
import { makeTool, namesOf, naming, plannerOf, planOf } from './setup.js';

const properties = Object.fromEntries(
  Array.from({ length: 8 }, (_, place) => [
    `argument_${place}`,
    { type: 'string', description: 'what is done, and why' },
  ]),
);
const TOOLS = Array.from({ length: 60 }, (_, place) =>
  makeTool(`tool_${place}`, {
    description: `Handles matter ${place}. ${'Word '.repeat(40)}`,
    inputSchema: { properties },
  }),
);
const HISTORY = [{ role: 'user' as const, content: 'please do it '.repeat(160) }];

let server: ScriptedServer | undefined;
afterEach(async () => {
  await server?.close();
  server = undefined;
});

const textOf = ({ body }: RecordedRequest) =>
  (body.messages as { content: string }[]).map(({ content }) => content).join('\n');
const isSelection = (request: RecordedRequest) => textOf(request).includes('You choose tools');

async function plan(contextTokens: number, { request = {}, fails = false } = {}) {
  server = await startScriptedServer((asked) => {
    // Its tokenizer counts a little higher than the estimate.
    const tokens = Math.ceil(estimateTokens(textOf(asked)) * 1.05) + Number(asked.body.max_tokens);
    if (tokens > contextTokens) return fail(400, `maximum context length is ${contextTokens}, requested ${tokens}`);
    if (isSelection(asked)) return fails ? fail(401, 'no') : answer(naming('tool_1', 'tool_2'));
    return answer(planOf('tool_1'));
  });
  const model = createOpenAIModel({ baseUrl: server.baseUrl, model: 'small', contextTokens });
  return plannerOf({ tools: TOOLS, model, options: { fillTokens: 800 } }).plan({ message: 'do matter 1', ...request });
}

describe('a server with a small context', () => {
  it.each([
    ['2,048 tokens', 2_048, {}],
    ['2,048 tokens and a history', 2_048, { request: { history: HISTORY } }],
    ['2,048 tokens where selection fails', 2_048, { fails: true }],
    ['4,096 tokens and a history', 4_096, { request: { history: HISTORY } }],
    ['4,096 tokens, a history, and a selection that fails', 4_096, { request: { history: HISTORY }, fails: true }],
  ])('gives a plan with %s', async (_, contextTokens, how) => {
    const { kind, selection } = await plan(contextTokens, how);
    expect(kind).toBe('plan');
    expect(selection.mode).toBe('fails' in how ? 'fallback' : 'selected');
    // A plan of several steps has room.
    const planning = server?.requests.filter((asked) => !isSelection(asked)) ?? [];
    expect(planning).toHaveLength(1);
    expect(Number(planning[0]?.body.max_tokens)).toBeGreaterThanOrEqual(300);
  });
});

describe('what a model is shown', () => {
  const select = (request: Partial<PlanRequest>, options: object = {}) => {
    const model = createScriptedModel({
      answers: () => naming('tool_1'),
      limits: { contextTokens: 2_400 },
    });
    const planner = plannerOf({ tools: TOOLS, model, options: { fillTokens: 8_000, ...options } });
    return planner.select({ message: 'do matter 1', ...request });
  };

  it('of schemas is less where the request takes the room, or a longer plan is allowed', async () => {
    const [usual, asked, brief] = [
      await select({}),
      await select({ history: HISTORY }),
      await select({ history: HISTORY }, { planTokens: 64 }),
    ].map((selected) => namesOf(selected).length);
    expect(asked).toBeLessThan(usual ?? 0);
    expect(brief).toBeGreaterThan(asked ?? 0);
  });

  it('of summaries is less where the request takes the room', async () => {
    const rungOf = async (request: Partial<PlanRequest>) =>
      (await select(request)).trace.find(({ stage }) => stage === 'summaries')?.rung;
    const long = { message: `do matter 1 ${'now '.repeat(1_200)}` };
    expect(await rungOf({})).toBe('sentence');
    expect(await rungOf(long)).toBe('names');
  });
});
