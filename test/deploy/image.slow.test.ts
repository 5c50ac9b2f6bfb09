/** The image of the Dockerfile, built step by step without Docker, and started as a container starts it. */
import { execFile, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import { request } from 'undici';
import { afterEach, expect, it, vi } from 'vitest';
import { parse } from 'yaml';
import { freePort } from '../support/free-port.js';
import { startScriptedServer } from '../support/scripted-server.js';
import { answerJson } from '../support/server-behaviours.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { type Image, runDockerfile } from './run-dockerfile.js';

// All packages are installed twice.
vi.setConfig({ testTimeout: 900_000, hookTimeout: 900_000 });

const run = promisify(execFile);
const TOKEN = 'a-token-of-a-test-of-the-image';
const isOnline = spawnSync('npm', ['view', 'pg@8.23.1', 'version']).status === 0;

/** As the volumes of the compose file put them there. */
function mountConfiguration({ inside }: Image, modelUrl: string): void {
  const { services } = parse(readFileSync('deploy/compose.yaml', 'utf8'));
  const volumes: string[] = services.winnow.volumes;
  for (const volume of volumes.filter((one) => one.startsWith('./'))) {
    const [from = '', to = ''] = volume.split(':');
    mkdirSync(dirname(inside(to)), { recursive: true });
    const text = readFileSync(join('deploy', from), 'utf8');
    writeFileSync(inside(to), text.replace('http://llama:8080/v1', modelUrl));
  }
}

async function untilHealthy(check: () => Promise<unknown>, child: { exitCode: number | null }): Promise<void> {
  for (;;) {
    if (child.exitCode !== null) throw new Error(`The server ended with ${child.exitCode}.`);
    if (
      await check().then(
        () => true,
        () => false,
      )
    )
      return;
    await delay(100);
  }
}

const ends: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0)) await end();
});

const test = isOnline ? it : it.skip;
test(`the image starts, is healthy, plans and stops${isOnline ? '' : ' (skipped: no registry of packages answers)'}`, async () => {
  const image = await runDockerfile('Dockerfile', temporaryFolder());
  expect(image.user).not.toBe('root');
  const model = await startScriptedServer(() =>
    answerJson({ kind: 'plan', steps: [{ id: 's1', tool: 'get_weather', arguments: { city: 'Paris' } }] }),
  );
  mountConfiguration(image, model.baseUrl);
  const port = String(await freePort());
  const onPort = (words: readonly string[]) => words.map((word) => word.replace('8787', port));
  const [file = '', ...words] = [...image.entrypoint, ...onPort(image.command)];
  const { NODE_OPTIONS: _, ...own } = process.env;
  const env = { ...own, ...image.env, WINNOW_USER_TOKEN: TOKEN };
  const child = spawn(file, words, { cwd: image.workdir, env, stdio: ['ignore', 'inherit', 'pipe'] });
  ends.push(
    () => model.close(),
    () => child.kill('SIGKILL'),
  );
  let log = '';
  child.stderr.on('data', (chunk) => {
    log += chunk;
  });
  const [checker = '', ...check] = onPort(image.healthcheck);
  await untilHealthy(() => run(checker, check, { env: own }), child).catch((error) => {
    throw new Error(`${error.message}\n${log}`);
  });

  // By the name of a service, and by the address of a pod, as probes ask.
  const ask = (path: string, headers: Record<string, string> = {}, body?: object) =>
    request(`http://127.0.0.1:${port}${path}`, {
      method: body ? 'POST' : 'GET',
      headers: { host: 'winnow.default.svc', 'content-type': 'application/json', ...headers },
      ...(body ? { body: JSON.stringify(body) } : {}),
    });
  for (const path of ['/healthz', '/readyz', '/docs', '/openapi.json'])
    expect([path, (await ask(path, { host: `10.1.2.3:${port}` })).statusCode]).toEqual([path, 200]);
  const authorization = `Bearer ${TOKEN}`;
  expect(await (await ask('/metrics', { authorization })).body.text()).toContain('winnow_');
  expect((await ask('/v1/plan', {}, { message: 'Weather in Paris' })).statusCode).toBe(401);
  const plan = await ask('/v1/plan', { authorization }, { message: 'Weather in Paris' });
  expect(await plan.body.json()).toMatchObject({ kind: 'plan', steps: [{ tool: 'get_weather' }] });

  const ended = once(child, 'exit');
  child.kill('SIGTERM');
  expect(await ended).toEqual([0, null]);
});
