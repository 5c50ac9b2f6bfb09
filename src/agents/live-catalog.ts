/**
 * Reloads the catalogue of a running server. A source that can't be read keeps its previous tools. A reload changes
 * nothing where the whole catalogue is invalid, or where parts of the policy would no longer apply; both are reported.
 */
import { z } from 'zod';
import type { Catalog } from '../core/catalog/catalog.js';
import type { LoadedCatalog } from '../core/catalog/load.js';
import type { SourceFailure } from '../core/catalog/sources/source.js';
import { renderIssue } from '../core/catalog/tool.js';
import { toWinnowError, WinnowError } from '../core/errors.js';
import { oncePer } from '../core/kept.js';
import type { Planner } from '../core/planner.js';
import type { WriteAudit } from './ledger.js';
import { lostParts } from './policy/check-policy.js';
import type { Policy } from './policy/policy.js';

const count = z.int().min(0);
export const catalogReloadSchema = z.object({
  tools: count.describe('Number of tools from the sources, without those that users have added.'),
  added: count,
  changed: count,
  removed: count,
  kept: z
    .array(z.object({ source: z.string(), reason: z.string() }))
    .describe('Sources, servers of one, or the whole catalogue that could not be read; their previous tools stay.'),
  failed: z
    .array(z.object({ source: z.string(), reason: z.string() }))
    .describe('Sources that could not be read and had no tools before.'),
  warnings: z
    .array(z.string())
    .describe('Entries that were left out, and why; keys without effect; tools that were, or may have been, renamed.'),
});
export type CatalogReload = z.infer<typeof catalogReloadSchema>;

interface LiveCatalogParts {
  first: LoadedCatalog;
  /** Reads the sources again; see `loadCatalog` with `previous` and `keepFailed`. */
  load(previous: LoadedCatalog): Promise<LoadedCatalog>;
  /** The current policy. Default: none, so any valid catalogue is accepted. */
  policy?: (() => Policy) | undefined;
  /** Records each reload. Default: no audit. */
  audit?: WriteAudit | undefined;
}

export type LiveCatalog = ReturnType<typeof createLiveCatalog>;

export function createLiveCatalog({ first, load, policy, audit }: LiveCatalogParts) {
  let current = first;
  let running: Promise<unknown> = Promise.resolve();
  let next: Promise<CatalogReload> | undefined;

  async function reload(): Promise<CatalogReload> {
    const outcome = await tryLoad(current, { load, policy });
    if (outcome.loaded) current = outcome.loaded;
    const { report } = outcome;
    const { kept, added, changed, removed } = report;
    const changes = added + changed + removed > 0 ? [renderChanges(report)] : [];
    const reasons = kept.map(({ reason }) => reason);
    await audit?.(
      kept.length > 0
        ? { event: 'catalog_kept', outcome: 'failed', reason: [...reasons, ...changes].join(' ') }
        : { event: 'catalog_reloaded', outcome: 'allowed', reason: changes[0] ?? 'No change.' },
    );
    return report;
  }

  return {
    current: () => current,
    /** One runs at a time; requests meanwhile share the next one. Throws WinnowError `store_failed` only. */
    reload(): Promise<CatalogReload> {
      next ??= running.then(() => {
        next = undefined;
        const work = reload();
        running = work.catch(() => undefined);
        return work;
      });
      return next;
    },
  };
}

interface Outcome {
  readonly loaded?: LoadedCatalog;
  readonly report: CatalogReload;
}

async function tryLoad(
  previous: LoadedCatalog,
  { load, policy }: Pick<LiveCatalogParts, 'load' | 'policy'>,
): Promise<Outcome> {
  try {
    const loaded = await load(previous);
    if (policy) refuseLost(lostParts(policy(), previous.catalog.tools, loaded.catalog.tools));
    const { added, changed, removed } = loaded.changes;
    return {
      loaded,
      report: {
        tools: loaded.catalog.tools.length,
        added: added.length,
        changed: changed.length,
        removed: removed.length,
        kept: loaded.kept.map(toReason),
        failed: loaded.failures.filter((failure) => !loaded.kept.includes(failure)).map(toReason),
        warnings: loaded.issues.filter(({ level }) => level === 'warning').map(renderIssue),
      },
    };
  } catch (error) {
    const { message, issues } = toWinnowError(error);
    const kept = [{ source: previous.catalog.name, reason: message }];
    const tools = previous.catalog.tools.length;
    return { report: { tools, added: 0, changed: 0, removed: 0, kept, failed: [], warnings: [...issues] } };
  }
}

function refuseLost(issues: readonly string[]): void {
  const [first] = issues;
  if (first === undefined) return;
  const next = 'Bring the tools back, or change the policy first. A restart accepts the new catalogue';
  throw new WinnowError('invalid_catalog', `The catalogue stays unchanged: ${first}. ${next}.`, { issues });
}

function toReason({ source, error }: SourceFailure): { source: string; reason: string } {
  return { source, reason: error.message };
}

function renderChanges({ added, changed, removed }: CatalogReload): string {
  return `${added} tools added, ${changed} changed, ${removed} removed.`;
}

// A planner over a catalogue that changes: each request is planned with the current tools.

interface LivePlannerParts {
  catalog: () => Catalog;
  /** Called once for each catalogue. */
  plannerOf: (catalog: Catalog) => Planner;
}

export function createLivePlanner({ catalog, plannerOf }: LivePlannerParts): Planner {
  const kept = oncePer(plannerOf);
  const current = () => kept(catalog());
  return {
    plan: (request, call) => current().plan(request, call),
    select: (request, call) => current().select(request, call),
    view: (request) => current().view(request),
  };
}
