import { appendFileSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { openAppendStore } from '../../src/evaluation/append-store.js';
import { anyCharacter } from '../support/any-character.js';
import { aFolder } from './setup.js';

const aPath = () => join(aFolder(), 'below', 'store.jsonl');

describe('a store that only grows', () => {
  it('gives back the latest value of each key, whoever reads', () => {
    const key = fc.constantFrom('a', 'b', 'c', 'key with spaces');
    const value = fc.oneof(fc.jsonValue(), fc.string({ minLength: 200, maxLength: 300, unit: anyCharacter }));
    fc.assert(
      fc.property(fc.array(fc.tuple(key, value), { maxLength: 12 }), (writes) => {
        const path = aPath();
        const store = openAppendStore(path);
        for (const [name, given] of writes) store.put(name, given);
        const latest = new Map(writes.map(([name, given]) => [name, JSON.parse(JSON.stringify(given))]));
        const other = openAppendStore(path);
        for (const one of [store, other]) {
          for (const [name, given] of latest) expect(one.get(name)).toEqual(given);
          expect(one.get('never')).toBeUndefined();
          one.close();
        }
      }),
      { numRuns: 30 },
    );
  });

  it('sees what another process adds later', () => {
    const path = aPath();
    const [here, there] = [openAppendStore(path), openAppendStore(path)];
    here.put('x', 1);
    expect([here.get('x'), here.get('y')]).toEqual([1, undefined]);
    there.put('y', 2);
    expect(here.get('y')).toBe(2);
    here.close();
    there.close();
  });

  it('reads lines longer than what it reads at once', () => {
    const path = aPath();
    const store = openAppendStore(path);
    const long = 'x'.repeat(3 << 20);
    store.put('long', long);
    store.put('short', 1);
    store.close();
    const again = openAppendStore(path);
    expect(again.get('short')).toBe(1);
    expect(again.get('long')).toBe(long);
    again.close();
  });

  it.each([1, 10, 25, 40])('loses only a line cut %i bytes before its end', (cut) => {
    const path = aPath();
    const store = openAppendStore(path);
    store.put('first', { text: 'kept' });
    store.put('cut', { text: 'lost, since the process was killed' });
    store.close();
    const whole = readFileSync(path);
    const torn = aPath();
    openAppendStore(torn).close();
    appendFileSync(torn, whole.subarray(0, whole.length - 1 - cut));
    const other = openAppendStore(torn);
    other.put('after', 3);
    expect([other.get('first'), other.get('cut'), other.get('after')]).toEqual([{ text: 'kept' }, undefined, 3]);
    other.close();
  });

  it('is refused with the path where it can not be opened', () => {
    expect(() => openAppendStore('/dev/null/store.jsonl')).toThrow(/\/dev\/null\/store\.jsonl can't be opened/u);
  });
});
