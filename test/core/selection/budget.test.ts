/** What is handed on fits what the planning model can read, whichever way it was chosen. */
import { describe, expect, it } from '@jest/globals';
import { WinnowError } from '../../../src/core/errors.js';
import { createSchemaTokens } from '../../../src/core/selection/budget.js';
import { createScriptedModel, type ScriptedAnswer } from '../../support/scripted-model.js';
import { makeTool, namesOf, naming, needing, plannerOf, planOf, TOOLS } from './setup.js';

const LONG = 'word '.repeat(600);
const LARGE = Array.from({ length: 12 }, (_, place) => makeTool(`large_${place}`, { description: `${place} ${LONG}` }));
/** Their schemas are small, and what planning is shown of them is not. */
const SKILLS = Array.from({ length: 12 }, (_, place) =>
  makeTool(`skill_${place}`, { toolType: 'skill', instructions: LONG }),
);
const TELLING = Array.from({ length: 12 }, (_, place) =>
  makeTool(`telling_${place}`, { outputSchema: { type: 'object', properties: { x: { description: LONG } } } }),
);

const modelWith = (contextTokens: number, answers: readonly ScriptedAnswer[]) =>
  createScriptedModel({ answers, limits: { contextTokens } });

describe('few tools that are large', () => {
  it.each([
    ['descriptions', LARGE],
    ['instructions', SKILLS],
    ['results', TELLING],
  ])('are chosen from where their %s leave no room for a plan', async (_, tools) => {
    const options = { passthroughTools: 15, summaryTokens: 20_000 };
    const [first = ''] = tools.map(({ name }) => name);
    const small = createScriptedModel({
      answers: [naming(first)],
      limits: { contextTokens: 100_000 },
    });
    const planning = modelWith(8_000, []);
    const chosen = await plannerOf({ tools, model: small, planningModel: planning, options }).select({ message: 'x' });
    expect(chosen.mode).toBe('selected');
    expect(namesOf(chosen)).toEqual([first]);
    const all = await plannerOf({ tools, model: modelWith(100_000, []), options }).select({ message: 'x' });
    expect(all.mode).toBe('passthrough');
  });
});

describe('chosen tools', () => {
  it.each([
    ['descriptions', LARGE],
    ['instructions', SKILLS],
  ])('are cut where their %s are more than the planning model can read', async (_, tools) => {
    const names = tools.map(({ name }) => name);
    const planning = modelWith(4_000, []);
    const model = modelWith(100_000, [naming(...names.slice(0, 8))]);
    const options = { summaryTokens: 20_000, schemaTokens: 100_000 };
    const { tools: kept, dropped } = await plannerOf({ tools, model, planningModel: planning, options }).select({
      message: 'x',
    });
    expect(kept.length).toBeGreaterThan(0);
    expect(kept.length).toBeLessThan(8);
    expect(dropped).toContainEqual({ name: names[7], reason: 'schemaTokens' });
  });

  it('of two rounds share one budget', async () => {
    const [first = '', second = '', third = ''] = LARGE.map(({ name }) => name);
    const needed = JSON.stringify({ kind: 'needTools', needTools: 'more' });
    const model = modelWith(100_000, [naming(first, second), needed, naming(third), planOf(first)]);
    const options = { summaryTokens: 20_000, schemaTokens: 2_000 };
    const { selection } = await plannerOf({ tools: LARGE, model, options }).plan({ message: 'x' });
    // Each takes about 700: two were loaded, and of the third only the one that a choice always keeps.
    expect(namesOf(selection)).toEqual([first, second, third]);
    const more = modelWith(100_000, [naming(first, second), needed, naming(third, 'large_5'), planOf(first)]);
    const both = await plannerOf({ tools: LARGE, model: more, options }).plan({ message: 'x' });
    expect(both.selection.dropped).toContainEqual({ name: 'large_5', reason: 'schemaTokens' });
  });

  it('of a failed selection fit with their instructions', async () => {
    const down = new WinnowError('model_failed', 'the server is down');
    const planning = modelWith(4_000, []);
    const model = modelWith(100_000, [down]);
    const chosen = await plannerOf({ tools: [...SKILLS, ...TOOLS], model, planningModel: planning }).select({
      message: 'skill',
    });
    expect(chosen.mode).toBe('fallback');
    expect(namesOf(chosen).filter((name) => name.startsWith('skill')).length).toBeLessThan(4);
    expect(chosen.leftOut).toBeGreaterThan(0);
  });
});

it('counts what a schema costs in the tokens of the model, once a tool', () => {
  const counted: string[] = [];
  const model = {
    ...createScriptedModel(),
    countTokens: (text: string) => {
      counted.push(text);
      return text.length;
    },
  };
  const tool = makeTool('read_mail', { description: 'Reads.', inputSchema: needing('id') });
  const tokens = createSchemaTokens(model)(tool);
  expect(createSchemaTokens(model)(tool)).toBe(tokens);
  expect(counted).toHaveLength(1);
  expect(JSON.parse(counted[0] ?? '')).toEqual({
    name: 'read_mail',
    description: 'Reads.',
    parameters: tool.inputSchema,
  });
  expect(createSchemaTokens(createScriptedModel())(tool)).not.toBe(tokens);
});
