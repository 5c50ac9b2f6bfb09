/** The example agent as a process of its own, with a scripted model: about two seconds a run. */
import { spawn } from 'node:child_process';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, it } from '@jest/globals';

/** For machines that are busy with other things. */
const TIME_LIMIT_MS = 120_000;
const LOADER = pathToFileURL(resolve('test/support/typescript-loader.mjs')).href;

function runExample(...options: string[]): Promise<{ exitCode: number | null; text: string }> {
  const { NODE_OPTIONS: _, ...env } = process.env;
  const child = spawn(process.execPath, ['--import', LOADER, 'test/example/agent.ts', '--scripted', ...options], {
    env,
  });
  let text = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (part: string) => {
      text += part;
    });
  return new Promise((done, fail) => {
    child.on('error', fail);
    child.on('close', (exitCode) => done({ exitCode, text }));
  });
}

describe('the example agent', () => {
  it(
    'searches, enables, is refused, gets an approval from somebody else and finishes its task',
    async () => {
      const { exitCode, text } = await runExample();
      expect(text).not.toContain('NO ');
      expect(text).toMatch(
        /tool_search[\s\S]*tool_enable[\s\S]*needs_approval[\s\S]*olga {3}approves file_delete[\s\S]*"deleted":true/,
      );
      expect(exitCode).toBe(0);
    },
    TIME_LIMIT_MS,
  );

  it(
    'finds out that its task is not done where nobody approves',
    async () => {
      const { exitCode, text } = await runExample('--no-operator');
      expect(text).toContain('NO   the file is gone, and no other');
      expect(exitCode).toBe(1);
    },
    TIME_LIMIT_MS,
  );
});
