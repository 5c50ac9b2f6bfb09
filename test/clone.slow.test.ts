/** A clone as the README's first command leaves it, also where that was interrupted: `npx winnow` is there, and builds nothing. */
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { chmod, cp, mkdtemp, readFile, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';

vi.setConfig({ testTimeout: 300_000, hookTimeout: 300_000 });

const run = promisify(execFile);
const PARTS = ['command', 'src', 'prompts', 'fixtures/catalogs', 'tsconfig.json', 'tsconfig.build.json', '.npmrc'];

let folder: string;
let clone: string;
beforeAll(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), 'winnow-clone-')));
  clone = join(folder, 'clone');
  for (const part of PARTS) await cp(part, join(clone, part), { recursive: true });
  const {
    dependencies: _,
    optionalDependencies,
    devDependencies,
    ...others
  } = JSON.parse(await readFile('package.json', 'utf8'));
  const command = { 'winnow-command': devDependencies['winnow-command'] };
  await writeFile(join(clone, 'package.json'), `${JSON.stringify({ ...others, devDependencies: command }, null, 2)}\n`);
  // One floor above, so that the install finds no registry to ask.
  await symlink(resolve('node_modules'), join(folder, 'node_modules'));
});
/** A build whose install was interrupted may still write for a moment. */
const remove = (path: string) => rm(path, { recursive: true, force: true, maxRetries: 20, retryDelay: 500 });
afterAll(() => remove(folder));

const environment = () => ({ ...process.env, npm_config_cache: join(folder, 'cache'), npm_config_offline: 'true' });
const FIRST = 'npm install && npx winnow tools list';

function begin(): ChildProcess {
  return spawn('sh', ['-c', FIRST], { cwd: clone, env: environment(), detached: true, stdio: 'ignore' });
}

/** As Ctrl-C does it: the signal goes to the whole group. npm may catch it and still build: that is awaited, half a minute at most. */
async function interruptAfter(milliseconds: number): Promise<void> {
  const child = begin();
  const group = -(child.pid ?? 0);
  const ended = new Promise((done) => child.once('close', done));
  await Promise.race([ended, delay(milliseconds)]);
  if (child.exitCode === null) process.kill(group, 'SIGINT');
  await ended;
  for (let waits = 0; waits < 300 && isRunning(group); waits += 1) await delay(100);
}

function isRunning(group: number): boolean {
  try {
    return process.kill(group, 0);
  } catch {
    return false;
  }
}

const shell = (command: string) => run('sh', ['-c', command], { cwd: clone, env: environment() });

describe('the first command of the README', () => {
  it.each([50, 800, 3200, 8000])('can be given again when it was interrupted after %d ms', async (moment) => {
    for (const made of ['node_modules', 'dist', 'package-lock.json']) await remove(join(clone, made));
    await interruptAfter(moment);
    expect((await shell(FIRST)).stdout).toContain('lookup_station_code');
    expect(await realpath(join(clone, 'node_modules/.bin/winnow'))).toBe(join(clone, 'command/winnow.mjs'));
    // Where npm installs what it finds in no `.bin`.
    expect(existsSync(join(folder, 'cache/_npx'))).toBe(false);
  });

  it('says what to do where the build is not there', async () => {
    await remove(join(clone, 'dist'));
    await expect(shell('npx winnow tools list')).rejects.toMatchObject({
      stderr: expect.stringContaining('npm install'),
    });
  });

  it('says so too where a build was interrupted after it wrote the command', async () => {
    await cp('dist/cli/main.js', join(clone, 'dist/cli/main.js'));
    await chmod(join(clone, 'dist/cli/main.js'), 0o644);
    await expect(shell('npx winnow tools list')).rejects.toMatchObject({
      stderr: expect.stringContaining('npm install'),
    });
  });
});

it('what is packed has the command, and the clone is as before', async () => {
  const before = await readFile(join(clone, 'package.json'), 'utf8');
  const { stdout } = await shell('npm pack --silent');
  const { stdout: packed } = await shell(`tar -xzOf ${stdout.trim()} package/package.json`);
  expect(JSON.parse(packed).bin).toEqual({ winnow: 'dist/cli/main.js' });
  expect(await readFile(join(clone, 'package.json'), 'utf8')).toBe(before);
});
