/** What of a policy is without effect on a catalogue, in words: a slip in a name must not pass for a rule. */
import type { Tool } from '../../catalog/tool.js';
import { compileToolMatch, type Match } from './match.js';
import type { Policy } from './policy.js';
import { calledTools, parseRequirement } from './requirement.js';

export function checkPolicy({ settings }: Policy, tools: readonly Tool[]): string[] {
  const names = new Set(tools.map(({ name }) => name));
  const isVain = (match: Match) => !tools.some(compileToolMatch(match));
  const parts = [
    ...settings.rules.map((rule) => ({ path: `rules "${rule.name}"`, match: rule.match })),
    ...settings.argumentRisks.map(({ match }, index) => ({ path: `argumentRisks[${index}]`, match })),
    ...settings.preconditions.map(({ match }, index) => ({ path: `preconditions[${index}]`, match })),
  ];
  return [
    ...parts.filter(({ match }) => isVain(match)).map(({ path }) => `${path}: matches no tool`),
    ...settings.pinned.filter((glob) => isVain({ tool: [glob] })).map((glob) => `pinned: "${glob}" matches no tool`),
    ...settings.preconditions.flatMap(({ requires }, index) =>
      calledTools(requires)
        .filter((name) => !names.has(name))
        .map((name) => `preconditions[${index}]: there is no tool "${name}" that could be called`),
    ),
    ...tools.flatMap((tool) =>
      tool.preconditions
        .filter((text) => parseRequirement(text) === undefined)
        .map(
          (text) => `tool ${tool.name}: "${text}" is for people only; write a precondition in the policy to check it`,
        ),
    ),
  ];
}
