/** A PostgreSQL server of the test's own: in a temporary folder, on a free port, never run by root. */
import { execFile, spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, it } from 'vitest';
import { freePort } from '../../support/free-port.js';

const run = promisify(execFile);
const ROOT = '/usr/lib/postgresql';

export interface PostgresServer {
  /** A new, empty database. */
  createDatabase(): Promise<string>;
  stop(): Promise<void>;
}

/** Why no server can be started here; undefined where one can. */
export function whyNoPostgres(): string | undefined {
  if (binaries() === undefined) return 'PostgreSQL is not installed';
  if (isRoot() && spawnSync('id', ['postgres']).status !== 0) return 'there is no user postgres to run it';
  return undefined;
}

/** Tests with a server that all of them share; skipped, with a word, where none can be started. */
export function describePostgres(name: string, tests: (server: () => PostgresServer) => void): void {
  const reason = whyNoPostgres();
  if (reason !== undefined) {
    it.skip(`${name} is not tested: ${reason}`, () => undefined);
    return;
  }
  describe(name, () => {
    let server: PostgresServer;
    beforeAll(async () => {
      server = await startPostgres();
    }, 60_000);
    tests(() => server);
    // Behind those of the tests, which close what they have opened.
    afterAll(() => server.stop());
  });
}

export async function startPostgres(): Promise<PostgresServer> {
  const folder = mkdtempSync(join(tmpdir(), 'winnow-postgres-'));
  if (isRoot()) {
    chmodSync(folder, 0o755);
    await run('chown', ['postgres', folder]);
  }
  const data = join(folder, 'data');
  const port = await freePort();
  await program('initdb', ['-D', data, '-A', 'trust', '-U', 'winnow', '-E', 'UTF8', '--no-sync']);
  const options = `-p ${port} -c listen_addresses=127.0.0.1 -c unix_socket_directories='' -c fsync=off`;
  await program('pg_ctl', ['-D', data, '-w', '-l', join(folder, 'log'), '-o', options, 'start']);
  let databases = 0;
  return {
    async createDatabase() {
      const name = `test_${++databases}`;
      await program('createdb', ['-h', '127.0.0.1', '-p', String(port), '-U', 'winnow', name]);
      return `postgres://winnow@127.0.0.1:${port}/${name}`;
    },
    async stop() {
      await program('pg_ctl', ['-D', data, '-w', '-m', 'immediate', 'stop']);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

function binaries(): string | undefined {
  if (!existsSync(ROOT)) return undefined;
  const versions = readdirSync(ROOT).sort((one, other) => Number(other) - Number(one));
  return versions.map((version) => join(ROOT, version, 'bin')).find((folder) => existsSync(join(folder, 'initdb')));
}

function isRoot(): boolean {
  return process.getuid?.() === 0;
}

async function program(name: string, parameters: string[]): Promise<void> {
  const command = [join(binaries() ?? '', name), ...parameters];
  const [file = '', ...rest] = isRoot() ? ['runuser', '-u', 'postgres', '--', ...command] : command;
  // pg_ctl leaves a server behind that would hold the pipes open.
  await run(file, rest, { cwd: tmpdir(), ...(name === 'pg_ctl' ? { stdio: 'ignore' } : {}) });
}
