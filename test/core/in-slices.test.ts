import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { createTurnQueue } from '../../src/core/in-slices.js';

describe('turns of requests', () => {
  it('go round the users, whatever each has waiting', async () => {
    const takeTurn = createTurnQueue();
    const begun: string[] = [];
    const ask = async (user: string, name: string) => {
      await takeTurn(user);
      begun.push(name);
    };
    await Promise.all([ask('ann', 'a1'), ask('ann', 'a2'), ask('ann', 'a3'), ask('bob', 'b1'), ask('bob', 'b2')]);
    expect(begun).toEqual(['a1', 'a2', 'b1', 'a3', 'b2']);
  });

  it('leave the event loop to others in between', async () => {
    const takeTurn = createTurnQueue();
    const events: string[] = [];
    const requests = ['one', 'two', 'three'].map(async (name) => {
      await takeTurn('ann');
      events.push(name);
    });
    for (let turn = 0; turn < 3; turn++) {
      await nextTurn();
      events.push('other');
    }
    await Promise.all(requests);
    expect(events.indexOf('other')).toBeLessThan(events.indexOf('three'));
  });

  it('begin anew after a pause', async () => {
    const takeTurn = createTurnQueue();
    await takeTurn(undefined);
    await nextTurn();
    await nextTurn();
    await expect(takeTurn(undefined)).resolves.toBeUndefined();
  });
});
