import { describe, expect, it } from '@jest/globals';
import { startUpkeep } from '../../src/cli/upkeep.js';
import { recordLog } from '../server/setup.js';

describe('the upkeep of a server', () => {
  it('does a chore one at a time, logs what fails, and tries again', async () => {
    const { logger, lines } = recordLog();
    let times = 0;
    let running = 0;
    const alive = setInterval(() => {}, 1_000);
    await new Promise<void>((resolve) => {
      const stop = startUpkeep([{ name: 'counting', everyMs: 1, work }], logger);
      async function work(): Promise<void> {
        expect(++running).toBe(1);
        await new Promise((wait) => setTimeout(wait, 5));
        running -= 1;
        times += 1;
        if (times === 1) throw new Error('miscounted');
        if (times === 3) void stop().then(resolve);
      }
    });
    clearInterval(alive);
    expect(times).toBe(3);
    expect(lines()).toMatchObject([{ level: 'warn', msg: 'counting failed, and is tried again later' }]);
  });

  it('begins at once where that is asked for, and its end waits for what is under way', async () => {
    const { logger } = recordLog();
    let end: () => void = () => {};
    const begun: string[] = [];
    const slow = async () => {
      begun.push('slow');
      await new Promise<void>((resolve) => {
        end = resolve;
      });
      begun.push('done');
    };
    const late = async () => void begun.push('late');
    const stop = startUpkeep(
      [
        { name: 'slow', everyMs: 1_000_000, atOnce: true, work: slow },
        { name: 'late', everyMs: 1_000_000, work: late },
      ],
      logger,
    );
    expect(begun).toEqual(['slow']);
    const stopped = stop().then(() => begun.push('stopped'));
    await new Promise(setImmediate);
    end();
    await stopped;
    expect(begun).toEqual(['slow', 'done', 'stopped']);
  });
});
