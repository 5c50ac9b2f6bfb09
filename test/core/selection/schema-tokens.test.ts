import { expect, it } from '@jest/globals';
import { createSchemaTokens } from '../../../src/core/selection/schema-tokens.js';
import { createScriptedModel } from '../../support/scripted-model.js';
import { makeTool, needing } from './setup.js';

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
