/** `winnow serve` in this process, on a free port, until it is stopped as a service manager would stop it. */

import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { afterEach } from 'vitest';
import { serveCommand } from '../../src/cli/commands/serve.js';
import { recordLog } from '../adapters/http/setup.js';
import { temporaryFolder } from '../support/temporary-folder.js';

export type Answer = ReturnType<typeof JSON.parse>;

/** Nothing is asked of a model. */
export const NO_MODEL = ['--base-url', 'http://127.0.0.1:9/v1', '--model', 'none'];

const cache = temporaryFolder();
process.env.WINNOW_CACHE = cache;

let configs = 0;
/** The flag of a configuration file with this in it. */
export function configured(content: object): string[] {
  const path = join(cache, `config-${configs++}.json`);
  writeFileSync(path, JSON.stringify(content));
  return ['--config', path];
}

const running = new Set<Promise<unknown>>();
// One that a failed test has left behind would keep the process alive.
afterEach(async () => {
  if (running.size === 0) return;
  process.emit('SIGTERM');
  await Promise.allSettled(running);
});

export async function serve(...words: string[]) {
  const config = words.includes('--config') ? readFileSync(words[words.indexOf('--config') + 1] ?? '', 'utf8') : '';
  const hasTools = words.includes('--catalog') || config.includes('catalog');
  const tools = hasTools ? [] : ['--catalog', 'fixtures/catalogs/hydrology.json'];
  const stdout = new PassThrough();
  const log = recordLog();
  const done = serveCommand({ stdout, logger: log.logger })
    .exitOverride()
    .parseAsync(['--port', '0', '--json', ...tools, ...words], { from: 'user' });
  running.add(done);
  done.catch(() => {}).finally(() => running.delete(done));
  const [line] = await Promise.race([once(stdout, 'data'), done.then(() => ['{}'])]);
  const { address } = JSON.parse(String(line));

  /** `ask('POST /v1/sessions', {…})` with the operator's token, for the user ann where no other is named. */
  async function ask(line: string, body?: object, headers: object = { 'x-winnow-user': 'ann' }): Promise<Answer> {
    const [method = '', path = ''] = line.split(' ');
    const response = await fetch(`${address}${path}`, {
      method,
      headers: {
        authorization: `Bearer ${readFileSync(join(cache, 'operator-token'), 'utf8').trim()}`,
        'content-type': 'application/json',
        ...headers,
      },
      ...(body ? { body: JSON.stringify(body) } : {}),
    });
    return JSON.parse(await response.text());
  }

  async function logged(text: string): Promise<void> {
    while (!log.text().includes(text)) await new Promise((wait) => setTimeout(wait, 10));
  }

  async function stop(signal: 'SIGINT' | 'SIGTERM' = 'SIGTERM'): Promise<void> {
    process.emit(signal);
    await done;
  }

  return { address, ask, logged, stop, log, done, stdout };
}
