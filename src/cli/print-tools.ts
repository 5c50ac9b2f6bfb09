/** The tools of a catalogue, one of them, and every problem of its sources, as people or programs read them. */

import { renderFlag, scanTools } from '../core/catalog/scan.js';
import { fittedSchemas } from '../core/catalog/schema/normalise.js';
import { createScope, type View } from '../core/catalog/scope.js';
import { describeSource } from '../core/catalog/sources/source.js';
import { renderSummary } from '../core/catalog/summary.js';
import { renderIssue, type Tool } from '../core/catalog/tool.js';
import { ERROR_TABLE, WinnowError } from '../core/errors.js';
import { nearHint } from '../core/nearest-name.js';
import { countWarnings, type LoadedTools, loadTools, toolSourcesOf } from './load-tools.js';
import { printable, printableLine, renderJson } from './printable.js';
import { readConfig } from './read-config.js';

export interface ToolOutput {
  stdout: Pick<NodeJS.WritableStream, 'write'>;
  stderr: Pick<NodeJS.WritableStream, 'write'>;
}

export interface ToolFlags {
  catalog?: string[];
  config?: string;
  strict?: boolean;
  user?: string;
  json?: boolean;
}

export async function listTools(flags: ToolFlags, { stdout, stderr }: ToolOutput): Promise<void> {
  const { tools } = viewOf(await load(flags, stderr), flags);
  if (flags.json) {
    const rows = tools.map(({ name, title, description, category, toolType, risk, origin }) => {
      return { name, title, description, category, toolType, risk, origin };
    });
    stdout.write(`${renderJson(rows)}\n`);
    return;
  }
  for (const tool of tools)
    stdout.write(`${printableLine(renderSummary(tool, 'sentence').slice(2))} (${kindOf(tool)}, ${tool.risk})\n`);
}

export async function showTool(name: string, flags: ToolFlags, { stdout, stderr }: ToolOutput): Promise<void> {
  const view = viewOf(await load(flags, stderr), flags);
  const tool = view.byName.get(name);
  if (!tool) {
    const hint = nearHint(name, [...view.byName.keys()]);
    throw new WinnowError('not_found', `There is no tool "${name}" here${hint}. List them with: winnow tools list`);
  }
  if (flags.json) stdout.write(`${renderJson(tool)}\n`);
  else
    stdout.write(
      `${printable(
        Object.entries({ ...tool, toolType: kindOf(tool) })
          .map(renderField)
          .join('\n'),
      )}\n`,
    );
}

/** Reads leniently even under --strict, so that all problems are shown and not only those of the first kind. */
export async function checkTools(flags: ToolFlags, { stdout, stderr }: ToolOutput): Promise<void> {
  const { loaded, isStrict } = await load(flags, stderr, { isLenient: true });
  const { failures, issues, sources } = loaded;
  // Whoever can read the sources may see all of them; with --user the notes are about what that user sees.
  const tools = flags.user === undefined ? loaded.catalog.tools : viewOf({ loaded }, flags).tools;
  const notes = tools.flatMap(findNotes);
  const flagged = scanTools(tools).map(({ tool, flags: found }) => ({
    tool: tool.name,
    origin: tool.origin,
    flags: found,
  }));
  if (flags.json) {
    const failed = failures.map(({ source, error }) => ({ source, ...error.toJSON() }));
    stdout.write(`${renderJson({ sources, issues, failures: failed, notes, flagged })}\n`);
  } else {
    for (const { source, error } of failures) stdout.write(`failure ${printableLine(`${source}: ${error.message}`)}\n`);
    for (const issue of issues)
      stdout.write(`${issue.isLeftOut ? 'left out' : issue.level} ${printableLine(renderIssue(issue))}\n`);
    for (const { tool, note } of notes) stdout.write(`note ${printableLine(`${tool}: ${note}`)}\n`);
    for (const one of flagged)
      for (const flag of one.flags) stdout.write(`flag ${printableLine(`${one.tool}: ${renderFlag(flag)}`)}\n`);
  }
  const warnings = countWarnings(loaded);
  const counts = [
    counted(tools.length, 'tool'),
    `${new Set(issues.filter(({ isLeftOut }) => isLeftOut).map(({ entry }) => entry)).size} left out`,
    counted(warnings, 'warning'),
    counted(failures.length, 'failure'),
    counted(notes.length, 'note'),
    ...(flagged.length > 0 ? [`${flagged.length} flagged`] : []),
  ];
  stderr.write(`${counts.join(', ')}\n`);
  if (!isStrict) return;
  if (warnings > 0) process.exitCode = ERROR_TABLE.invalid_catalog.exitCode;
  else if (failures.length > 0) process.exitCode = ERROR_TABLE.source_failed.exitCode;
}

function counted(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? '' : 's'}`;
}

/** As `plan` and `serve` find them, so that what is checked is what they use. */
async function load(
  flags: ToolFlags,
  stderr: ToolOutput['stderr'],
  { isLenient = false }: { isLenient?: boolean } = {},
): Promise<LoadedTools> {
  const config = await readConfig(flags);
  const { sources } = toolSourcesOf(flags, config);
  stderr.write(`Reading ${sources.map(describeSource).join(', ')}\n`);
  return loadTools(flags, config, { stderr, isLenient });
}

function viewOf({ loaded }: Pick<LoadedTools, 'loaded'>, { user }: ToolFlags): View {
  return createScope(loaded.catalog)({ user });
}

/** What a model is shown are mended schemas; each change is a note, though the tool is usable. */
function findNotes(tool: Tool): { tool: string; note: string }[] {
  return fittedSchemas(tool).notes.map((note) => ({ tool: tool.name, note }));
}

/** What runs it, in the words of its source: `toolType` says how Winnow keeps it. */
function kindOf({ toolType, metadata, instructions }: Tool): string {
  if (toolType === 'mcp') return 'MCP';
  if (metadata?.http !== undefined) return 'HTTP';
  return instructions === undefined ? 'function' : 'skill';
}

function renderField([name, value]: [string, unknown]): string {
  if (typeof value === 'string') return value.includes('\n') ? `${name}:\n${value}` : `${name}: ${value}`;
  return `${name}: ${JSON.stringify(value, null, 2)}`;
}
