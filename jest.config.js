/**
 * Tests run offline and without a model; `test/model.config.js` adds those that need real weights,
 * `test/slow.config.js` those that kill processes and open browsers.
 */
export default {
  testEnvironment: 'node',
  roots: ['<rootDir>/test'],
  testMatch: ['**/*.test.ts'],
  testPathIgnorePatterns: ['/node_modules/', '\\.(model|slow)\\.test\\.ts$'],
  extensionsToTreatAsEsm: ['.ts'],
  moduleNameMapper: { '^(\\.{1,2}/.*)\\.js$': '$1' },
  transform: {
    '^.+\\.ts$': [
      '@swc/jest',
      {
        jsc: { parser: { syntax: 'typescript' }, target: 'es2022', experimental: { keepImportAttributes: true } },
        module: { type: 'es6' },
      },
    ],
  },
  // Each worker begins anew beyond this: half of it costs a twentieth more time, and twice as much gains nothing.
  workerIdleMemoryLimit: '1GB',
  // Most wait for processes and servers: on two cores one worker, which is jest's choice, takes half as long again.
  maxWorkers: '100%',
  testTimeout: 30_000,
};
