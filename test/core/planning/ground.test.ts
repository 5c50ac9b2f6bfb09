/** Where the arguments of a written plan are said to come from: what nobody said is never told as said. */
import { describe, expect, it } from '@jest/globals';
import { checkPlan } from '../../../src/core/planning/check-plan.js';
import { groundSteps } from '../../../src/core/planning/ground.js';
import { parseRequest } from '../../../src/core/request.js';
import { makeTool } from '../selection/setup.js';

async function sourcesOf(message: string, values: Record<string, unknown>, schema: Record<string, unknown>) {
  const tools = new Map([['t', makeTool('t', { inputSchema: { type: 'object', ...schema } })]]);
  const checked = checkPlan([{ id: 's1', tool: 't', arguments: values }], tools, { defaults: true });
  if (!checked.ok) throw new Error(checked.issues.join());
  const request = parseRequest({ message, today: '2026-11-23', timeZone: 'UTC' });
  const [step] = await groundSteps(checked.steps, { tools, request });
  return step?.from;
}

const text = { type: 'string' };
const number = { type: 'number' };

describe('the source of a written value', () => {
  it.each<[string, unknown, object, string]>([
    ['Clean up my old drafts', '/', text, 'unknown'],
    ['Clean up my old drafts', '*', text, 'composed'],
    ['Pay Ann 10.50 euros', 1050, number, 'unknown'],
    ['Pay Ann for room 1504', 50, number, 'unknown'],
    ['Pay Ann 1504 euros', 1504, number, 'request'],
    ['Transfer 5 to code 123', 'DE12', text, 'unknown'],
    ['Pay to acct-123', 'acct-12', text, 'unknown'],
    ['Pay to acct-123.', 'acct-123', text, 'request'],
    ['Show the annual report', 'ann', text, 'composed'],
    ['Show the report of Ann', 'ann', text, 'request'],
    ['查一下修武站5号的水位', '修武站', text, 'request'],
    ['查一下修武站5号的水位', 5, number, 'request'],
    ['Hello', '', text, 'composed'],
    ['Hello', [], { type: 'array', items: text }, 'composed'],
    ['Remind me tomorrow', '2', text, 'unknown'],
    ['Remind me tomorrow', '2026-11-24T03:17', text, 'unknown'],
    ['Remind me tomorrow', '2026-11-24', text, 'computed'],
    ['Remind me tomorrow at 3 pm', '2026-11-24T15:00:00Z', text, 'computed'],
  ])('in "%s" of %j is told', async (message, value, schema, source) => {
    expect(await sourcesOf(message, { value }, { properties: { value: schema } })).toEqual({ value: source });
  });

  it('is the default where the schema filled it in, whatever its type', async () => {
    const properties = {
      said: text,
      force: { type: 'boolean', default: true },
      unit: { enum: ['C', 'F'], default: 'C' },
      options: { type: 'object', default: { zone: 'eu-1' } },
      tags: { type: 'array', items: text, default: ['all'] },
    };
    expect(await sourcesOf('Hello', { said: 'Hello' }, { properties })).toEqual({
      said: 'request',
      force: 'default',
      unit: 'default',
      options: 'default',
      tags: 'default',
    });
  });

  it('is found behind references of the schema, also inside of objects', async () => {
    const where = { type: 'object', properties: { unit: { $ref: '#/$defs/Unit' } } };
    const schema = { $defs: { Unit: { enum: ['C', 'F'] } }, properties: { where } };
    expect(await sourcesOf('Weather', { where: { unit: 'C' } }, schema)).toEqual({ where: 'enum' });
  });
});
