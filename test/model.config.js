/** Tests with the real weights of the local model, one after the other. */
import base from '../vitest.config.js';

export default {
  test: {
    ...base.test,
    include: ['test/**/*.model.test.ts'],
    exclude: [],
    maxWorkers: 1,
    testTimeout: 600_000,
    hookTimeout: 600_000,
  },
};
