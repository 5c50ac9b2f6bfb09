import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterEach, describe, expect, it } from '@jest/globals';
import { onSignal } from '../../src/cli/on-signal.js';
import { createStopSignal } from '../../src/cli/stop-signal.js';

afterEach(() => {
  process.removeAllListeners('SIGINT');
  process.removeAllListeners('SIGTERM');
});

/** As signal-exit does it: who finds nobody else at the signal ends the process. */
function listenAsLibrary(): { wouldKill: () => boolean } {
  let others = Number.NaN;
  process.on('SIGTERM', () => {
    others = process.listenerCount('SIGTERM') - 1;
  });
  return { wouldKill: () => others === 0 };
}

describe('a handler of a signal', () => {
  it('is still there when a library behind it asks who listens, though it takes itself away', () => {
    const stop = createStopSignal();
    const library = listenAsLibrary();
    process.emit('SIGTERM');
    expect(stop.signal.aborted).toBe(true);
    expect(library.wouldKill()).toBe(false);
  });

  it('is gone by the next signal, which does what it does by itself', async () => {
    const stop = createStopSignal();
    const library = listenAsLibrary();
    process.emit('SIGTERM');
    await nextTurn();
    process.emit('SIGTERM');
    expect(library.wouldKill()).toBe(true);
    expect(stop.signal.aborted).toBe(true);
  });

  it('hears the signals that it is for, until it is taken away', async () => {
    let heard = 0;
    const forget = onSignal(['SIGINT'], () => {
      heard += 1;
    });
    process.emit('SIGTERM');
    expect(heard).toBe(0);
    process.emit('SIGINT');
    process.emit('SIGINT');
    forget();
    await nextTurn();
    process.emit('SIGINT');
    expect(heard).toBe(2);
  });
});
