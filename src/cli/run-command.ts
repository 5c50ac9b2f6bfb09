/** `winnow run`: a plan, step by step under the policy. A step that waits for an approval pauses the run. */
import { Command } from 'commander';
import { addAgentOptions } from './agent-options.js';
import { type OutputOptions, outputOf } from './output.js';
import type { RunFlags } from './run-flags.js';
import { collect, wholeNumber } from './shared-options.js';

export function runCommand(options: OutputOptions = {}): Command {
  const command = new Command('run')
    .description('run a plan step by step; a step may wait for an approval, then go on with --resume')
    .argument('[plan]', 'file with a plan, as `winnow plan --json` prints it; - reads it from stdin');
  return addAgentOptions(command)
    .option('-c, --catalog <source>', 'file, URL or folder with tools; may be given more than once', collect)
    .option('--config <file>', 'configuration file (YAML or JSON)')
    .option('--user <name>', 'who runs it; high risk needs one, since somebody else approves')
    .option('--role <role>', 'role of the user; may be given more than once', collect)
    .option(
      '--session <id>',
      'a session whose enabled tools are used (default: one of its own, with those of the plan)',
    )
    .option('--resume <run>', 'go on with this run of the store, in place of a plan')
    .option('--repeat <step>', 'with --resume: run this step of unknown outcome again; repeatable', collect)
    .option(
      '--secrets <file>',
      'with --resume: secret arguments as JSON, {"s1": {"pin": "…"}}; - reads them from stdin',
    )
    .option('--dry-run', 'show each call, run nothing')
    .option('--retries <number>', 'further calls of a step that failed in a way that may pass', wholeNumber)
    .option('--json', 'print the run as JSON')
    .action(async (path: string | undefined, flags: RunFlags) => {
      const { runPlanFile } = await import('./run-plan-file.js');
      await runPlanFile(path, flags, outputOf(options));
    });
}
