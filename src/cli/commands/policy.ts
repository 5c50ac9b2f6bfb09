/** `winnow policy check`: whether a policy is valid, which rules have no effect, and what it decides and why. */
import type { Command } from 'commander';
import type { PolicyNote } from '../../agents/policy/check-policy.js';
import type { Policy } from '../../agents/policy/policy.js';
import type { Catalog } from '../../core/catalog/catalog.js';
import { RISKS } from '../../core/catalog/risk.js';
import type { Tool } from '../../core/catalog/tool.js';
import { ERROR_TABLE, WinnowError } from '../../core/errors.js';
import { choice, command, type FlagsOf, group, list, text } from '../command.js';
import type { ConfigFile } from '../config-file.js';
import { CALLER, CATALOG, CONFIG, JSON_OUTPUT } from '../flags.js';
import { parseArguments } from '../input.js';
import { print, renderTable } from '../output.js';

const FLAGS = {
  ...CONFIG,
  ...CATALOG,
  tool: list('--tool <name>', 'only this tool'),
  ...CALLER,
  riskCeiling: choice('--risk-ceiling <risk>', 'of the session', RISKS),
  arguments: text('--arguments <json>', 'of the call, as a JSON object'),
  ...JSON_OUTPUT,
};
type Flags = FlagsOf<typeof FLAGS>;

export function policyCommand(): Command {
  return group('policy', 'check what a policy decides', 'winnow policy check -c winnow.yaml', [
    command({
      name: 'check',
      words: '[file]',
      about:
        'what is without effect in it (an error under strict), and what it decides for each tool when an enabled one is called',
      flags: FLAGS,
      examples: [
        'winnow policy check -c winnow.yaml --set strict=true',
        `winnow policy check policy.yaml --catalog tools.json --tool file_delete --user ann --arguments '{"path": "a"}'`,
      ],
      run: ([file], flags) => checkFile(file, flags),
    }),
  ]);
}

async function checkFile(file: string | undefined, flags: Flags): Promise<void> {
  const { readConfig } = await import('../read-config.js');
  const { openPolicyFile } = await import('../../agents/policy/policy-file.js');
  const { loadTools } = await import('../load-tools.js');
  const config = await readConfig(flags);
  const path = file ?? config.policy;
  if (path === undefined)
    throw new WinnowError('invalid_option', 'Name the policy: a file, or a --config with a policy in it.');
  const policy = (await openPolicyFile(path)).current();
  const { catalog } = (await loadTools(config, { stderr: process.stderr })).loaded;
  const notes = await findPolicyNotes(policy, config, catalog.tools);
  const rows = await decideAll(policy, flags, catalog);
  const table = renderTable(
    ['tool', 'decision', 'risk', 'code', 'reason'],
    rows.map(({ tool, decision, risk, code, reason }) => [tool, decision, risk, code, reason]),
    { leftColumns: 5 },
  );
  const lines = notes.map(({ level, message }) => `${level} ${message}`);
  const shown = [...lines, `version ${policy.version}`, '', table].join('\n');
  print(flags, { value: { version: policy.version, notes, decisions: rows }, text: shown });
  if (config.strict && notes.some(({ level }) => level === 'problem'))
    process.exitCode = ERROR_TABLE.invalid_option.exitCode;
}

/** Notes on the tool names in the policy and in the limits of the configuration. */
export async function findPolicyNotes(
  policy: Policy,
  { sandbox }: Pick<ConfigFile, 'sandbox'>,
  tools: readonly Tool[],
): Promise<PolicyNote[]> {
  const { checkPolicy } = await import('../../agents/policy/check-policy.js');
  const { checkLimits } = await import('../../agents/sandbox/limits.js');
  const { resolveLimits } = await import('../../agents/sandbox/limits.js');
  const limits = checkLimits(resolveLimits(sandbox), tools);
  return [...checkPolicy(policy, tools), ...limits.map((message): PolicyNote => ({ level: 'problem', message }))];
}

/** Decides as for the first call of a session that has enabled the tool. */
async function decideAll(policy: Policy, flags: Flags, catalog: Catalog) {
  const { decide } = await import('../../agents/policy/decide.js');
  const { createScope } = await import('../../core/catalog/scope.js');
  const { user, role: roles = [], riskCeiling } = flags;
  const given = parseArguments(flags.arguments ?? '{}');
  const { tools, byName } = createScope(catalog)({ user });
  const asked = flags.tool ? await requireTools(flags.tool, byName) : tools;
  return asked.map((tool) => {
    const { decision, code, risk, reason, warned } = decide(policy, {
      ...{ purpose: 'call', tool, caller: { user, roles }, now: new Date() },
      session: { turn: 1, isEnded: false, riskCeiling },
      ...{ isEnabled: true, arguments: given, calls: [] },
    });
    return { tool: tool.name, decision, code, risk, reason: warned ? `Only warned of: ${warned.reason}` : reason };
  });
}

/** @throws WinnowError `invalid_option` for an unknown name, which must not look like a decision of the policy */
async function requireTools(names: readonly string[], byName: ReadonlyMap<string, Tool>): Promise<Tool[]> {
  const { nearHint } = await import('../../core/nearest-name.js');
  return names.map((name) => {
    const tool = byName.get(name);
    if (tool) return tool;
    const hint = nearHint(name, [...byName.keys()]);
    throw new WinnowError('invalid_option', `--tool: there is no tool "${name}"${hint}.`);
  });
}
