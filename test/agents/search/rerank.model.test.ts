/** A second opinion of the local model, with real weights: `npm run test:model`. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createModel } from '../../../src/core/model/create-model.js';
import type { Model } from '../../../src/core/model/model.js';
import { loadNamedPrompt } from '../../../src/core/prompts/prompts.js';
import { setUp } from './setup.js';

const [prompt, repair] = [loadNamedPrompt('rerank-tools'), loadNamedPrompt('repair')];
let model: Model;

beforeAll(async () => {
  model = await createModel({});
});
afterAll(() => model.close?.());

it('is the opinion of the model on this query, not what the prompt shows', async () => {
  const { search } = await setUp({ rerank: { model, prompt, repair, timeoutMs: 300_000, minConfidence: 0 } });
  const output = await search({ query: 'let the others see the work that I did on this branch' });
  expect(output).toMatchObject({ ranked_by: 'model' });
  // Which of them comes first is the opinion of a small model, and changes with what the rules found.
  expect(output.matches.map(({ name }) => name)).toContain('git_push');
  const { system } = prompt.render({ tools: '', query: '' });
  expect(output.intent).toMatch(/\w/u);
  expect(system).not.toContain(output.intent);
});
