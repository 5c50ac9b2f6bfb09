import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describe, expect, it } from 'vitest';
import { createValidator } from '../../../src/core/catalog/validate.js';

describe('the memory of checks', () => {
  it('is free again when their tools are gone', async () => {
    setFlagsFromString('--expose-gc');
    const collect: () => void = runInNewContext('gc');
    const held = async () => {
      await new Promise((done) => setImmediate(done));
      collect();
      return process.memoryUsage().heapUsed;
    };
    const check = (at: number) => {
      const description = Buffer.alloc(50_000, 97 + (at % 26)).toString('latin1');
      return createValidator({ type: 'object', properties: { [`a${at}`]: { type: 'string', description } } })({});
    };
    check(0);
    const before = await held();
    for (let at = 0; at < 400; at++) expect(check(at).ok).toBe(true);
    // All of them are 20 MB.
    expect((await held()) - before).toBeLessThan(10_000_000);
  });
});
