/**
 * Reports parts of a policy that have no effect on a catalogue, so that a misspelt name does not pass for a rule.
 * Preconditions in prose are listed separately: people and models read them, and a policy can enforce them by a rule.
 */
import { fits, subschemaAt } from '../../core/catalog/schema/paths.js';
import type { Tool } from '../../core/catalog/tool.js';
import { oneLine } from '../../core/visible-text.js';
import { compileToolMatch, serversName, valuesMeeting } from './match.js';
import { type Policy, type PolicyPart, partsOf, toolsOf } from './policy.js';
import { calledIn, parseRequirement } from './requirement.js';

export interface PolicyNote {
  /** `problem`: a part can't have its intended effect. `unchecked`: prose that no program checks. */
  readonly level: 'problem' | 'unchecked';
  readonly message: string;
}

export function checkPolicy({ settings }: Policy, tools: readonly Tool[]): PolicyNote[] {
  const names = new Set(tools.map(({ name }) => name));
  const isVain = (glob: string) => !tools.some(compileToolMatch({ tool: [glob] }));
  const parts = partsOf(settings);
  const problems = [
    ...parts.flatMap((part) =>
      tools.some(toolsOf(part)) ? vainArguments(part, tools) : [`${part.path}: matches no tool`],
    ),
    ...settings.pinned.filter(isVain).map((glob) => `pinned: "${glob}" matches no tool`),
    ...settings.preconditions.flatMap(({ requires }, index) =>
      calledIn(requires)
        .map(({ called }) => called)
        .filter((name) => !names.has(name))
        .map((name) => `preconditions[${index}]: there is no tool "${name}" that could be called${hint(name, tools)}`),
    ),
    ...(settings.toolPreconditions === 'enforce' ? tools.flatMap((tool) => neverMet(tool, names)) : []),
  ];
  return [
    ...problems.map((message) => ({ level: 'problem' as const, message: oneLine(message) })),
    ...uncheckedOf(settings, tools).map((message) => ({ level: 'unchecked' as const, message: oneLine(message) })),
  ];
}

/** Conditions on arguments that no call of a matching tool can meet. */
function vainArguments(part: PolicyPart, tools: readonly Tool[]): string[] {
  const { path, match, restricts } = part;
  const isAbout = toolsOf(part);
  return Object.entries(match.arguments ?? {}).flatMap(([name, condition]) => {
    const wanted = valuesMeeting(condition, { byItems: restricts });
    let isThere = false;
    const isMet = tools.some((tool) => {
      const schema = isAbout(tool) ? subschemaAt(tool.inputSchema, [name]) : undefined;
      isThere ||= schema !== undefined;
      return schema !== undefined && (wanted === undefined || fits(schema, wanted));
    });
    if (isMet) return [];
    const why = isThere ? 'can have such a value in' : 'has an argument';
    return [`${path}: no tool that it matches ${why} "${name}"`];
  });
}

/** Any server could offer a tool of this name, so only the full name, with the server's prefix, counts. */
function hint(name: string, tools: readonly Tool[]): string {
  const meant = tools.filter((tool) => serversName(tool) === name).map((tool) => JSON.stringify(tool.name));
  return meant.length === 0 ? '' : `; write ${meant.join(' or ')}`;
}

/**
 * Parts of the policy that would no longer match any tool. Their tools were renamed or removed, and a program can't
 * know which. One sentence each, with the tools.
 */
export function lostParts({ settings }: Policy, before: readonly Tool[], after: readonly Tool[]): string[] {
  return partsOf(settings).flatMap((part) => {
    const isAbout = toolsOf(part);
    const had = part.restricts && !after.some(isAbout) ? before.filter(isAbout) : [];
    if (had.length === 0) return [];
    const names = had.slice(0, MAX_NAMED).map(({ name }) => name);
    return [`${part.path} of the policy would be about no tool any more, and was about ${names.join(', ')}`];
  });
}

const MAX_NAMED = 5;

function neverMet(tool: Tool, names: ReadonlySet<string>): string[] {
  return tool.preconditions.flatMap((text) => {
    const requirement = parseRequirement(text);
    if (!requirement || names.has(requirement.called)) return [];
    return [`tool ${tool.name}: "${text}" is never met: there is no tool "${requirement.called}"`];
  });
}

/** Prose counts as covered for tools with a precondition in the policy. */
function uncheckedOf({ preconditions }: Policy['settings'], tools: readonly Tool[]): string[] {
  const covers = preconditions.map(({ match }) => compileToolMatch(match, { byServersWord: true }));
  return tools
    .filter((tool) => !covers.some((isAbout) => isAbout(tool)))
    .flatMap((tool) =>
      tool.preconditions
        .filter((text) => parseRequirement(text) === undefined)
        .map((text) => `tool ${tool.name}: "${text}" is for people only; a precondition in the policy can check it`),
    );
}
