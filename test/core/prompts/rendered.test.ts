/**
 * All that a model sees, in one place. After a change of wording on purpose: `npm test -- test/prompts/rendered -u`,
 * and read the difference.
 */
import { describe, expect, it } from '@jest/globals';
import type { PlanRequest } from '../../../src/core/request.js';
import { createScriptedModel, type ScriptedAnswer } from '../../support/scripted-model.js';
import { makeTool, naming, needing, plannerOf, planOf, returning } from '../selection/setup.js';

const TOOLS = [
  makeTool('lookup_station', {
    description: 'Finds a station. Also by a part of its name.',
    category: 'stations',
    inputSchema: needing('name'),
    outputSchema: returning('stcd'),
  }),
  makeTool('water_level', {
    description: 'The level\nof a reservoir.',
    inputSchema: {
      type: 'object',
      properties: {
        stcd: { type: 'string', description: 'Station code, from lookup_station.' },
        hours: { type: 'integer', minimum: 1, default: 24 },
        unit: { enum: ['m', 'ft'] },
      },
      required: ['stcd'],
    },
    outputSchema: { type: 'object', properties: { points: { type: 'array', items: returning('z') } } },
  }),
  makeTool('write_report', {
    toolType: 'skill',
    instructions: 'Step one.\nStep two.',
    preconditions: ['The level is known.'],
  }),
  makeTool('unused'),
];

const REQUEST: PlanRequest = {
  message: 'How high is the water?\nAnd then {{summaries}}.',
  intent: 'data_query',
  entities: { object: '盘石头水库' },
  history: [
    { role: 'user', content: 'Hello' },
    { role: 'assistant', content: 'Hello!\nWhat can I do?' },
  ],
  today: '2026-11-22',
  timeZone: 'Asia/Shanghai',
};

const SELECTED = naming('water_level', 'write_report');

async function seen(request: PlanRequest, answers: readonly ScriptedAnswer[], fillTokens = 0): Promise<string[]> {
  const model = createScriptedModel({ answers });
  await plannerOf({ tools: TOOLS, model, options: { fillTokens } }).plan(request);
  model.assertDone();
  return model.calls.map(({ prompt }) => `${prompt.system}\n=== user ===\n${prompt.user}`);
}

describe('what the model sees', () => {
  it('when it selects and plans', async () => {
    const [selection, planning] = await seen(REQUEST, [SELECTED, '{"kind":"unplannable","reason":"no"}']);
    expect(selection).toMatchSnapshot('selection');
    expect(planning).toMatchSnapshot('planning');
  });

  it('of the least request', async () => {
    const request = { message: '水位多少', today: '2026-11-22', timeZone: 'Asia/Shanghai' };
    const [selection, planning] = await seen(request, [SELECTED, '{"kind":"unplannable","reason":"no"}']);
    expect(selection?.split('=== user ===')[1]).toMatchSnapshot('selection, user part');
    expect(planning?.split('=== user ===')[1]).toMatchSnapshot('planning, user part');
  });

  it('when room was filled with further tools', async () => {
    const request = { ...REQUEST, message: 'What is unused?' };
    const [, planning = ''] = await seen(request, [SELECTED, '{"kind":"unplannable","reason":"no"}'], 800);
    expect(planning).toContain('unused:');
    expect(planning.slice(planning.indexOf('1. '))).toMatchSnapshot('planning, tools');
  });

  it('when it has to mend its answers', async () => {
    const plan = '{"kind":"unplannable","reason":"no"}';
    const answers = [naming('watr_level'), SELECTED, planOf('water_level', 'unused'), plan];
    const [selection, repair, planning, planRepair] = await seen(REQUEST, answers);
    const added = (whole = '', before = '') => whole.slice(before.length);
    expect(added(repair, selection)).toMatchSnapshot('selection, repair');
    expect(added(planRepair, planning)).toMatchSnapshot('planning, repair');
  });
});
