// Functions for the tests of workers: what a careless or broken tool does.
import { appendFileSync } from 'node:fs';
import { parentPort } from 'node:worker_threads';

const state = { calls: 0 };

export const add = ({ a, b }) => a + b;
export const who = (_, { user, session }) => ({ user, session });
export const environment = () => ({ ...process.env });
export const count = () => {
  state.calls += 1;
  return state.calls;
};
export const endless = () => {
  for (;;) state.calls += 1;
};
export const beats = ({ path }) => {
  for (;;) appendFileSync(path, '.');
};
export const slow_pattern = () => /^(a+)+$/.test(`${'a'.repeat(60)}!`);
export const sleepless = () => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
export const never = () => new Promise(() => undefined);
export const fails = () => {
  throw new Error('no such station');
};
export const throws_nothing = () => {
  throw undefined;
};
export const throws_trap = () => {
  throw {
    toString() {
      throw new Error('even this');
    },
  };
};
export const late_rejection = () => {
  setTimeout(() => Promise.reject(new Error('late')), 1);
  return new Promise((resolve) => setTimeout(resolve, 200));
};
export const hungry = () => {
  const kept = [];
  for (;;) kept.push(new Array(10_000).fill(kept.length));
};
export const huge = () => 'x'.repeat(40_000_000);
export const gives_function = () => ({ run: () => 1 });
export const trapped_getter = () =>
  Object.defineProperty({}, 'x', {
    enumerable: true,
    get() {
      throw new Error('from the getter');
    },
  });
export const exits = () => process.exit(7);
export const prints = () => {
  process.stdout.write('to stdout\n');
  return 'printed';
};
export const forges = () => {
  parentPort.postMessage({ kind: 'done', bytes: 'no bytes' });
  return 1;
};
export const forges_bytes = () => {
  parentPort.postMessage({ kind: 'done', bytes: new Uint8Array([1, 2, 3]) });
  return 1;
};
export const rich = () => ({ at: new Date(0), tags: new Set(['a']), big: 12n });
export const notAFunction = 3;
