/** Tests that kill processes, start servers and open browsers: minutes, one after the other. */
import base from '../vitest.config.js';

export default {
  test: {
    ...base.test,
    include: ['test/**/*.slow.test.ts'],
    exclude: [],
    maxWorkers: 1,
    testTimeout: 120_000,
    hookTimeout: 120_000,
  },
};
