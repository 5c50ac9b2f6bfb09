/** Files of tests share a process and the libraries in it: own modules and the environment begin anew with each file. */
import { afterAll, vi } from 'vitest';

vi.resetModules();

const before = { ...process.env };
afterAll(() => {
  for (const name of Object.keys(process.env)) if (!Object.hasOwn(before, name)) delete process.env[name];
  Object.assign(process.env, before);
});
