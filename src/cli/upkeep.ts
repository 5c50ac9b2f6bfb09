/** Upkeep of a server: its reports at the start, periodic chores, and the watch on its policy. */

import { unwatchFile, watchFile } from 'node:fs';
import { isDeepStrictEqual } from 'node:util';
import type { Agents } from '../agents/agents.js';
import { scanReviewed } from '../agents/definitions.js';
import type { IndexStatus } from '../agents/index/tool-index.js';
import type { Logger } from '../agents/logging/logger.js';
import { checkPolicy } from '../agents/policy/check-policy.js';
import type { Policy } from '../agents/policy/policy.js';
import type { Router } from '../agents/router.js';
import type { Catalog } from '../core/catalog/catalog.js';
import { renderFlag } from '../core/catalog/scan.js';
import type { Tool } from '../core/catalog/tool.js';
import type { ConfigFile } from './config-file.js';

export interface StartFacts {
  agents: Agents;
  config: ConfigFile;
  /** Weights of the index by configuration and defaults. */
  weights: IndexStatus['weights'];
}

export function reportAtStart(
  { agents, config, weights }: StartFacts,
  logger: Pick<Logger, 'debug' | 'info' | 'warn'>,
): void {
  const { policy } = config;
  if (policy !== undefined)
    for (const { level, message } of checkPolicy(agents.policy(), agents.catalog().tools))
      logger[level === 'unchecked' ? 'debug' : 'warn']({ policy }, message);
  for (const problem of agents.checkLimits()) logger.warn(problem);
  if (!agents.policy().settings.strict)
    logger.warn({ policy }, 'the policy is not strict: what it refuses runs all the same, without approvals');
  const given = agents.index.status().weights;
  if (isDeepStrictEqual(given, weights)) return;
  // Explains why a change of the configuration has no effect.
  const isOverruled = config.index?.weights !== undefined;
  const back = 'POST /v1/index/rebuild with {"weights": null} goes back to those of the configuration';
  logger[isOverruled ? 'warn' : 'info']({ weights: given }, `the weights of the index are those in the store: ${back}`);
}

/** Flags block nothing; they name texts to read before using tools of untrusted sources. */
export async function reportFlagged(catalog: Catalog, logger: Pick<Logger, 'warn'>): Promise<void> {
  const flagged = [...(await scanReviewed(catalog))];
  if (flagged.length === 0) return;
  const shown = flagged.slice(0, MAX_SHOWN).map(([tool, [flag]]) => `${tool.name}: ${flag ? renderFlag(flag) : ''}`);
  logger.warn(
    { flagged: shown },
    `${flagged.length} tool${flagged.length === 1 ? '' : 's'} of sources that are not trusted: not all of their text is a description. Read it: winnow tools check`,
  );
}

const MAX_SHOWN = 10;

export interface GrantFacts {
  agents: Pick<Agents, 'policy' | 'catalog'>;
  /** The approvals are in memory, so that no other process sees them. */
  isTrial: boolean;
  /** Of the only session. */
  user: string | undefined;
}

/** Warns over stdio that no one can grant approvals, with a remedy. @returns a callback for the client, on which it may depend */
export function reportApprovers(
  { agents, isTrial, user }: GrantFacts,
  logger: Pick<Logger, 'warn'>,
): (client: { canAskPerson: boolean }) => void {
  const policy = agents.policy();
  if (!policy.settings.strict || !agents.catalog().tools.some((tool) => mayAsk(policy, tool))) return () => {};
  const isAsked = policy.settings.approvals.self === 'ask';
  const warn = (why: string, todo: string) =>
    logger.warn(
      `nobody can grant an approval: ${why}. Calls of high risk, and what rules ask for, are refused. ${todo}`,
    );
  const elsewhere = 'Give --store FILE, and decide in a terminal: `winnow approvals grant ID --by NAME --store FILE`';
  if (user === undefined) warn('the session has no user who could ask for one', 'Give --user NAME.');
  else if (isTrial && !isAsked) {
    const here = 'set approvals: {self: ask} in the policy, so that your MCP client asks you';
    warn('approvals are in the memory of this process', `${elsewhere}; or ${here}.`);
  } else if (isTrial) {
    return ({ canAskPerson }) => {
      if (!canAskPerson) warn('this MCP client can not ask its person (elicitation)', `${elsewhere}.`);
    };
  }
  return () => {};
}

function mayAsk(policy: Policy, tool: Tool): boolean {
  const { rules, reachableRisks } = policy.of(tool);
  return reachableRisks.includes('high') || rules.some(({ decision }) => decision === 'needs_approval');
}

export interface Chore {
  /** Name for the log, for example `learning from use`. */
  readonly name: string;
  readonly everyMs: number;
  /** Also runs at once, in the background. Default: first after `everyMs`. */
  readonly atOnce?: boolean;
  work(): Promise<unknown>;
}

/** @returns a function that stops the chores, and resolves when running ones have ended */
export function startUpkeep(chores: readonly Chore[], logger: Pick<Logger, 'warn'>): () => Promise<void> {
  const runs = chores.map(({ everyMs, atOnce = false, ...chore }) => {
    const run = oneAtATime(chore, logger);
    if (atOnce) run.begin();
    return { ...run, timer: setInterval(run.begin, everyMs).unref() };
  });
  return async () => {
    for (const { timer } of runs) clearInterval(timer);
    await Promise.all(runs.map(({ ended }) => ended()));
  };
}

/** Skips a run while the last one still works, for example on a slow store. */
function oneAtATime({ name, work }: Pick<Chore, 'name' | 'work'>, logger: Pick<Logger, 'warn'>) {
  let running: Promise<void> | undefined;
  return {
    begin(): void {
      running ??= work()
        .then(
          () => undefined,
          (error: unknown) => logger.warn({ err: error }, `${name} failed, and is tried again later`),
        )
        .finally(() => {
          running = undefined;
        });
    },
    ended: async (): Promise<void> => running,
  };
}

/** Between two checks of the file. */
const INTERVAL_MS = 250;

/**
 * Reads the policy again when the date of its file changes. Editors replace files, so file-system events are not reliable.
 * @returns a function that stops the watch
 */
export function watchPolicy(
  path: string,
  { router, logger }: { router: Pick<Router, 'reloadPolicy'>; logger: Pick<Logger, 'info' | 'warn' | 'error'> },
): () => void {
  let isBroken = false;
  const reload = async (): Promise<void> => {
    const outcome = await router.reloadPolicy();
    const { version } = outcome;
    const isMended = isBroken && outcome.ok;
    isBroken = !outcome.ok;
    if (!outcome.ok)
      logger.error({ policy: path, version, issues: outcome.issues }, `the policy stays: ${outcome.reason}`);
    else if (outcome.isChanged) logger.info({ policy: path, version }, 'the policy has changed');
    else if (isMended) logger.info({ policy: path, version }, 'the policy can be read again, and is what it was');
  };
  const listener = (): void => {
    reload().catch((error: unknown) => logger.warn({ err: error }, 'the change of the policy is not in the audit'));
  };
  watchFile(path, { interval: INTERVAL_MS, persistent: false }, listener);
  return () => unwatchFile(path, listener);
}
