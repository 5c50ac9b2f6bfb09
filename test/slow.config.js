/** Tests that kill processes, start servers and open browsers: minutes, two at once. */
import base from '../vitest.config.js';

export default {
  test: {
    ...base.test,
    include: ['test/**/*.slow.test.ts'],
    exclude: [],
    maxWorkers: 2,
    testTimeout: 120_000,
    hookTimeout: 120_000,
  },
};
