/** What `winnow tools changes` and `winnow tools accept` do: definitions that a server holds back until somebody has looked. */

import { createDefinitions, type Definitions, type HeldTool } from '../agents/definitions.js';
import { createAuditWriter } from '../agents/ledger.js';
import { openStore } from '../agents/store/open-store.js';
import { renderFlag } from '../core/catalog/scan.js';
import { WinnowError } from '../core/errors.js';
import { requireStoreFile, requireStorePlace, type StoreFlags } from './agent-options.js';
import { loadTools } from './load-tools.js';
import type { ToolFlags, ToolOutput } from './print-tools.js';
import { printable, renderJson } from './printable.js';
import { readConfig } from './read-config.js';

export interface ChangesFlags extends ToolFlags, StoreFlags {
  by?: string;
  all?: boolean;
}

export async function showChanges(flags: ChangesFlags, output: ToolOutput): Promise<void> {
  const held = await withDefinitions(flags, output, (definitions) => definitions.held());
  output.stdout.write(
    flags.json ? `${renderJson(held)}\n` : `${held.map(renderHeld).map(printable).join('\n') || 'nothing waits'}\n`,
  );
}

/** @throws WinnowError `invalid_option` without names and `--all`, `not_found` for an id that does not wait */
export async function acceptChanges(ids: readonly string[], flags: ChangesFlags, output: ToolOutput): Promise<void> {
  if (ids.length === 0 && !flags.all)
    throw new WinnowError(
      'invalid_option',
      'Give the ids of what to accept, or --all. See them with: winnow tools changes',
    );
  const accepted = await withDefinitions(flags, output, (definitions) =>
    definitions.accept(flags.all ? undefined : ids, flags.by),
  );
  output.stdout.write(flags.json ? `${renderJson({ accepted })}\n` : `accepted: ${accepted.join(', ') || 'nothing'}\n`);
}

async function withDefinitions<Result>(
  flags: ChangesFlags,
  { stderr }: ToolOutput,
  work: (definitions: Definitions) => Promise<Result>,
): Promise<Result> {
  const config = await readConfig(flags);
  const place = requireStorePlace(flags, config);
  requireStoreFile(place);
  const { catalog } = (await loadTools(flags, config, { stderr })).loaded;
  const store = await openStore(place);
  try {
    const audit = createAuditWriter({ journal: store.journal });
    // A look accepts nothing by itself.
    const definitions = createDefinitions({ base: () => catalog, store: store.definitions, reviewNew: true, audit });
    await definitions.refresh();
    return await work(definitions);
  } finally {
    await store.close();
  }
}

function renderHeld({ name, id, origin, is, differences, flags }: HeldTool): string {
  const lines = differences.map(({ field, before, now }) =>
    is === 'new'
      ? `  ${field}: ${show(now)}`
      : `  ${field}: ${show(before)}\n  ${' '.repeat(field.length)}-> ${show(now)}`,
  );
  const marks = flags.map((flag) => `  ! ${renderFlag(flag)}`);
  return [`${name} (${origin}) is ${is}`, ...marks, ...lines, `  accept it: winnow tools accept ${id}`].join('\n');
}

function show(value: unknown): string {
  return value === undefined ? 'nothing' : JSON.stringify(value);
}
