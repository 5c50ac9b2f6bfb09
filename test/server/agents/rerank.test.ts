/** A second opinion on a search over HTTP: who ranked is in the answer, and a model that fails takes nothing away. */
import { describe, expect, it } from '@jest/globals';
import { WinnowError } from '../../../src/core/errors.js';
import type { Model } from '../../../src/core/model/model.js';
import { createRerank } from '../../../src/routing/search/create-rerank.js';
import { parseRerankSettings } from '../../../src/routing/search/rerank.js';
import { createScriptedModel, type ScriptedAnswer } from '../../support/scripted-model.js';
import { startAgentServer } from './setup.js';

const QUERY = { query: 'file' };
const opinion = (confidence: number) =>
  JSON.stringify({ intent: 'delete', top_k_tools: ['file_delete'], confidence, need_clarification: false });

async function searchWith(model: Model | undefined, settings: object = {}) {
  const failures: WinnowError[] = [];
  const rerank =
    model &&
    createRerank(model, {
      settings: parseRerankSettings({ enabled: true, ...settings }),
      onFailure: (error) => failures.push(error),
    });
  const { ask, url } = await startAgentServer({ more: { rerank } });
  const { body: session } = await ask('POST /v1/sessions', {}, { user: 'ann' });
  const { status, body } = await ask(`POST /v1/sessions/${session.id}/search`, QUERY, { user: 'ann' });
  const names: string[] = body.matches.map(({ name }: { name: string }) => name);
  return { status, body, names, failures, url };
}

describe('a search over HTTP', () => {
  it('is ordered by the model that is sure, and says so, to the agent and in the metrics', async () => {
    const { status, body, names, url } = await searchWith(createScriptedModel({ answers: [opinion(0.9)] }));
    expect([status, body.ranked_by, body.confidence, names[0]]).toEqual([200, 'model', 0.9, 'file_delete']);
    expect(body.degraded).toBeUndefined();
    expect(await (await fetch(`${url}/metrics`)).text()).toContain('winnow_searches_total{ranked_by="model"} 1');
  });

  const deaf = { ...createScriptedModel(), complete: () => new Promise<never>(() => {}) };
  const refusing = new WinnowError('model_refused', 'The server at http://10.1.2.3:8080 says: bad key sk-1.');
  const scripted = (answer: ScriptedAnswer) => createScriptedModel({ answers: () => answer });
  it.each<[string, Model, object, RegExp]>([
    ['does not answer in time', deaf, { timeoutMs: 20 }, /^the model did not answer within 20 ms$/u],
    ['is not sure enough', scripted(opinion(0.9)), { minConfidence: 0.95 }, /^the model's confidence of 0.9 is below/u],
    ['writes nonsense', scripted('nonsense'), {}, /^the answer of the model is not usable/u],
    ['refuses', scripted(refusing), {}, /^model_refused: The model server refused the call/u],
  ])('has the order of the rules where the model %s, and why', async (_, model, settings, reason) => {
    const plain = await searchWith(undefined);
    const { status, body, names } = await searchWith(model, settings);
    expect([status, body.ranked_by, names]).toEqual([200, 'rules', plain.names]);
    expect(body.degraded).toMatch(reason);
    expect(body.matches).toEqual(plain.body.matches);
  });

  it('tells the operator what the agent must not learn of the model server', async () => {
    const { body, failures } = await searchWith(scripted(refusing));
    expect(JSON.stringify(body)).not.toMatch(/10\.1\.2\.3|sk-1/u);
    expect(failures).toEqual([refusing]);
  });

  it('asks no model where none is switched on', async () => {
    expect(createRerank(deaf, { settings: parseRerankSettings({}) })).toBeUndefined();
    expect((await searchWith(undefined)).body).toMatchObject({ ranked_by: 'rules' });
  });
});
