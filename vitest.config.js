/**
 * Tests run offline and without a model; `test/model.config.js` adds those that need real weights,
 * `test/slow.config.js` those that kill processes and open browsers.
 */
export default {
  test: {
    include: ['test/**/*.test.ts'],
    exclude: ['**/*.{model,slow}.test.ts'],
    // The files of a worker share its process, so that a library is loaded once; `new-file.ts` keeps them apart.
    // Threads can't change their working directory.
    pool: 'forks',
    isolate: false,
    setupFiles: ['test/support/new-file.ts'],
    // What came of a file of `src` is kept beside the packages, by its content.
    experimental: { fsModuleCache: true },
    // Most wait for processes and servers: on two cores one worker, which is vitest's choice, takes longer.
    maxWorkers: '100%',
    // Hooks run in their order: a server that closes before its clients waits for them.
    sequence: { hooks: 'list' },
    testTimeout: 30_000,
    hookTimeout: 30_000,
  },
};
