/** The path of a request with the call log on: values of arguments marked secret are nowhere in the file. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { createCallLog, withCallLog } from '../../src/logging/call-log.js';
import type { PlanRequest } from '../../src/request.js';
import { makeTool, naming, plannerOf, TOOLS } from '../selection/setup.js';
import { createScriptedModel } from '../support/scripted-model.js';

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
  answers?: readonly string[];
  answer?: 'list' | 'rank';
}

async function planLogged({ mark = { 'x-secret': true }, request = {}, answers = [PLAN], answer = 'list' }: Turn) {
  const destination = join(folder, 'calls.jsonl');
  const reader = { probabilities: new Map([['unlock_door', 0.9]]) };
  const bare = createScriptedModel({
    answers: [...(answer === 'list' ? [naming('unlock_door')] : []), ...answers],
    ...(answer === 'rank' ? { readers: () => reader } : {}),
  });
  const model = withCallLog(bare, createCallLog({ destination }));
  const planner = plannerOf({ tools: [unlocking(mark), ...TOOLS], model, options: { answer } });
  const result = await planner.plan({ message: 'Unlock the north door', ...request });
  bare.assertDone();
  return { result, log: readFileSync(destination, 'utf8') };
}

/** No part of it may stand in the log, however it is escaped. */
const SECRET_PART = 'tr0ub4dor';

describe('arguments marked secret in the call log of a request', () => {
  it.each([
    ['format password', { format: 'password' }],
    ['x-secret', { 'x-secret': true }],
    ['writeOnly', { writeOnly: true }],
  ])('are masked in the answer of planning, found by %s', async (_, mark) => {
    const { result, log } = await planLogged({ mark });
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
    const destination = join(folder, 'calls.jsonl');
    const probabilities = new Map([['yes', 0.9]]);
    const bare = createScriptedModel({ readers: () => ({ probabilities }), answers: [PLAN] });
    const model = withCallLog(bare, createCallLog({ destination }));
    const planner = plannerOf({ tools: [unlocking({ 'x-secret': true })], model, options: { passthroughTools: 15 } });
    await planner.plan({ message: 'Unlock it', entities: { phrase: SECRET } });
    const log = readFileSync(destination, 'utf8');
    expect(log).toContain('selection/judge-fit');
    expect(log).not.toContain(SECRET_PART);
  });

  it('are masked in the prompt of a repair, which holds the answer before, also where the second answer has none', async () => {
    const bad = planWith({ phrase: SECRET, gate: 1 }).replace('unlock_door', 'unlock_gate');
    const question = '{"kind":"clarification","question":"Which door?","missing":["door"]}';
    const { result, log } = await planLogged({ answers: [bad, question] });
    expect(result.kind).toBe('clarification');
    expect(log).toContain('Your last answer was');
    expect(log).not.toContain(SECRET_PART);
  });

  it('are masked in the message of planning too, as soon as the answer shows that they are secret', async () => {
    const { log } = await planLogged({ request: { message: `Unlock the north door with ${SECRET}` } });
    const [selection = '', planning = ''] = log.trim().split('\n');
    expect(planning).not.toContain(SECRET_PART);
    // Before any answer nothing tells which of the user's words is a secret: said in the README.
    expect(selection).toContain(SECRET_PART);
  });
});
