/** Texts of strangers that an expression might go through once for each of their characters: these would take minutes. */
import { expect, it } from '@jest/globals';
import { capOutput } from '../../src/agents/sandbox/cap-output.js';
import { createCatalog } from '../../src/core/catalog/catalog.js';
import { isGiven, producerGraph } from '../../src/core/catalog/producers.js';
import { createScope } from '../../src/core/catalog/scope.js';
import { findBroken, findReferences } from '../../src/core/planning/references.js';
import { createTool } from '../support/create-tool.js';

const LENGTH = 400_000;

it.each([
  ['blanks', `a${' '.repeat(LENGTH)}!`],
  ['line breaks', `a${'\n'.repeat(LENGTH)}!`],
  ['digits', `${'1'.repeat(LENGTH)}.a`],
])('a request of many %s is read', (_, message) => {
  const tool = createTool('get_order', { properties: { order_id: { type: 'string' } }, required: ['order_id'] });
  const view = createScope(createCatalog([tool]))({});
  const [argument] = producerGraph(view).argumentsOf(tool);
  expect(argument && isGiven(argument, { message })).toBe(false);
});

it.each(['${'.repeat(LENGTH), `\${${'.'.repeat(LENGTH)}`, `\${s1${'.a'.repeat(LENGTH)}`])(
  'a text like many references is read: %#',
  (text) => {
    expect(findReferences(text)).toEqual([]);
    expect(findBroken(text).length).toBeLessThan(2);
  },
);

it('a result of many signs for what is no character is cut', () => {
  const text = `${'\uFFFD'.repeat(LENGTH)}a`;
  expect(String(capOutput({ value: text, text: JSON.stringify(text) }, 3 * LENGTH).value)).toHaveLength(LENGTH);
});
