import { execFileSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { temporaryFolder } from '../support/temporary-folder.js';
import { aRecord, inRun, keysIn } from './setup.js';

describe('the store of a run', () => {
  it('is whole after a kill in the middle of its writes, and goes on', async () => {
    const path = temporaryFolder();
    const loader = new URL('../support/typescript-loader.mjs', import.meta.url).href;
    const source = new URL('../../src/eval/run-store.ts', import.meta.url).href;
    const script = `
      const { openRunStore, runFile } = await import('${source}');
      const store = await openRunStore(runFile('${path}'));
      const kept = [];
      for (let place = 0; place < 40; place++) {
        kept.push(store.keep([{ ...${JSON.stringify(aRecord())}, id: 'c' + place }]).then(() => process.stdout.write('c' + place + '\\n')));
        if (place === 20) await Promise.all(kept);
      }
      process.kill(process.pid, 'SIGKILL');
    `;
    let acknowledged = '';
    try {
      execFileSync(process.execPath, ['--import', loader, '--input-type=module', '--eval', script], { stdio: 'pipe' });
    } catch (error) {
      acknowledged = String(Reflect.get(Object(error), 'stdout'));
    }
    const told = acknowledged
      .trim()
      .split('\n')
      .map((id) => `${id}#0`);
    expect(told.length).toBeGreaterThanOrEqual(21);
    expect(await keysIn(path)).toEqual(expect.arrayContaining(told));
    await inRun(path, (store) => store.keep([aRecord({ id: 'after' })]));
    expect((await keysIn(path)).at(-1)).toBe('after#0');
  });
});
