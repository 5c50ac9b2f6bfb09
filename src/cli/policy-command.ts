/** `winnow policy check`: whether a policy is usable, what of it is without effect, and what it decides, with the reason. */
import { Command, Option } from 'commander';
import type { PolicyNote } from '../agents/policy/check-policy.js';
import type { Decision } from '../agents/policy/decide.js';
import type { Policy } from '../agents/policy/policy.js';
import type { Catalog } from '../core/catalog/catalog.js';
import { RISKS, type Risk } from '../core/catalog/risk.js';
import type { Tool } from '../core/catalog/tool.js';
import { ERROR_TABLE, WinnowError } from '../core/errors.js';
import type { ConfigFile } from './config-file.js';
import { parseArguments } from './json-arguments.js';
import { type Output, type OutputOptions, outputOf, print } from './output.js';
import { renderTable } from './render-table.js';
import { collect } from './shared-options.js';

interface Flags {
  config?: string;
  catalog?: string[];
  tool?: string[];
  user?: string;
  role?: string[];
  riskCeiling?: Risk;
  arguments?: string;
  strict?: boolean;
  strictPreconditions?: boolean;
  json?: boolean;
}

export function policyCommand(options: OutputOptions = {}): Command {
  const output = outputOf(options);
  const command = new Command('policy').description('check what a policy decides');
  command
    .command('check [file]')
    .description('what is without effect in it, and what it decides for each tool when an enabled one is called')
    .option('--config <file>', 'configuration file (YAML or JSON) that names policy and catalogue')
    .option('-c, --catalog <source>', 'tools; may be given more than once (default: the example catalogue)', collect)
    .option('--tool <name>', 'only this tool; may be given more than once', collect)
    .option('--user <name>', 'who calls')
    .option('--role <role>', 'role of the caller; may be given more than once', collect)
    .addOption(new Option('--risk-ceiling <risk>', 'of the session').choices(RISKS))
    .option('--arguments <json>', 'of the call, as a JSON object')
    .option(
      '--strict',
      'a problem is an error: a part without effect, a condition that can never be met, tools that can not be read',
    )
    .option(
      '--strict-preconditions',
      'and so is a precondition in prose, unless the policy has one of its own for the tool',
    )
    .option('--json', 'print JSON')
    .action((file: string | undefined, flags: Flags) => checkFile(file, flags, output));
  return command;
}

interface Row extends Pick<Decision, 'decision' | 'code' | 'risk' | 'reason'> {
  tool: string;
}

async function checkFile(file: string | undefined, flags: Flags, output: Output): Promise<void> {
  const { readConfig } = await import('./read-config.js');
  const { openPolicyFile } = await import('../agents/policy/policy-file.js');
  const { loadTools } = await import('./load-tools.js');
  const config = await readConfig(flags);
  const path = file ?? config.policy;
  if (path === undefined)
    throw new WinnowError('invalid_option', 'Name the policy: a file, or a --config with a policy in it.');
  const policy = (await openPolicyFile(path)).current();
  const { loaded } = await loadTools(flags, config, output);
  const { catalog } = loaded;
  const notes = await findNotes(policy, config, catalog.tools);
  const rows = await decideAll(policy, { flags, catalog });
  const table = renderTable(
    ['tool', 'decision', 'risk', 'code', 'reason'],
    rows.map(({ tool, decision, risk, code, reason }) => [tool, decision, risk, code, reason]),
    { leftColumns: 5 },
  );
  const lines = notes.map(({ level, message }) => `${level} ${message}`);
  const text = [...lines, `version ${policy.version}`, '', table].join('\n');
  print(output, flags, { value: { version: policy.version, notes, decisions: rows }, text });
  if (notes.some((note) => isFatal(note, flags))) process.exitCode = ERROR_TABLE.invalid_option.exitCode;
}

/** Of the policy, and of the limits in the same configuration: both name tools. */
async function findNotes(policy: Policy, { sandbox }: ConfigFile, tools: readonly Tool[]): Promise<PolicyNote[]> {
  const { checkPolicy } = await import('../agents/policy/check-policy.js');
  const { checkLimits } = await import('../agents/sandbox/limits.js');
  const { resolveLimits } = await import('../agents/sandbox/limits.js');
  const limits = checkLimits(resolveLimits(sandbox), tools);
  return [...checkPolicy(policy, tools), ...limits.map((message): PolicyNote => ({ level: 'problem', message }))];
}

function isFatal({ level }: PolicyNote, { strict, strictPreconditions }: Flags): boolean {
  return level === 'problem' ? Boolean(strict || strictPreconditions) : Boolean(strictPreconditions);
}

/** As for a call in the first turn of a session in which the tool is enabled and nothing was called. */
async function decideAll(policy: Policy, { flags, catalog }: { flags: Flags; catalog: Catalog }): Promise<Row[]> {
  const { decide } = await import('../agents/policy/decide.js');
  const { createScope } = await import('../core/catalog/scope.js');
  const { user, role: roles = [], riskCeiling } = flags;
  const given = parseArguments(flags.arguments);
  const { tools, byName } = createScope(catalog)({ user });
  const asked = flags.tool ? await requireTools(flags.tool, byName) : tools;
  return asked.map((tool): Row => {
    const { decision, code, risk, reason, warned } = decide(policy, {
      purpose: 'call',
      tool,
      caller: { user, roles },
      session: { turn: 1, isEnded: false, riskCeiling },
      now: new Date(),
      isEnabled: true,
      arguments: given,
      calls: [],
    });
    return { tool: tool.name, decision, code, risk, reason: warned ? `Only warned of: ${warned.reason}` : reason };
  });
}

/** @throws WinnowError `invalid_option` for a name that is none: a slip must not look like a decision of the policy. */
async function requireTools(names: readonly string[], byName: ReadonlyMap<string, Tool>): Promise<Tool[]> {
  const { nearHint } = await import('../core/nearest-name.js');
  return names.map((name) => {
    const tool = byName.get(name);
    if (tool) return tool;
    const hint = nearHint(name, [...byName.keys()]);
    throw new WinnowError('invalid_option', `--tool: there is no tool "${name}"${hint}.`);
  });
}
