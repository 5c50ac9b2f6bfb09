/** `winnow audit`: the audit trail of a store. */
import type { Command } from 'commander';
import { command, text, valued } from '../command.js';
import { CONFIG, instant, JSON_OUTPUT, STORE, wholeNumber } from '../flags.js';
import { print, renderTable } from '../output.js';

export function auditCommand(): Command {
  return command({
    name: 'audit',
    about: 'who asked for what, what was decided and why; newest first',
    flags: {
      ...CONFIG,
      ...STORE,
      user: text('--user <name>', 'only what this user did'),
      since: valued('--since <instant>', 'a day, or such as 2026-11-01T00:00:00Z; inclusive', instant),
      tool: text('--tool <name>', 'only of this tool'),
      limit: valued('--limit <number>', 'most entries shown (default: 100)', wholeNumber),
      ...JSON_OUTPUT,
    },
    examples: ['winnow audit -c winnow.yaml --user ann', 'winnow audit --tool file_delete --json'],
    async run(_, flags) {
      const { withStoredAgents } = await import('../agents-setup.js');
      const { user, tool, since, limit } = flags;
      const given = Object.entries({ user, tool, since, limit }).filter(([, value]) => value !== undefined);
      const entries = await withStoredAgents(flags, ({ router }) => router.audit(Object.fromEntries(given)));
      const rows = entries.map((one) => {
        return [one.at, one.event, one.outcome, one.user ?? '-', one.tool ?? '-', one.reason ?? ''];
      });
      const head = ['at', 'event', 'outcome', 'user', 'tool', 'reason'];
      const shown = rows.length === 0 ? 'no entries' : renderTable(head, rows, { leftColumns: 6 });
      print(flags, { value: entries, text: shown });
    },
  });
}
