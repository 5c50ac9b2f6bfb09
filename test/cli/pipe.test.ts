/** Output through a pipe: whole for whoever reads slowly, and no fault where nobody reads on. */
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { COMMAND } from './run-cli.js';

jest.setTimeout(60_000);

const run = promisify(execFile);
const NAMES = Array.from({ length: 2_000 }, (_, place) => `tool_${place}`);

let folder: string;
let catalog: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'winnow-pipe-'));
  catalog = join(folder, 'tools.json');
  await writeFile(
    catalog,
    JSON.stringify(NAMES.map((name) => ({ name, toolType: 'builtin', description: name.repeat(20) }))),
  );
});
afterAll(() => rm(folder, { recursive: true }));

/** @param reader what stands behind the pipe; the exit code of the command is its last line */
const piped = (words: string, reader: string) => {
  const command = COMMAND.map((word) => `'${word}'`).join(' ');
  return run('bash', ['-c', `${command} ${words} | ${reader}; echo "\${PIPESTATUS[0]}"`], { maxBuffer: 10 ** 8 });
};

describe('output through a pipe', () => {
  it('is whole, more than a pipe holds and however slowly it is read', async () => {
    const { stdout } = await piped(`tools list --json --catalog ${catalog}`, '(sleep 1; cat)');
    expect(stdout.length).toBeGreaterThan(300_000);
    const lines = stdout.trimEnd().split('\n');
    expect(lines.pop()).toBe('0');
    expect(JSON.parse(lines.join('\n')).map(({ name }: { name: string }) => name)).toEqual(NAMES);
  });

  it('ends quietly where the reader has had enough', async () => {
    const { stdout, stderr } = await piped(`tools list --catalog ${catalog}`, 'head -n 1');
    expect(stdout).toMatch(/^tool_0: .*\n0\n$/u);
    expect(stderr).toBe(`Reading ${catalog}\n`);
  });
});
