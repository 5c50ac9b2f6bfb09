/** Runs the command line as a process of its own, on `src` as it is. */
import { spawn } from 'node:child_process';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

export interface Outcome {
  readonly exitCode: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

type Kill = (signal: NodeJS.Signals) => void;

export interface RunOptions {
  /** Added to an environment that holds nothing of Winnow's. */
  env?: Readonly<Record<string, string>>;
  cwd?: string;
  stdin?: string;
  /** Called when the process has begun, for example to send it a signal. */
  onStart?: (kill: Kill) => void;
  /** Called with each text on stderr as it comes. */
  onStderr?: (text: string, kill: Kill) => void;
}

const LOADER = pathToFileURL(resolve('test/support/typescript-loader.mjs')).href;
/** The command as words of a shell. */
export const COMMAND = [process.execPath, '--import', LOADER, resolve('src/cli/main.ts')];

export function runCli(
  words: readonly string[],
  { env = {}, cwd, stdin = '', onStart, onStderr }: RunOptions = {},
): Promise<Outcome> {
  const base = Object.entries(process.env).filter(([name]) => !name.startsWith('WINNOW_') && name !== 'NODE_OPTIONS');
  const [program = '', ...before] = COMMAND;
  const child = spawn(program, [...before, ...words], {
    env: { ...Object.fromEntries(base), NO_COLOR: '1', ...env },
    ...(cwd === undefined ? {} : { cwd }),
  });
  const kill: Kill = (signal) => void child.kill(signal);
  const parts = { stdout: '', stderr: '' };
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    parts.stdout += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    parts.stderr += text;
    onStderr?.(text, kill);
  });
  child.stdin.end(stdin);
  onStart?.(kill);
  return new Promise((done, fail) => {
    child.on('error', fail);
    child.on('close', (exitCode) => done({ exitCode, ...parts }));
  });
}
