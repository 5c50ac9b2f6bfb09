/** What the schema of a step lets a model write is read as that step, and its arguments are those of the tool. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readStep, stepSchema } from '../../../../src/adapters/langchain/chat-model/take-step.js';
import type { Tool } from '../../../../src/core/catalog/tool.js';
import { createValidator, validatorFor } from '../../../../src/core/catalog/validate.js';
import { gbnfFromSchema } from '../../../../src/core/model/embedded/gbnf.js';
import { compileSchema } from '../../../support/compile-schema.js';
import { createTool } from '../../../support/create-tool.js';
import { FIXTURES, loadFixture } from '../../../support/fixtures.js';
import { createGbnfMatcher } from '../../../support/gbnf-matcher.js';
import { valuesOf } from '../../../support/schema-values.js';

const GROUP = 6;
const RUNS = 4;
const STEPS = 6;
const toMap = (tools: readonly Tool[]) => new Map(tools.map((tool) => [tool.name, tool]));
const node = (field: string) => ({
  properties: { tree: { $ref: '#/$defs/node' } },
  required: ['tree'],
  $defs: { node: { type: 'object', properties: { [field]: { $ref: '#/$defs/node' } }, additionalProperties: false } },
});

describe.each(FIXTURES)('steps with tools of %s', (name) => {
  it('that the schema takes are read, with arguments that the tool takes', async () => {
    const { tools } = (await loadFixture(name)).catalog;
    const group = fc.uniqueArray(fc.constantFrom(...tools), {
      minLength: GROUP,
      maxLength: GROUP,
      selector: (one) => one.name,
    });
    const input = group.chain((chosen) => {
      const schema = stepSchema(chosen, { canAnswer: true });
      const steps = fc.array(valuesOf(schema, schema), { minLength: STEPS, maxLength: STEPS });
      return fc.record({ chosen: fc.constant(chosen), schema: fc.constant(schema), steps });
    });
    fc.assert(
      fc.property(input, ({ chosen, schema, steps }) => {
        const validate = compileSchema(schema);
        for (const step of steps) {
          expect({ taken: validate(step), errors: validate.errors }).toMatchObject({ taken: true });
          const text = JSON.stringify(step);
          const read = readStep({ text, finish: 'stop' }, { tools: toMap(chosen), canAnswer: true });
          expect(read).toMatchObject({ ok: true });
          if (!read.ok || 'answer' in read.value) continue;
          const tool = chosen.find(({ name }) => name === Object(read.value).tool);
          expect(tool && validatorFor(tool)(read.value.arguments)).toEqual({ ok: true });
        }
      }),
      { numRuns: RUNS, seed: 20261122 },
    );
  });

  it('can be written under a grammar, and nothing else can', async () => {
    const { tools } = (await loadFixture(name)).catalog;
    const { accepts } = createGbnfMatcher(gbnfFromSchema(stepSchema(tools.slice(0, 12), { canAnswer: true })));
    expect(accepts('{"answer":"It is done."}')).toBe(true);
    expect(accepts('{"answer":"It is done.","tool":"x"}')).toBe(false);
    expect(accepts('{"tool":"no_such_tool","arguments":{}}')).toBe(false);
    expect(accepts('It is done.')).toBe(false);
  });
});

describe('the schema of a step', () => {
  it('keeps definitions of the same name apart', () => {
    const schema = stepSchema([createTool('a', node('left')), createTool('b', node('right'))], { canAnswer: false });
    const takes = createValidator(schema);
    const step = (tool: string, field: string) => ({ tool, arguments: { tree: { [field]: { [field]: {} } } } });
    expect(takes(step('a', 'left'))).toEqual({ ok: true });
    expect(takes(step('b', 'right'))).toEqual({ ok: true });
    expect(takes(step('a', 'right')).ok).toBe(false);
  });

  it('leaves no way but a call where one is wanted', () => {
    const takes = createValidator(stepSchema([createTool('a')], { canAnswer: false }));
    expect(takes({ tool: 'a', arguments: {} })).toEqual({ ok: true });
    expect(takes({ answer: 'no' }).ok).toBe(false);
  });
});
