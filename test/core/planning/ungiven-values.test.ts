import { describe, expect, it } from '@jest/globals';
import { ungivenValues } from '../../../src/core/planning/ungiven-values.js';
import type { Step } from '../../../src/core/result.js';
import { createTool } from '../../support/create-tool.js';

const number = { type: 'number' };
const text = { type: 'string' };
const TOOLS = new Map(
  [
    createTool('convert', { properties: { amount: number }, required: ['amount'] }),
    createTool('count', { properties: {} }, { type: 'object', properties: { names: { type: 'array' } } }),
    createTool('invoice', {
      properties: { amount: number, due: text, note: text, discount: { ...number, default: 15 } },
      required: ['amount', 'due', 'discount'],
    }),
    createTool('remind', { properties: { at: text, minutes: number }, required: ['at'] }),
  ].map((tool) => [tool.name, tool]),
);
const step = (tool: string, values: Step['arguments'] = {}, place = 1): Step => ({
  id: `s${place}`,
  tool,
  arguments: values,
  purpose: '',
  dependsOn: [],
});
const namesOf = (steps: readonly Step[], said: string) =>
  ungivenValues(steps, { tools: TOOLS, said }).map(({ tool, argument }) => `${tool}.${argument}`);
const behind = (tool: string, values: Step['arguments'], first = step('convert', { amount: 100 })) => [
  first,
  step(tool, values, 2),
];

describe('a required value that nobody gave', () => {
  const invoice = { amount: 92, due: 'Friday', discount: 15 };

  it('is found where an earlier result is used by none, with the tools that may have it and what is wrong', () => {
    expect(
      ungivenValues(behind('invoice', invoice), { tools: TOOLS, said: 'Convert 100 USD, then an invoice' }),
    ).toEqual([
      {
        tool: 'invoice',
        argument: 'amount',
        producers: ['convert'],
        problem: 's2.arguments.amount: nobody gave this value; refer to the step that finds it',
      },
    ]);
  });

  it.each([
    ['the earlier result is used', behind('invoice', { ...invoice, due: '${s1.day}' })],
    ['there is no earlier step', [step('invoice', invoice)]],
    ['the argument is optional', behind('remind', { at: 'noon', minutes: 92 })],
    ['the earlier tool returns nothing that fits', behind('invoice', invoice, step('count'))],
    ['the tool is used twice', [...behind('invoice', invoice), step('invoice', invoice, 3)]],
    ['it is a reference', behind('invoice', { ...invoice, amount: '${s1.value}' })],
  ])('is not looked for where %s', (_, steps) => {
    expect(namesOf(steps, 'Convert 100 USD, then an invoice')).toEqual([]);
  });

  it.each([
    ['a count that nobody has to say', { amount: 3 }],
    ['a number of the request', { amount: 100 }],
    ['the default of the argument', { discount: 15 }],
  ])('is not %s', (_, values) => {
    const steps = behind('invoice', { ...invoice, amount: 100, ...values });
    expect(namesOf(steps, 'Convert 100 USD, then an invoice')).toEqual([]);
  });

  it('may be a text of digits', () => {
    const at = (value: string, said: string) => namesOf(behind('remind', { at: value }), said);
    expect(at('08:00', 'buy the ticket and remind me')).toEqual(['remind.at']);
    expect(at('41.89,76.90, Mumbai', 'the time zone of Mumbai')).toEqual(['remind.at']);
    expect(at('08:00', 'remind me of it at 8')).toEqual([]);
    expect(at('3', 'remind all of us')).toEqual([]);
    expect(at('a long text of 70 words for them', 'remind the others')).toEqual([]);
  });
});
