import { describe, expect, it } from '@jest/globals';
import { fromOtherForms } from '../../../../src/core/catalog/sources/other-forms.js';

const schema = { type: 'object', properties: { city: { type: 'string' } } };
const tool = { name: 'weather', description: 'The weather.', inputSchema: schema };
const { inputSchema: _, ...named } = tool;

describe('a tool of another interface', () => {
  it.each([
    ['of OpenAI', { type: 'function', function: { ...named, parameters: schema } }],
    ['of OpenAI without its wrapping', { ...named, parameters: schema }],
    ['of Anthropic', { ...named, input_schema: schema }],
    ['without a type of its schema', { ...named, parameters: schema }],
  ])('%s is read as an entry', (_name, entry) => {
    expect(fromOtherForms(entry)).toEqual(tool);
  });

  it('keeps what else it says', () => {
    const entry = { type: 'function', risk: 'low', function: { ...named, strict: true, parameters: schema } };
    expect(fromOtherForms(entry)).toEqual({ ...tool, risk: 'low', strict: true });
  });

  it.each([
    ['with a schema of its own beside', { ...tool, parameters: { type: 'object' } }],
    ['whose parameters are no schema', { ...named, parameters: ['city'] }],
    ['whose type is something else', { ...tool, type: 'function' }],
    ['that is none', 'weather'],
  ])('%s stays as it is', (_name, entry) => {
    expect(fromOtherForms(entry)).toEqual(entry);
  });
});
