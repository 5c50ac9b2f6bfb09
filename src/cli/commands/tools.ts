/** `winnow tools`: lists and checks a catalogue, and accepts definitions that wait for a review. */
import type { Command } from 'commander';
import type { Definitions, HeldTool } from '../../agents/definitions.js';
import type { View } from '../../core/catalog/scope.js';
import { ERROR_TABLE, WinnowError } from '../../core/errors.js';
import { command, type FlagsOf, group, toggle } from '../command.js';
import { BY, CATALOG, CONFIG, JSON_OUTPUT, STORE, USER } from '../flags.js';
import type { LoadedTools } from '../load-tools.js';
import { counted, print, printableLine, printableMessage, writeLine } from '../output.js';

const FLAGS = { ...CATALOG, ...CONFIG, ...USER, ...JSON_OUTPUT };
const ACCEPT = {
  ...CONFIG,
  ...CATALOG,
  ...STORE,
  ...BY,
  all: toggle('--all', 'all that wait, as they are now'),
  ...JSON_OUTPUT,
};

export function toolsCommand(): Command {
  return group(
    'tools',
    'list and check the tools of a catalogue, and accept changed ones',
    'winnow tools list --catalog openapi.yaml',
    [
      command({
        name: 'list',
        words: '[name]',
        about: 'one line a tool; all that is known of the one that is named',
        flags: FLAGS,
        examples: ['winnow tools list --catalog openapi.yaml', 'winnow tools list get_weather --catalog tools.json'],
        run: ([name], flags) => (name === undefined ? listTools(flags) : showTool(name, flags)),
      }),
      command({
        name: 'check',
        about: 'every problem of the sources, and what is mended in schemas',
        flags: FLAGS,
        examples: ['winnow tools check --catalog mcp.json', 'winnow tools check --set strict=true'],
        run: checkTools,
      }),
      command({
        name: 'accept',
        words: '[id...]',
        about:
          'show what waits for a review, with the difference, or take what you looked at; a running server sees it soon',
        flags: ACCEPT,
        examples: ['winnow tools accept -c winnow.yaml', 'winnow tools accept 60a4b7c500a289ba --by olga'],
        run: acceptChanges,
      }).alias('changes'),
    ],
  );
}

type Flags = FlagsOf<typeof FLAGS>;

async function listTools(flags: Flags): Promise<void> {
  const { runnerOf } = await import('../../agents/sandbox/executors/executor.js');
  const { renderSummary } = await import('../../core/catalog/summary.js');
  const { tools } = await viewOf(await load(flags), flags);
  const value = tools.map(({ name, title, description, category, toolType, risk, origin }) => {
    return { name, title, description, category, toolType, risk, origin };
  });
  const lines = tools.map((tool) => {
    const runner = runnerOf(tool);
    const kind = runner ? KINDS[runner] : `${tool.toolType}, nothing runs it`;
    return printableLine(`${renderSummary(tool, 'sentence').slice(2)} (${kind}, ${tool.risk})`);
  });
  // Without visible tools it prints nothing, not an empty line.
  if (flags.json || lines.length > 0) print(flags, { value, text: lines.join('\n') });
}

async function showTool(name: string, flags: Flags): Promise<void> {
  const { byName } = await viewOf(await load(flags), flags);
  const tool = byName.get(name);
  if (!tool) {
    const { nearHint } = await import('../../core/nearest-name.js');
    const hint = nearHint(name, [...byName.keys()]);
    throw new WinnowError('not_found', `There is no tool "${name}" here${hint}. List them with: winnow tools list`);
  }
  const fields = Object.entries(tool).map(renderField);
  print(flags, { value: tool, text: fields.join('\n') });
}

