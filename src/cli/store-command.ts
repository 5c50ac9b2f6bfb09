/** `winnow store`: what is done with the store of a server as a whole. */
import { Command } from 'commander';
import { WinnowError } from '../core/errors.js';
import { addStoreOption, requireStorePlace, type StoreFlags } from './agent-options.js';
import { type OutputOptions, outputOf, print } from './output.js';

interface Flags extends StoreFlags {
  config?: string;
  json?: boolean;
}

export function storeCommand(options: OutputOptions = {}): Command {
  const output = outputOf(options);
  const command = new Command('store').description('back up the store of a server');
  addStoreOption(command.command('backup <target>'))
    .description('copy a SQLite store into one new file; the server may go on meanwhile')
    .option('--config <file>', 'configuration file (YAML or JSON)')
    .option('--json', 'print JSON')
    .action(async (target: string, flags: Flags) => {
      const { readConfig } = await import('./read-config.js');
      const { backUpSqlite } = await import('../agents/store/sql/sqlite-file.js');
      const place = requireStorePlace(flags, await readConfig(flags));
      if (!('file' in place))
        throw new WinnowError('invalid_option', 'The store is a PostgreSQL database: back it up with pg_dump.');
      await backUpSqlite(place.file, target);
      print(output, flags, { value: { store: place.file, backup: target }, text: `copied ${place.file} to ${target}` });
    });
  return command;
}
