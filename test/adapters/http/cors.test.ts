/** `server.cors`: pages of the origins that the operator named may ask, each with a proof; all others get nothing. */

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createAuthenticate } from '../../../src/adapters/http/auth/authenticate.js';
import { createMcpEndpoint } from '../../../src/adapters/mcp/http-endpoint.js';
import { loadConfigFile } from '../../../src/cli/config-file.js';
import { temporaryFolder } from '../../support/temporary-folder.js';
import { createWorld } from '../mcp/setup.js';
import { startAgentServer } from './agents/setup.js';
import { ASKED, answeringPlanner, startServer } from './setup.js';

const APP = 'https://app.example';
const TOKEN = { authorization: 'Bearer the-token-of-ann' };

async function start() {
  const { parts } = await createWorld();
  const authenticate = createAuthenticate({ tokens: [{ token: 'the-token-of-ann', user: 'ann', roles: [] }] });
  const mcp = createMcpEndpoint({ ...parts, allowedHosts: undefined });
  const { url } = await startAgentServer({ authenticate, mcp, cors: { origins: [APP] } });
  return (method: string, path: string, headers: Record<string, string> = {}) =>
    fetch(`${url}${path}`, {
      method,
      headers: { 'content-type': 'application/json', ...headers },
      ...(method === 'POST' ? { body: JSON.stringify(ASKED) } : {}),
    });
}

const preflight = (origin: string) => ({
  origin,
  'access-control-request-method': 'POST',
  'access-control-request-headers': 'authorization,content-type,idempotency-key',
});

const allowedOf = ({ status, headers }: Response) => [status, headers.get('access-control-allow-origin')];

describe('a page of an origin that the operator named', () => {
  it('may ask ahead, ask with a proof, and read the answer with its headers', async () => {
    const send = await start();
    const ahead = await send('OPTIONS', '/v1/plan', preflight(APP));
    expect(allowedOf(ahead)).toEqual([204, APP]);
    expect(ahead.headers.get('access-control-allow-headers')).toContain('idempotency-key');
    expect(ahead.headers.get('access-control-allow-credentials')).toBeNull();
    const asked = await send('POST', '/v1/plan', { origin: APP, 'sec-fetch-site': 'cross-site', ...TOKEN });
    expect(allowedOf(asked)).toEqual([200, APP]);
    expect(asked.headers.get('access-control-expose-headers')).toContain('x-request-id');
    expect(asked.headers.get('vary')).toMatch(/origin/iu);
  });

  it('is asked for a proof like all others, and can read that', async () => {
    const send = await start();
    expect(allowedOf(await send('POST', '/v1/plan', { origin: APP }))).toEqual([401, APP]);
    expect(allowedOf(await send('GET', '/v1/nothing', { origin: APP }))).toEqual([404, APP]);
  });

  it('gets nothing of /mcp', async () => {
    const send = await start();
    expect(allowedOf(await send('POST', '/mcp', { origin: APP, ...TOKEN }))).toEqual([403, null]);
  });
});

describe('a page of another origin', () => {
  it.each([
    'https://evil.example',
    'http://app.example',
    'https://app.example:444',
    'https://app.example.evil',
    'null',
  ])('gets nothing, not even an answer to what it might ask: %s', async (origin) => {
    const send = await start();
    for (const answer of [
      await send('OPTIONS', '/v1/plan', preflight(origin)),
      await send('POST', '/v1/plan', { origin, ...TOKEN }),
      await send('GET', '/openapi.json', { origin }),
      await send('GET', '/v1/nothing', { origin }),
    ])
      expect(allowedOf(answer)).toEqual([403, null]);
  });

  it('is not asked ahead for where no origin is named', async () => {
    const { url } = await startServer({ planner: answeringPlanner() });
    const answer = await fetch(`${url}/v1/plan`, { method: 'OPTIONS', headers: preflight(APP) });
    expect(allowedOf(answer)).toEqual([403, null]);
  });
});

describe('server.cors', () => {
  it('is refused where programs of this machine need no proof: a page would speak for them', async () => {
    await expect(startServer({ planner: answeringPlanner(), cors: { origins: [APP] } })).rejects.toMatchObject({
      code: 'invalid_option',
      message: expect.stringContaining('server.cors'),
    });
  });

  it.each(['*', 'https://app.example/', 'https://app.example/path', 'app.example', 'https://*.example'])(
    'takes no "%s" for an origin',
    async (origin) => {
      const file = join(temporaryFolder(), 'winnow.json');
      writeFileSync(file, JSON.stringify({ server: { cors: { origins: [origin] } } }));
      await expect(loadConfigFile(file)).rejects.toThrow(/server\.cors\.origins/u);
    },
  );
});
