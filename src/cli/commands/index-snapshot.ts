/** `winnow index`: an index built ahead, for a server to take over at its start in place of building one. */
import type { Command } from 'commander';
import { ERROR_TABLE } from '../../core/errors.js';
import { command, group, text } from '../command.js';
import { CATALOG, CONFIG, JSON_OUTPUT, STORE } from '../flags.js';
import { readJson } from '../input.js';
import { print } from '../output.js';

export function indexCommand(): Command {
  return group(
    'index',
    'build the index of the tools ahead, and hand it to a server',
    'winnow index export --out index.json',
    [
      command({
        name: 'export',
        about: 'build it, and write it as one JSON document',
        flags: { ...CONFIG, ...CATALOG, ...STORE, out: text('--out <file>', 'in place of stdout') },
        examples: ['winnow index export -c winnow.yaml --out index.json'],
        async run(_, flags) {
          const { withStoredAgents } = await import('../agents-setup.js');
          const { writeFile } = await import('node:fs/promises');
          const snapshot = await withStoredAgents(
            flags,
            async ({ rebuild, index }) => {
              await rebuild();
              return index.exportSnapshot({ level: 'full' });
            },
            { needsTools: true, storeIsOptional: true },
          );
          const written = `${JSON.stringify(snapshot)}\n`;
          if (flags.out === undefined) process.stdout.write(written);
          else await writeFile(flags.out, written);
        },
      }),
      command({
        name: 'import',
        words: '<file>',
        about: 'check it against the catalogue, and keep it in the store for the next start',
        flags: { ...CONFIG, ...CATALOG, ...STORE, ...JSON_OUTPUT },
        examples: ['winnow index import index.json -c winnow.yaml'],
        async run([file = ''], flags) {
          const { withStoredAgents } = await import('../agents-setup.js');
          const content = await readJson('The snapshot', file);
          const imported = await withStoredAgents(flags, ({ keepSnapshot }) => keepSnapshot(content), {
            needsTools: true,
            mayCreate: true,
          });
          const { snapshot, fingerprint = '', tools } = imported;
          const told = {
            taken: `taken: ${tools} tools, fingerprint ${fingerprint}; a server takes it over at its next start`,
            stale: 'stale: it is of other tools or weights; nothing was kept',
            empty: 'empty: it holds no index; write one with winnow index export',
          };
          print(flags, { value: imported, text: told[snapshot] });
          if (snapshot !== 'taken') process.exitCode = ERROR_TABLE.invalid_request.exitCode;
        },
      }),
    ],
  );
}
