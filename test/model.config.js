/** Tests with the real weights of the local model, one after the other. */
import base from '../jest.config.js';

export default {
  ...base,
  rootDir: '..',
  testMatch: ['**/*.model.test.ts'],
  testPathIgnorePatterns: ['/node_modules/'],
  maxWorkers: 1,
  testTimeout: 600_000,
};
