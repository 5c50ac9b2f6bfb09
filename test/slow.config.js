/** Tests that kill processes, start servers and open browsers: minutes, one after the other. */
import base from '../jest.config.js';

export default {
  ...base,
  rootDir: '..',
  testMatch: ['**/*.slow.test.ts'],
  testPathIgnorePatterns: ['/node_modules/'],
  maxWorkers: 1,
  testTimeout: 120_000,
};
