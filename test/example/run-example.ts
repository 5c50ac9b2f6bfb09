/** The example agent as a process of its own, with a scripted model: about two seconds a run. */
import { spawn } from 'node:child_process';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

const LOADER = pathToFileURL(resolve('test/support/typescript-loader.mjs')).href;

export function runExample(...options: string[]): Promise<{ exitCode: number | null; text: string }> {
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
