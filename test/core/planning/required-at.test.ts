import { describe, expect, it } from '@jest/globals';
import { requiredAt } from '../../../src/core/planning/required-at.js';
import { makeTool } from '../selection/setup.js';

const AREA = {
  type: 'object',
  properties: { north: { type: 'number' }, south: { type: 'number' } },
  required: ['north'],
};
const tool = makeTool('find', {
  inputSchema: {
    type: 'object',
    properties: {
      name: { type: 'string' },
      area: AREA,
      areas: { type: 'array', items: AREA },
      labels: { type: 'object', additionalProperties: { type: 'string' } },
    },
    required: ['name', 'area'],
  },
});

describe('what is required in the arguments', () => {
  it.each([
    ['at the top', [], ['name', 'area']],
    ['in an object', ['area'], ['north']],
    ['in an object of a list', ['areas', '*'], ['north']],
    ['not known in an object of any properties', ['labels'], undefined],
    ['not known in a list', ['areas'], undefined],
    ['not known in a text', ['name'], undefined],
    ['not known behind a name that is not there', ['nowhere', '*', 'else'], undefined],
  ])('is known %s', (_, path, expected) => {
    expect(requiredAt(tool, path)).toEqual(expected);
  });

  it('is nothing of a tool that takes none, and not known of a tool that is not there', () => {
    expect(requiredAt(makeTool('now', { inputSchema: { type: 'object', properties: {} } }))).toEqual([]);
    expect(requiredAt(undefined)).toBeUndefined();
  });
});
