import { describe, expect, it } from '@jest/globals';
import { ungivenValues } from '../../src/planning/ungiven-values.js';
import type { Step } from '../../src/result.js';
import { createTool } from '../support/create-tool.js';

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
        problem: 's2.arguments.amount: nobody gave 92; refer to the step that finds it',
      },
    ]);
  });

  it.each([
    ['the earlier result is used', behind('invoice', { ...invoice, due: '${s1.day}' })],
    ['there is no earlier step', [step('invoice', invoice)]],
    ['the argument is optional', behind('remind', { at: 'noon', minutes: 92 })],
    ['the earlier tool returns nothing that fits', behind('invoice', invoice, step('count'))],
    ['it is a reference', behind('invoice', { ...invoice, amount: '${s1.value}' })],
  ])('is not looked for where %s', (_, steps) => {
    expect(namesOf(steps, 'Convert 100 USD, then an invoice')).toEqual([]);
  });

  it.each([
    ['in the words of the request', 92, 'an invoice over 92 dollars'],
    ['with a mark for thousands', 200_000, 'a loan of 200,000 dollars'],
    ['as a share of a hundred', 0.05, 'at 5 % interest'],
    ['in minutes for hours', 120, 'for 2 hours'],
    ['in months for years', 120, 'over 10 years'],
    ['below zero', -40, 'at minus 40 degrees'],
    ['in another script', 92, '金额是９２元'],
    ['in words, as small counts are', 3, 'for the three of us'],
  ])('is none that was given %s', (_, amount, said) => {
    expect(namesOf(behind('invoice', { ...invoice, amount }), said)).toEqual([]);
  });

  it.each([
    ['a sum of two', 1_200, 'a salary of 1000 and 200 more'],
    ['made of parts of a date', 24, 'due on 2024-12-31'],
    ['a product', 800, 'a discount of 20 % on 1000'],
  ])('may be %s that were', (_, amount, said) => {
    expect(namesOf(behind('invoice', { ...invoice, amount }), said)).toEqual(['invoice.amount']);
  });

  it('may be a text of digits', () => {
    const at = (value: string, said: string) => namesOf(behind('remind', { at: value }), said);
    expect(at('08:00', 'buy the ticket and remind me')).toEqual(['remind.at']);
    expect(at('41.89,76.90, Mumbai', 'what time is it in Mumbai')).toEqual(['remind.at']);
    expect(at('19:00', 'remind me at 7 in the evening')).toEqual([]);
    expect(at('09:30', 'remind me at 9.30')).toEqual([]);
    expect(at('2026-03-04', 'remind me tomorrow')).toEqual([]);
    expect(at('a long text of 7 words for them', 'remind them')).toEqual([]);
  });
});
