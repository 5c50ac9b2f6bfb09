import { afterEach, describe, expect, it } from '@jest/globals';
import { createReadiness } from '../../../src/adapters/http/readiness.js';
import { openStore } from '../../../src/agents/store/open-store.js';
import { WinnowError } from '../../../src/core/errors.js';
import { configured, serve } from '../../cli/serve-setup.js';
import { type Behaviour, type ScriptedServer, startScriptedServer } from '../../support/scripted-server.js';
import { answerJson, fail } from '../../support/server-behaviours.js';
import { startAgentServer } from './agents/setup.js';

const readyz = async (url: string) => {
  const response = await fetch(`${url}/readyz`);
  return { status: response.status, body: JSON.parse(await response.text()) };
};

describe('GET /readyz', () => {
  const models: ScriptedServer[] = [];
  afterEach(async () => {
    for (const model of models.splice(0)) await model.close();
  });

  it('is 503 with the reason while the store takes no write, and 200 again after', async () => {
    const store = await openStore();
    let isFull = true;
    const probe = async () => {
      if (isFull) throw new WinnowError('store_failed', 'The store failed: database or disk is full.');
    };
    const agents = { store: { ...store, probe } };
    const { url } = await startAgentServer({ more: agents });
    expect(await readyz(url)).toMatchObject({ status: 503, body: { code: 'store_failed' } });
    expect((await fetch(`${url}/healthz`)).status).toBe(200);
    isFull = false;
    const second = await startAgentServer({ more: agents });
    expect(await readyz(second.url)).toEqual({ status: 200, body: { status: 'ok' } });
  });

  async function serveWith(behaviour: Behaviour, ...words: string[]) {
    const model = await startScriptedServer(() => behaviour);
    models.push(model);
    const server = await serve('--base-url', model.baseUrl, '--model', 'test', ...words);
    return { ...(await readyz(server.address)), asked: model.requests.length };
  }

  it.each([
    ['fails', fail(400, 'no'), true, 503],
    ['answers', answerJson({ ok: true }), true, 200],
    ['fails, and nobody wants to know', fail(400, 'no'), false, 200],
  ])('asks a model that %s where the configuration says so', async (_, behaviour, readyModel, status) => {
    const answer = await serveWith(behaviour, ...configured({ server: { readyModel } }));
    expect([answer.status, answer.asked > 0]).toEqual([status, readyModel]);
  });
});

describe('readiness', () => {
  it('tries each thing once for all who ask within a while, also where it failed', async () => {
    let time = 0;
    let tries = 0;
    const run = async () => {
      tries += 1;
      if (tries === 1) throw new Error('first');
    };
    const ready = createReadiness([{ run, holdsMs: 100 }], () => time);
    await Promise.all([expect(ready()).rejects.toThrow('first'), expect(ready()).rejects.toThrow('first')]);
    time = 99;
    await expect(ready()).rejects.toThrow('first');
    time = 100;
    await ready();
    await ready();
    expect(tries).toBe(2);
  });
});
