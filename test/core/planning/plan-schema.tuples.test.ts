/** Where the server can be told what stands at which place of a list, a wrong order can't be written. */
import { describe, expect, it } from '@jest/globals';
import { compileSchema } from '../../support/compile-schema.js';
import { planAnswerSchema } from '../../../src/core/planning/plan-schema.js';
import { createTool } from '../../support/create-tool.js';

const toAwaited = (place: string) => {
  const [tool = '', argument = ''] = place.split('.');
  return { tool, argument, producers: ['find'] };
};

const STATION = { type: 'object', properties: { stcd: { type: 'string' } } };
const find = createTool(
  'find',
  { properties: { name: { type: 'string', minLength: 1 } }, required: ['name'], additionalProperties: false },
  STATION,
);
const read = createTool(
  'read',
  { properties: { stcd: { type: 'string', pattern: '^\\d{8}$' } }, required: ['stcd'], additionalProperties: false },
  STATION,
);

const accepts = (references: string[], steps: unknown[], things = 0) =>
  compileSchema(
    planAnswerSchema([find, read], { awaited: references.map(toAwaited), canNeedTools: false, tuples: true, things }))({ kind: 'plan', steps });
const finding = (id: string) => ({ id, tool: 'find', arguments: { name: 'x' } });
const reading = (id: string, stcd: string) => ({ id, tool: 'read', arguments: { stcd } });

describe('a plan under a schema with places', () => {
  it.each([
    ['a reference to the step before', [finding('s1'), reading('s2', '${s1.stcd}')], true],
    ['a value of its own', [reading('s1', '12345678')], true],
    ['a reference to itself', [finding('s1'), reading('s2', '${s2.stcd}')], false],
    ['a reference to a later step', [reading('s1', '${s2.stcd}'), finding('s2')], false],
    ['ids that do not count up', [finding('s2'), reading('s1', '${s2.stcd}')], false],
  ])('is asked: %s', (_, steps, isRight) => {
    expect(accepts([], steps)).toBe(isRight);
  });

  it('can not begin with a tool that waits for another', () => {
    expect(accepts(['read.stcd'], [reading('s1', '12345678')])).toBe(false);
    expect(accepts(['read.stcd'], [finding('s1'), reading('s2', '${s1.stcd}')])).toBe(true);
  });

  it('ends at eight steps, or two behind one for each of several things', () => {
    const steps = (count: number) => Array.from({ length: count }, (_, place) => finding(`s${place + 1}`));
    expect(accepts([], steps(8))).toBe(true);
    expect(accepts([], steps(9))).toBe(false);
    expect(accepts([], steps(12), 10)).toBe(true);
    expect(accepts([], steps(13), 10)).toBe(false);
  });
});
