/** A Redis of the test's own: in a temporary folder, on a free port, with its data kept over a restart. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '../../support/free-port.js';

export interface RedisServer {
  readonly url: string;
  /** Stops it and starts it again, on the same port and with the same data. */
  restart(): Promise<void>;
  stop(): Promise<void>;
}

/** Why no server can be started here; undefined where one can. */
export function whyNoRedis(): string | undefined {
  return spawnSync('redis-server', ['--version']).status === 0 ? undefined : 'redis-server is not installed';
}

/** @param more settings as on its command line */
export async function startRedis(more: readonly string[] = []): Promise<RedisServer> {
  const folder = mkdtempSync(join(tmpdir(), 'winnow-redis-'));
  const port = await freePort();
  const words = ['--port', String(port), '--bind', '127.0.0.1', '--dir', folder, '--appendonly', 'yes', '--save', ''];
  let server = await start([...words, ...more]);
  const end = async () => {
    server.kill('SIGTERM');
    if (server.exitCode === null) await once(server, 'exit');
  };
  return {
    url: `redis://127.0.0.1:${port}`,
    async restart() {
      await end();
      server = await start([...words, ...more]);
    },
    async stop() {
      await end();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

async function start(words: readonly string[]): Promise<ChildProcess> {
  const server = spawn('redis-server', words, { stdio: ['ignore', 'pipe', 'inherit'] });
  await new Promise<void>((resolve, reject) => {
    let log = '';
    server.stdout.setEncoding('utf8').on('data', (text: string) => {
      log += text;
      if (log.includes('Ready to accept connections')) resolve();
    });
    server.once('exit', () => reject(new Error(`redis-server has ended: ${log}`)));
  });
  return server;
}
