/** `winnow telemetry`: how well discovery works, in figures. */
import { Command, Option } from 'commander';
import type { Rates, TelemetryReport } from '../agents/telemetry/rates.js';
import { addStoreOption } from './agent-options.js';
import type { LookFlags } from './open-store-commands.js';
import { type OutputOptions, outputOf, print } from './output.js';
import { renderTable } from './render-table.js';

const GROUPS = ['tool', 'user', 'project', 'day', 'hour'] as const;

interface Flags extends LookFlags {
  by?: (typeof GROUPS)[number];
  user?: string;
  project?: string;
  since?: string;
  until?: string;
  json?: boolean;
}

export function telemetryCommand(options: OutputOptions = {}): Command {
  const output = outputOf(options);
  return addStoreOption(new Command('telemetry').description('hit rates, errors and unused tools, in figures'))
    .addOption(new Option('--by <group>', 'one row each').choices(GROUPS))
    .option('--user <name>', 'only of this user')
    .option('--project <name>', 'only of this project')
    .option('--since <instant>', 'such as 2026-11-01T00:00:00Z, inclusive')
    .option('--until <instant>', 'such as 2026-12-01T00:00:00Z')
    .option('--config <file>', 'configuration file (YAML or JSON)')
    .option('--json', 'print JSON')
    .action(async (flags: Flags) => {
      const { withStoredAgents } = await import('./open-store-commands.js');
      const { parseInput } = await import('../core/parse.js');
      const { telemetryQuerySchema } = await import('../agents/telemetry/rates.js');
      const { by, user, project, since, until } = flags;
      const query = parseInput(telemetryQuerySchema, { by, user, project, since, until });
      const report = await withStoredAgents(flags, ({ telemetry }) => telemetry(query));
      print(output, flags, { value: report, text: renderReport(report, by ?? '') });
    });
}

function renderReport({ total, rows }: TelemetryReport, group: string): string {
  const head = [group, 'searches', 'used', 'top 1', 'top 3', 'again', 'calls', 'errors', 'refused', 'ended', 'unused'];
  return renderTable(head, [...rows.map((row) => cellsOf(row.key, row)), cellsOf('total', total)]);
}

function cellsOf(key: string, rates: Rates): string[] {
  const { searches, used, top1, top3, searchAgain, calls, errorRate, refused, enablements, unused } = rates;
  const counts = (count: number) => String(count);
  return [
    key,
    counts(searches),
    counts(used),
    percent(top1),
    percent(top3),
    percent(searchAgain),
    counts(calls),
    percent(errorRate),
    counts(refused),
    counts(enablements),
    percent(unused),
  ];
}

function percent(share: number | null): string {
  return share === null ? '-' : `${Math.round(share * 1000) / 10} %`;
}
