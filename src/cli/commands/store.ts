/** `winnow store`: maintenance of a server's whole store. */
import type { Command } from 'commander';
import { WinnowError } from '../../core/errors.js';
import { command, group } from '../command.js';
import { CONFIG, JSON_OUTPUT, STORE } from '../flags.js';
import { print } from '../output.js';

export function storeCommand(): Command {
  return group('store', 'back up the store of a server', 'winnow store backup backup.db --store agents.db', [
    command({
      name: 'backup',
      words: '<target>',
      about: 'copy a SQLite store into one new file; the server may go on meanwhile',
      flags: { ...CONFIG, ...STORE, ...JSON_OUTPUT },
      examples: ['winnow store backup backup.db --store agents.db'],
      async run([target = ''], flags) {
        const { readConfig, requireStorePlace } = await import('../read-config.js');
        const { backUpSqlite } = await import('../../agents/store/sql/sqlite-file.js');
        const place = requireStorePlace(await readConfig(flags));
        if (!('file' in place))
          throw new WinnowError('invalid_option', 'The store is a PostgreSQL database: back it up with pg_dump.');
        await backUpSqlite(place.file, target);
        const value = { store: place.file, backup: target };
        print(flags, { value, text: `copied ${place.file} to ${target}` });
      },
    }),
  ]);
}
