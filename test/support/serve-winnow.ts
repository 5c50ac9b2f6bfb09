/** `winnow serve` as its own process, from the sources. Nothing is planned: its endpoint is never asked. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

export const LOADER = pathToFileURL(resolve('test/support/typescript-loader.mjs')).href;
export const MAIN = resolve('src/cli/main.ts');
export const NO_MODEL = ['--base-url', 'http://127.0.0.1:9/v1', '--model', 'none'];

/** @param home of its operator's token and caches */
export async function serveWinnow(words: readonly string[], home: string) {
  const all = ['--import', LOADER, MAIN, 'serve', ...words, '--port', '0', '--json', ...NO_MODEL];
  const child = spawn(process.execPath, all, {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { PATH: process.env.PATH, HOME: home, WINNOW_LOG_LEVEL: 'error' },
  });
  const ended = once(child, 'exit');
  const [line] = await Promise.race([once(child.stdout, 'data'), ended.then(() => ['{}'])]);
  return {
    address: String(JSON.parse(String(line)).address),
    async stop() {
      child.kill();
      await ended;
    },
  };
}