/** Reads leniently even under strict, so that it shows all problems. */
async function checkTools(_: string[], flags: Flags): Promise<void> {
  const { renderFlag, scanTools } = await import('../../core/catalog/scan.js');
  const { renderIssue } = await import('../../core/catalog/tool.js');
  const { fittedSchemas } = await import('../../core/catalog/schema/normalise.js');
  const { countWarnings } = await import('../load-tools.js');
  const { loaded, isStrict } = await load(flags, { isLenient: true });
  const { failures, issues, sources } = loaded;
  // Whoever can read the sources may see all tools; --user limits the notes to what that user sees.
  const tools = flags.user === undefined ? loaded.catalog.tools : (await viewOf({ loaded }, flags)).tools;
  // The model sees adapted schemas; each change is a note, though the tool is usable.
  const notes = tools.flatMap((tool) => fittedSchemas(tool).notes.map((note) => ({ tool: tool.name, note })));
  const flagged = scanTools(tools).map(({ tool, flags: found }) => {
    return { tool: tool.name, origin: tool.origin, flags: found };
  });
  const lines = [
    ...failures.map(({ source, error }) => `failure ${source}: ${error.message}`),
    ...issues.map((issue) => `${issue.isLeftOut ? 'left out' : issue.level} ${renderIssue(issue)}`),
    ...notes.map(({ tool, note }) => `note ${tool}: ${note}`),
    ...flagged.flatMap((one) => one.flags.map((flag) => `flag ${one.tool}: ${renderFlag(flag)}`)),
  ];
  const failed = failures.map(({ source, error }) => ({ source, ...error.toJSON() }));
  const value = { sources, issues, failures: failed, notes, flagged };
  if (flags.json || lines.length > 0) print(flags, { value, text: lines.map(printableMessage).join('\n') });
  const warnings = countWarnings(loaded);
  const counts = [
    counted(tools.length, 'tool'),
    `${new Set(issues.filter(({ isLeftOut }) => isLeftOut).map(({ entry }) => entry)).size} left out`,
    counted(warnings, 'warning'),
    counted(failures.length, 'failure'),
    counted(notes.length, 'note'),
    ...(flagged.length > 0 ? [`${flagged.length} flagged`] : []),
  ];
  writeLine(counts.join(', '));
  if (!isStrict) return;
  if (warnings > 0) process.exitCode = ERROR_TABLE.invalid_catalog.exitCode;
  else if (failures.length > 0) process.exitCode = ERROR_TABLE.source_failed.exitCode;
}

/** @throws WinnowError `not_found` for an id that does not wait */
async function acceptChanges(ids: string[], flags: FlagsOf<typeof ACCEPT>): Promise<void> {
  if (ids.length === 0 && !flags.all) return showChanges(flags);
  const accepted = await withDefinitions(flags, ({ accept }) => accept(flags.all ? undefined : ids, flags.by));
  print(flags, { value: { accepted }, text: `accepted: ${accepted.join(', ') || 'nothing'}` });
}

async function showChanges(flags: FlagsOf<typeof ACCEPT>): Promise<void> {
  const { renderFlag } = await import('../../core/catalog/scan.js');
  const held = await withDefinitions(flags, (definitions) => definitions.held());
  const shown = held.map((one) => renderHeld(one, one.flags.map(renderFlag)));
  print(flags, { value: held, text: shown.join('\n') || 'nothing waits' });
}

async function withDefinitions<Result>(
  flags: FlagsOf<typeof ACCEPT>,
  work: (definitions: Definitions) => Promise<Result>,
): Promise<Result> {
  const { createDefinitions } = await import('../../agents/definitions.js');
  const { openStore } = await import('../../agents/store/open-store.js');
  const { loadTools } = await import('../load-tools.js');
  const { readConfig, requireStorePlace } = await import('../read-config.js');
  const config = await readConfig(flags);
  const place = requireStorePlace(config);
  const { catalog } = (await loadTools(config, { stderr: process.stderr })).loaded;
  const store = await openStore(place);
  try {
    // With `reviewNew`, reading accepts nothing by itself.
    const definitions = createDefinitions({ base: () => catalog, store: store.definitions, reviewNew: true });
    await definitions.refresh();
    return await work(definitions);
  } finally {
    await store.close();
  }
}

/** Loads tools as `plan` and `serve` do. */
async function load(flags: Flags, { isLenient = false }: { isLenient?: boolean } = {}): Promise<LoadedTools> {
  const { describeSource } = await import('../../core/catalog/sources/source.js');
  const { loadTools, toolSourcesOf } = await import('../load-tools.js');
  const { readConfig } = await import('../read-config.js');
  const config = await readConfig(flags);
  writeLine(`Reading ${toolSourcesOf(config).sources.map(describeSource).join(', ')}`);
  return loadTools(config, { stderr: process.stderr, isLenient });
}

async function viewOf({ loaded }: Pick<LoadedTools, 'loaded'>, { user }: Flags): Promise<View> {
  const { createScope } = await import('../../core/catalog/scope.js');
  return createScope(loaded.catalog)({ user });
}

const KINDS = { skill: 'skill', mcp: 'MCP', http: 'HTTP', function: 'function' } as const;

function renderField([name, value]: [string, unknown]): string {
  if (typeof value === 'string') return value.includes('\n') ? `${name}:\n${value}` : `${name}: ${value}`;
  return `${name}: ${JSON.stringify(value, null, 2)}`;
}

function renderHeld({ name, id, origin, is, differences }: HeldTool, flagged: readonly string[]): string {
  const lines = differences.map(({ field, before, now }) =>
    is === 'new'
      ? `  ${field}: ${show(now)}`
      : `  ${field}: ${show(before)}\n  ${' '.repeat(field.length)}-> ${show(now)}`,
  );
  const marks = flagged.map((flag) => `  ! ${flag}`);
  return [`${name} (${origin}) is ${is}`, ...marks, ...lines, `  accept it: winnow tools accept ${id}`].join('\n');
}

function show(value: unknown): string {
  return value === undefined ? 'nothing' : JSON.stringify(value);
}
