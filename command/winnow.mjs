#!/usr/bin/env node
/** The command of a clone. Of its own package.json `npx` would take the bin by a second install into npm's cache, build and all. */
import { existsSync } from 'node:fs';

const main = new URL('../dist/cli/main.js', import.meta.url);
if (existsSync(main)) await import(main.href);
else {
  process.stderr.write('winnow: this clone is not built yet, or its build was interrupted. Run `npm install` in it.\n');
  process.exitCode = 1;
}
