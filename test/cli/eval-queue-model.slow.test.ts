/** `winnow eval --queue --model NAME` with a name of the local store: any worker with that file does the run. */
import { mkdirSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { loadSuites } from '../../src/cli/eval-suites.js';
import { storeNameOf } from '../../src/cli/model-settings.js';
import { readVersion } from '../../src/core/environment.js';
import { createModelOn } from '../../src/core/model/embedded/embedded-model.js';
import { DEFAULT_MODEL } from '../../src/core/model/store/sources.js';
import type { CaseRunner } from '../../src/eval/case-runner.js';
import { promptHashesOf } from '../../src/eval/suite.js';
import { type RedisServer, startRedis, whyNoRedis } from '../eval/queue/redis-server.js';
import { answers, beginWorker } from '../eval/queue/setup.js';
import { createFakeRuntime } from '../support/fake-runtime.js';
import { ALL_KEYS, type EvalSetup, setUpEval } from './eval-setup.js';
import { runEval } from './run-eval.js';

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

const reason = whyNoRedis();
const itWithRedis = reason === undefined ? it : it.skip;
const named = (name: string) => (reason === undefined ? name : `${name} (skipped: ${reason})`);

let redis: RedisServer;
let setup: EvalSetup;
beforeAll(async () => {
  if (reason === undefined) redis = await startRedis();
});
beforeEach(async () => {
  setup = await setUpEval();
});
afterEach(() => setup.close());
afterAll(() => redis?.stop());

/** The model of a machine: as large as the entry says, without its content, which takes no room. */
function aStoredModel(machine: string) {
  const { file, bytes } = DEFAULT_MODEL;
  const modelFile = join(setup.folder, machine, file);
  mkdirSync(join(setup.folder, machine));
  writeFileSync(modelFile, '');
  truncateSync(modelFile, bytes);
  return createModelOn(createFakeRuntime().runtime, { modelFile, prefixFolder: `${modelFile}.prefixes` });
}

async function beginMachine(name: string, model: string) {
  const logger = { debug: () => undefined, warn: () => undefined };
  const context = { config: {}, logger, signal: undefined, stderr: { write: () => true } };
  const suites = await loadSuites([join(setup.folder, 'set')], context);
  const catalogs = new Set(suites.map(({ catalog }) => catalog.fingerprint));
  const identity = {
    version: readVersion(),
    model,
    modelName: storeNameOf(model),
    prompts: promptHashesOf({}),
    catalogs,
  };
  // Longer in all than a worker waits before it looks for runs again.
  const run: CaseRunner = async (job) => {
    await delay(400);
    return answers(job);
  };
  return beginWorker(redis.url, { name, identity, run });
}

describe('a run that names a model of the local store', () => {
  afterEach(() => {
    delete process.env.WINNOW_MODEL;
  });
  itWithRedis.each(['flag', 'environment'])(
    named('is done by the workers that have its file, and no other: by %s'),
    async (place) => {
      const [one, two] = [aStoredModel('one'), aStoredModel('two')];
      expect(two.id).toBe(one.id);
      const models = { one: one.id, two: two.id, three: 'of an endpoint' };
      const machines = await Promise.all(Object.entries(models).map(([name, id]) => beginMachine(name, id)));
      const words = ['eval', '--suite', join(setup.folder, 'set'), '--queue', redis.url, '--out', setup.out];
      if (place === 'environment') process.env.WINNOW_MODEL = DEFAULT_MODEL.name;
      const run = await runEval([...words, ...(place === 'flag' ? ['--model', DEFAULT_MODEL.name] : [])]);
      await Promise.all(machines.map(({ end }) => end()));
      expect([run.exitCode, run.error]).toEqual([0, undefined]);
      expect([await setup.keys(), await setup.summary()]).toEqual([
        ALL_KEYS,
        expect.objectContaining({ model: DEFAULT_MODEL.name }),
      ]);
      expect(machines[2]?.notices.join()).toContain(`model: "${DEFAULT_MODEL.name}" there, "of an endpoint" here`);
    },
  );
});
