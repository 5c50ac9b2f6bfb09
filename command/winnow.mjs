#!/usr/bin/env node
/** The command of a clone. Of its own package.json `npx` would take the bin by a second install into npm's cache, build and all. */
import { accessSync, constants } from 'node:fs';

const main = new URL('../dist/cli/main.js', import.meta.url);

/** A build makes its command executable at its very end, so one that was interrupted is told from a whole one. */
function isBuilt() {
  try {
    accessSync(main, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

if (isBuilt()) await import(main.href);
else {
  process.stderr.write('winnow: this clone is not built yet, or its build was interrupted. Run `npm install` in it.\n');
  process.exitCode = 1;
}
