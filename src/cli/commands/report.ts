/** `winnow telemetry` and `winnow audit`: metrics of tool discovery, and the audit trail. */
import type { Command } from 'commander';
import type { Rates, TelemetryReport } from '../../agents/telemetry/rates.js';
import { choice, command, text, valued } from '../command.js';
import { CONFIG, instant, JSON_OUTPUT, STORE, wholeNumber } from '../flags.js';
import { print, renderTable } from '../output.js';

const LOOK = {
  ...CONFIG,
  ...STORE,
  user: text('--user <name>', 'only what this user did'),
  since: valued('--since <instant>', 'a day, or such as 2026-11-01T00:00:00Z; inclusive', instant),
  ...JSON_OUTPUT,
};

export function telemetryCommand(): Command {
  return command({
    name: 'telemetry',
    about: 'hit rates, errors and unused tools, in figures',
    flags: {
      ...LOOK,
      until: valued('--until <instant>', 'a day, or such as 2026-12-01T00:00:00Z', instant),
      groupBy: choice('--group-by <what>', 'one row each', ['tool', 'user', 'project', 'day', 'hour']),
    },
    examples: ['winnow telemetry -c winnow.yaml --group-by tool', 'winnow telemetry --since 2026-11-01T00:00:00Z'],
    async run(_, flags) {
      const { withStoredAgents } = await import('../agents-setup.js');
      const { parseInput } = await import('../../core/parse.js');
      const { telemetryQuerySchema } = await import('../../agents/telemetry/rates.js');
      const { groupBy: by, user, since, until } = flags;
      const query = parseInput(telemetryQuerySchema, { by, user, since, until });
      const report = await withStoredAgents(flags, ({ telemetry }) => telemetry(query));
      print(flags, { value: report, text: renderReport(report, by ?? '') });
    },
  });
}

export function auditCommand(): Command {
  return command({
    name: 'audit',
    about: 'who asked for what, what was decided and why; newest first',
    flags: {
      ...LOOK,
      tool: text('--tool <name>', 'only of this tool'),
      limit: valued('--limit <number>', 'most entries shown (default: 100)', wholeNumber),
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

function renderReport({ total, rows }: TelemetryReport, by: string): string {
  const head = [by, 'searches', 'used', 'top 1', 'top 3', 'again', 'calls', 'errors', 'refused', 'ended', 'unused'];
  return renderTable(head, [...rows.map((row) => cellsOf(row.key, row)), cellsOf('total', total)]);
}

function cellsOf(key: string, rates: Rates): string[] {
  const { searches, used, top1, top3, searchAgain, calls, errorRate, refused, enablements, unused } = rates;
  return [
    ...[key, String(searches), String(used), percent(top1), percent(top3), percent(searchAgain), String(calls)],
    ...[percent(errorRate), String(refused), String(enablements), percent(unused)],
  ];
}

function percent(share: number | null): string {
  return share === null ? '-' : `${Math.round(share * 1000) / 10} %`;
}
