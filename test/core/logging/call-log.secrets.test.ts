/** The path of a request with the call log on: values of arguments marked secret are nowhere in the file. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { WinnowError } from '../../../src/core/errors.js';
import { createCallLog, withCallLog } from '../../../src/core/logging/call-log.js';
import type { PlanRequest } from '../../../src/core/request.js';
import { createScriptedModel, type ScriptedAnswer, type ScriptedModelOptions } from '../../support/scripted-model.js';
import { makeTool, naming, plannerOf, planOf, returning, TOOLS } from '../selection/setup.js';

const SECRET = 'tr0ub4dor-&-"3"';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'winnow-secrets-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

const unlocking = (mark: object) => {
  const properties = { phrase: { type: 'string', ...mark }, door: { type: 'string' } };
  return makeTool('unlock_door', { inputSchema: { type: 'object', properties, required: ['phrase'] } });
};
const planWith = (values: object) =>
  JSON.stringify({ kind: 'plan', steps: [{ id: 's1', tool: 'unlock_door', arguments: values }] });
const PLAN = planWith({ phrase: SECRET, door: 'north' });

interface Turn {
  mark?: object;
  request?: Partial<PlanRequest>;
  /** After the selection. */
  answers?: readonly ScriptedAnswer[];
  answer?: 'list' | 'rank';
}

function loggedPlanner(script: ScriptedModelOptions, { mark = { 'x-secret': true }, answer = 'list' }: Turn = {}) {
  const bare = createScriptedModel(script);
  const model = withCallLog(bare, createCallLog({ destination: join(folder, 'calls.jsonl') }));
  return { bare, planner: plannerOf({ tools: [unlocking(mark), ...TOOLS], model, options: { answer } }) };
}

/** One tool, so that selection is skipped. */
async function judgeLogged(request: Partial<PlanRequest>): Promise<string> {
  const destination = join(folder, 'calls.jsonl');
  const bare = createScriptedModel({ readers: () => ({ probabilities: new Map([['yes', 0.9]]) }), answers: [PLAN] });
  const model = withCallLog(bare, createCallLog({ destination }));
  const planner = plannerOf({ tools: [unlocking({ 'x-secret': true })], model, options: { passthroughTools: 15 } });
  await planner.plan({ message: 'Unlock it', ...request });
  return readFileSync(destination, 'utf8');
}

async function planLogged({ request = {}, answers = [PLAN], ...turn }: Turn) {
  const { answer = 'list' } = turn;
  const reader = { probabilities: new Map(Object.entries({ unlock_door: 0.9, yes: 0.9 })) };
  const script = {
    answers: [...(answer === 'list' ? [naming('unlock_door')] : []), ...answers],
    ...(answer === 'rank' ? { readers: () => reader } : {}),
  };
  const { bare, planner } = loggedPlanner(script, turn);
  const result = await planner.plan({ message: 'Unlock the north door', ...request });
  bare.assertDone();
  return { result, log: logText() };
}

/** No part of it may stand in the log, however it is escaped. */
const SECRET_PART = 'tr0ub4dor';

const message = `Unlock the north door with ${SECRET}`;

