/** Tests that need a program or packages which a machine may not have: skipped there, and the name of the test says why. */
import { spawnSync } from 'node:child_process';
import { it } from 'vitest';

/** Why something can't be tested here; undefined where it can. */
export function whyNot(cwd: string, program: string, ...words: string[]): string | undefined {
  const { status, stderr, error } = spawnSync(program, words, { cwd, encoding: 'utf8', timeout: 300_000 });
  if (status === 0) return undefined;
  return `${program} ${words.slice(0, 2).join(' ')} fails: ${error?.message ?? stderr.trim().split('\n').at(-1)}`;
}

export function testOrSkip(name: string, reason: string | undefined, test: () => Promise<void>): void {
  if (reason === undefined) it(name, test);
  else it.skip(`${name} (skipped: ${reason})`, test);
}
