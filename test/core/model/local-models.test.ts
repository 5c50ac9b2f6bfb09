import { expect, it } from '@jest/globals';
import { createLocalModels } from '../../../src/core/model/local-models.js';
import { createScriptedModel } from '../../support/scripted-model.js';

it('one model is shared under a key, and closed by the last who uses it', async () => {
  const models = createLocalModels();
  const bare = createScriptedModel({ answers: ['hello'] });
  const loads: string[] = [];
  const load = async () => {
    loads.push('load');
    return bare;
  };
  const [one, other] = await Promise.all([models.open('weights', load), models.open('weights', load)]);
  expect(loads).toHaveLength(1);
  await one?.close();
  await one?.close();
  expect(bare.isClosed).toBe(false);
  expect(await other?.complete({ stage: 'planning', prompt: { system: '', user: '' }, maxTokens: 9 })).toMatchObject({
    text: 'hello',
  });
  await other?.close();
  expect(bare.isClosed).toBe(true);
  await models.open('weights', load);
  await models.open('others', load);
  expect(loads).toHaveLength(3);
});

it('what could not be loaded is tried again', async () => {
  const models = createLocalModels();
  await expect(models.open('weights', () => Promise.reject(new Error('no memory')))).rejects.toThrow('no memory');
  await expect(models.open('weights', async () => createScriptedModel({ id: 'm' }))).resolves.toMatchObject({
    id: 'm',
  });
});