describe('arguments marked secret in the call log of a request', () => {
  it.each([
    ['format password', { format: 'password' }],
    ['x-secret', { 'x-secret': true }],
    ['writeOnly', { writeOnly: true }],
  ])('are masked in the answer of planning, found by %s', async (_, mark) => {
    const { result, log } = await planLogged({ mark, request: { message } });
    expect(result).toMatchObject({ kind: 'plan', steps: [{ arguments: { phrase: SECRET } }] });
    expect(log.trim().split('\n')).toHaveLength(2);
    expect(log).toContain('[masked]');
    expect(log).toContain('north');
    expect(log).not.toContain(SECRET_PART);
  });

  it.each(['list', 'rank'] as const)('are masked where the caller extracted them, selection by %s', async (answer) => {
    const { log } = await planLogged({ request: { entities: { phrase: SECRET, door: 'north' } }, answer });
    expect(log).toContain('Known: ');
    expect(log).not.toContain(SECRET_PART);
  });

  it('are masked where few tools are judged and selection is skipped', async () => {
    const log = await judgeLogged({ entities: { phrase: SECRET } });
    expect(log).toContain('selection/judge-fit');
    expect(log).not.toContain(SECRET_PART);
  });

  it('are masked in the prompt of a repair, which holds the answer before, also where the second answer has none', async () => {
    const bad = planWith({ phrase: SECRET, gate: 1 }).replace('unlock_door', 'unlock_gate');
    const { planner } = loggedPlanner({ answers: [naming('unlock_door', 'play_song'), bad, planOf('play_song')] });
    expect(await planner.plan({ message })).toMatchObject({ kind: 'plan' });
    expect(logText()).toContain('Your last answer was');
    expect(logText()).not.toContain(SECRET_PART);
  });

  it.each([
    ['list', []],
    ['rank', ['selection/judge-fit']],
  ] as const)(
    'are masked in the message of all lines, since the plan shows which words they are, selection by %s',
    async (answer, judged) => {
      const { log } = await planLogged({ request: { message }, answer });
      expect(modulesOf(log)).toEqual(['selection/select', ...judged, 'planning/write-plan']);
      for (const line of log.trim().split('\n')) expect(line).toContain('Unlock the north door with [masked]');
      expect(log).not.toContain(SECRET_PART);
    },
  );

  it('are masked in the message of the judgement whether the tools fit', async () => {
    const log = await judgeLogged({ message });
    expect(modulesOf(log)).toEqual(['selection/judge-fit', 'planning/write-plan']);
    expect(log.match(/Unlock the north door with \[masked\]/gu)?.length).toBeGreaterThanOrEqual(2);
    expect(log).not.toContain(SECRET_PART);
  });

  it.each([
    ['planning fails', new WinnowError('model_failed', 'The server failed.'), 'model_failed'],
    ['the user is asked back', `{"kind":"clarification","question":"Is ${SECRET_PART} right?"}`, 'ok'],
  ])('are left out with all of the words where %s, which shows nothing', async (_, answer, outcome) => {
    const { log } = await planLogged({ request: { message }, answers: [answer] }).catch(() => ({ log: logText() }));
    expect(log).not.toContain(SECRET_PART);
    expect(log).not.toContain('north');
    const [selection, planning] = log
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(selection).toMatchObject({ outcome: 'ok', prompt: { user: LEFT_OUT }, variables: LEFT_OUT });
    expect(planning).toMatchObject({ outcome, prompt: { user: LEFT_OUT }, tokens: { calls: expect.any(Number) } });
  });

  it.each([
    ['in another case', 'Unlatch it with hunter2secret', 'Hunter2Secret', ['hunter2secret']],
    ['in part', 'Unlatch it with hunter2secret', 'hunter2', ['hunter2', 'secret"']],
    ['in other words', 'Unlatch it with 47 11', '4711', ['47 11']],
  ])('are left out with all of the words where the plan shows them %s', async (_, said, written, needles) => {
    const { result, log } = await planLogged({ request: { message: said }, answers: [planWith({ phrase: written })] });
    expect(result.kind).toBe('plan');
    expect(log).not.toContain('Unlatch');
    for (const needle of needles) expect(log).not.toContain(needle);
  });

  it('are left out with all of the words where a plan that shows them is no valid one', async () => {
    const answers = Array.from({ length: 2 }, () => planWith({ phrase: SECRET, door: 5 }));
    const failed = planLogged({ request: { message: `${message}, or with 4712` }, answers });
    await expect(failed).rejects.toMatchObject({ code: 'plan_invalid' });
    expect(logText()).not.toContain(SECRET_PART);
    expect(logText()).not.toContain('4712');
  });

  it('are no reason to leave anything out where an earlier step finds them', async () => {
    const finding = { id: 's1', tool: 'find_phrase', arguments: {} };
    const using = { id: 's2', tool: 'unlock_door', arguments: { phrase: '${s1.phrase}' } };
    const bare = createScriptedModel({
      answers: [naming('unlock_door', 'find_phrase'), JSON.stringify({ kind: 'plan', steps: [finding, using] })],
    });
    const model = withCallLog(bare, createCallLog({ destination: join(folder, 'calls.jsonl') }));
    const tools = [unlocking({ 'x-secret': true }), makeTool('find_phrase', { outputSchema: returning('phrase') })];
    expect(await plannerOf({ tools, model }).plan({ message: 'Unlock the north door' })).toMatchObject({
      kind: 'plan',
    });
    expect(logText()).toContain('Unlock the north door');
  });

  it('that are short leave the facts of a line as they are', async () => {
    const { log } = await planLogged({ request: { message: 'Open with ann' }, answers: [planWith({ phrase: 'ann' })] });
    const lines = log
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(lines[1]).toMatchObject({
      stage: 'planning',
      module: 'planning/write-plan',
      promptName: 'plan-steps',
      outcome: 'ok',
      variables: { message: 'Open with [masked]' },
    });
  });

  it('are not in an error that quotes the request, of which the rest stays', async () => {
    const error = new WinnowError('model_refused', `The server answered 400: Flagged "${SECRET_PART}" in the door.`);
    await planLogged({ request: { message }, answers: [error] }).catch(() => {});
    expect(logText()).not.toContain(SECRET_PART);
    const [, planning] = logText()
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(planning).toMatchObject({ error: expect.stringMatching(/^The server answered 400: Flagged "\[masked\]"/u) });
  });

  it('are left out where only tools are selected', async () => {
    const { planner } = loggedPlanner({ answers: [naming('unlock_door')] });
    await planner.select({ message });
    expect(logText()).toContain(LEFT_OUT);
    expect(logText()).not.toContain(SECRET_PART);
  });

  it('are no reason to leave anything out where a plan has none of them', async () => {
    const plan = JSON.stringify({ kind: 'plan', steps: [{ id: 's1', tool: 'play_song', arguments: {} }] });
    const script = { answers: [naming('unlock_door', 'play_song'), plan] };
    const { planner } = loggedPlanner(script);
    await planner.plan({ message: 'Play a song at the north door' });
    const lines = logText().trim().split('\n');
    expect(lines).toHaveLength(2);
    for (const line of lines) expect(line).toContain('Play a song at the north door');
  });

  it('of no tool hold no line back, and leave nothing out', async () => {
    const bare = createScriptedModel({ answers: [naming('play_song'), new WinnowError('model_failed', 'Failed.')] });
    const told: string[] = [];
    const model = withCallLog(bare, createCallLog({ destination: join(folder, 'calls.jsonl') }));
    const onEvent = ({ stage }: { stage: string }) => void (stage === 'planning' && told.push(logText()));
    await expect(plannerOf({ model }).plan({ message: 'music' }, { onEvent })).rejects.toThrow('Failed.');
    expect(told[0]).toContain('music');
    expect(logText()).not.toContain(LEFT_OUT);
  });
});

const LEFT_OUT = '[left out: it may hold the value of an argument marked secret]';
const logText = () => readFileSync(join(folder, 'calls.jsonl'), 'utf8');
const modulesOf = (log: string) =>
  log
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line).module);
