/** The operations of an OpenAPI document through `winnow serve`: found, approved where they write, sent with their secret. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it, jest } from '@jest/globals';
import { type PetApi, startPetApi } from '../execution/executors/http/pet-api.js';
import { NO_MODEL, serve } from './serve-setup.js';

// The first test of a run loads the model client.
jest.setTimeout(60_000);

let folder: string;
let api: PetApi;
const at = (name: string) => join(folder, name);
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'winnow-openapi-'));
  api = await startPetApi();
  const id = { name: 'id', in: 'path', required: true, schema: { type: 'string' } };
  const body = {
    content: { 'application/json': { schema: { type: 'object', properties: { name: { type: 'string' } } } } },
  };
  const paths = {
    '/pets/{id}': {
      get: { operationId: 'getPet', summary: 'Look a pet up', parameters: [id] },
      delete: { operationId: 'sellPet', summary: 'Sell a pet for good', parameters: [id] },
      put: { operationId: 'rename_pet', summary: 'Give a pet a name', parameters: [id], requestBody: body },
    },
    '/secret': { get: { operationId: 'owner', summary: 'Whose shop it is', security: [{ key: [] }] } },
  };
  const components = { securitySchemes: { key: { type: 'http', scheme: 'bearer' } } };
  const document = { openapi: '3.1.0', info: { title: 'Pets', version: '1' }, servers: [{ url: api.base }], paths };
  await writeFile(at('pets.json'), JSON.stringify({ ...document, components }));
  const http = { privateAddresses: ['127.0.0.1'], secrets: { [api.base]: { key: 'PET_SHOP_KEY' } } };
  await writeFile(at('winnow.json'), JSON.stringify({ catalog: ['openapi:pets.json'], http }));
  process.env.PET_SHOP_KEY = 'woof-key-1';
});
afterAll(async () => {
  delete process.env.PET_SHOP_KEY;
  await api.close();
  await rm(folder, { recursive: true });
});

it('go from a search to the request at the API, and back', async () => {
  const server = await serve(...NO_MODEL, '--config', at('winnow.json'));
  const { id } = await server.ask('POST /v1/sessions', {});
  const session = `/v1/sessions/${id}`;
  const call = (tool: string, input: object) => server.ask(`POST ${session}/call`, { tool, arguments: input });
  const { matches } = await server.ask(`POST ${session}/search`, { query: 'look up a pet' });
  expect(matches[0]).toMatchObject({ name: 'get_pet', risk: 'low' });
  const names = ['get_pet', 'rename_pet', 'sell_pet', 'owner'];
  expect((await server.ask(`POST ${session}/enable`, { names })).rejected).toEqual([]);
  expect(await call('get_pet', { id: 'rex/1' })).toMatchObject({ ok: true, output: { id: 'rex/1' } });
  expect(await call('rename_pet', { id: '7', name: 'Rex' })).toMatchObject({ ok: true, output: { id: '7' } });
  expect(await call('get_pet', {})).toMatchObject({ ok: false, code: 'invalid_arguments' });
  const { code, approval } = await call('sell_pet', { id: '7' });
  expect(code).toBe('needs_approval');
  const sent = () => api.requests.map(({ method, url }) => `${method} ${url}`);
  expect(sent()).toEqual(['GET /pets/rex%2F1', 'PUT /pets/7']);
  await server.ask(`POST /v1/approvals/${approval}/grant`, {}, { 'x-winnow-user': 'bob' });
  expect(await call('sell_pet', { id: '7' })).toMatchObject({ ok: true });
  expect(sent().at(-1)).toBe('DELETE /pets/7');
  expect(JSON.parse(api.requests[1]?.body ?? '')).toEqual({ name: 'Rex' });

  const owner = await call('owner', {});
  expect(api.requests.at(-1)?.headers.authorization).toBe('Bearer woof-key-1');
  expect(owner.ok).toBe(true);
  expect(server.log.text()).not.toContain('woof-key-1');
  expect(server.log.text()).not.toContain('is not set');
  await server.stop();
});

it('are told at the start where the variable of their secret is not set', async () => {
  const secrets = { [api.base]: { key: 'PET_SHOP_KEY', login: 'PET_SHOP_LOGIN' } };
  await writeFile(at('unset.json'), JSON.stringify({ catalog: ['openapi:pets.json'], http: { secrets } }));
  const server = await serve(...NO_MODEL, '--config', at('unset.json'));
  const told = server.log.lines().filter(({ msg }) => String(msg).includes('is not set'));
  expect(told).toMatchObject([
    {
      level: 'warn',
      variable: 'PET_SHOP_LOGIN',
      api: api.base,
      msg: `the variable PET_SHOP_LOGIN is not set: calls of ${api.base} that need "login" fail`,
    },
  ]);
  expect(server.log.text()).not.toContain('woof-key-1');
  await server.stop();
});

it('reach no private address that the operator has not named', async () => {
  const server = await serve(...NO_MODEL, '--catalog', `openapi:${at('pets.json')}`);
  const { id } = await server.ask('POST /v1/sessions', {});
  await server.ask(`POST /v1/sessions/${id}/enable`, { names: ['get_pet'] });
  const before = api.requests.length;
  const refused = await server.ask(`POST /v1/sessions/${id}/call`, { tool: 'get_pet', arguments: { id: '1' } });
  expect(refused).toMatchObject({ ok: false, code: 'address_refused' });
  expect(api.requests).toHaveLength(before);
  await server.stop();
});
