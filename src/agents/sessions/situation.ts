/** The basis of decisions in a session, read once per request: session, policy and the caller's current scope. */
import type { Catalog } from '../../core/catalog/catalog.js';
import { createScope, type View } from '../../core/catalog/scope.js';
import type { Risk, Tool } from '../../core/catalog/tool.js';
import { WinnowError } from '../../core/errors.js';
import { oncePer } from '../../core/kept.js';
import type { Caller, EnabledTool } from '../contracts.js';
import type { SessionContext } from '../parts.js';
import { type Decision, decide, type Facts } from '../policy/decide.js';
import type { Policy } from '../policy/policy.js';
import type { Sessions } from '../store/sql/sessions.js';
import type { EnablementRecord, SessionRecord } from '../store/store.js';

export interface Situation {
  readonly session: SessionRecord;
  /** Roles of the current caller; those of the session where the embedding program asks. */
  readonly roles: readonly string[];
  readonly policy: Policy;
  readonly now: Date;
  readonly view: View;
  readonly riskCeiling: Risk | undefined;
  /** Enablements of this turn, by tool name. */
  readonly enablements: ReadonlyMap<string, EnablementRecord>;
  /** Finds a tool in the caller's scope, even an unavailable one. */
  find(name: string): Tool | undefined;
  /** @param more facts about a call */
  decide(tool: Tool | undefined, purpose: Facts['purpose'], more?: Partial<Facts>): Decision;
  isAllowed(tool: Tool): boolean;
  /** Why it is enabled in every turn: by its author, by the operator, or approved for this user. */
  stays(tool: Tool): Stays | undefined;
  isEnabled(tool: Tool): boolean;
}

export type Stays = ReturnType<Policy['of']>['stays'] | 'learnt';

interface SituationParts {
  sessions: Sessions;
  catalog: () => Catalog;
  policy: () => Policy;
  /** Tools that were approved as always on for a user. Default: none. */
  alwaysOn?: ((user: string) => readonly string[]) | undefined;
  /** Why calls of a tool fail for everybody now. Default: calls are always tried. */
  whyDown?: ((tool: Tool) => string | undefined) | undefined;
  clock: () => Date;
  sessionIdleMs: number;
}

/** Minimum milliseconds between writes of a session's activity, since each costs a disk access. */
const TOUCH_INTERVAL_MS = 60_000;

export interface ReadOptions {
  /** The request only looks, which does not count as activity. Default: false. */
  isLook?: boolean | undefined;
}

/** Reads the situation of a stored session by id, or of one that is not stored. Throws WinnowError `not_found`. */
export type ReadSituation = (
  asked: string | SessionRecord,
  caller?: Caller,
  options?: ReadOptions,
) => Promise<Situation>;

export function createSituations(parts: SituationParts): ReadSituation {
  const scopeOf = oncePer((catalog: Catalog) => createScope(catalog));

  return async (asked, caller, { isLook = false } = {}) => {
    const now = parts.clock();
    const isStored = typeof asked === 'string';
    const session = isStored ? await openSession(asked, caller, now) : asked;
    if (isStored && !isLook) await touch(session, now);
    const policy = parts.policy();
    const catalog = parts.catalog();
    const view = scopeOf(catalog)({ user: session.user });
    const enabled = isStored ? await parts.sessions.enablements(asked) : [];
    const enablements = new Map(enabled.map((one) => [one.tool, one]));
    const { riskCeiling } = session;
    const roles = caller ? (caller.roles ?? []) : session.roles;
    const facts = {
      now,
      caller: { user: session.user, roles },
      session: {
        turn: session.turn,
        isEnded: session.endedAt !== undefined,
        riskCeiling,
      },
    };
    const learnt = new Set(session.user === undefined ? [] : parts.alwaysOn?.(session.user));
    const stays: Situation['stays'] = (tool) =>
      policy.of(tool).stays ?? (learnt.has(tool.name) ? ('learnt' as const) : undefined);
    const decideOn: Situation['decide'] = (tool, purpose, more = {}) =>
      decide(policy, { ...facts, whyDown: parts.whyDown, ...more, tool, purpose });
    return {
      session,
      roles,
      policy,
      now,
      view,
      riskCeiling,
      enablements,
      find: (name) => view.byName.get(name) ?? findOutOfService(catalog, name, session.user),
      decide: decideOn,
      isAllowed: (tool) => decideOn(tool, 'find').decision !== 'deny',
      stays,
      isEnabled: (tool) => stays(tool) !== undefined || isLive(enablements.get(tool.name)),
    };
  };

  async function openSession(id: string, caller: Caller | undefined, now: Date): Promise<SessionRecord> {
    const session = await parts.sessions.get(id);
    const isOver = session && Date.parse(session.activeAt) + parts.sessionIdleMs < now.getTime();
    // Another user's session must look missing.
    if (!session || isOver || (caller && caller.user !== session.user))
      throw new WinnowError('not_found', `There is no session "${id.slice(0, 80)}". Open one first.`);
    return session;
  }

  async function touch({ id, activeAt }: SessionRecord, now: Date): Promise<void> {
    const interval = Math.min(TOUCH_INTERVAL_MS, parts.sessionIdleMs / 2);
    if (Date.parse(activeAt) + interval < now.getTime()) await parts.sessions.touch(id, now.toISOString());
  }
}

/** The session as search and lists see it. */
export function sessionContext(situation: Situation, signal: AbortSignal | undefined): SessionContext {
  const { session, roles, view, isAllowed, isEnabled, policy, riskCeiling } = situation;
  const { id, user, project } = session;
  // All inputs of the decision to show a tool, see `decide`.
  const facts = [policy.version, user, roles, riskCeiling, session.endedAt !== undefined];
  return { session: id, user, project, view, isAllowed, isEnabled, audience: JSON.stringify(facts), signal };
}

function findOutOfService(catalog: Catalog, name: string, user: string | undefined): Tool | undefined {
  const named = catalog.tools.filter((tool) => tool.name === name);
  const own = named.find(({ scope }) => scope !== 'system' && scope.user === user);
  return own ?? named.find(({ scope }) => scope === 'system');
}

/** A single-use enablement ends with its call. */
export function isLive(one: EnablementRecord | undefined): one is EnablementRecord {
  return one !== undefined && (!one.once || one.calls === 0);
}

/** All tools that the session may call now, always-on ones first, each group in the catalogue's order. */
export function enabledTools({
  view,
  stays,
  enablements,
  session,
  isAllowed,
}: Situation): (EnabledTool & { tool: Tool })[] {
  // The policy decides on few tools, not on all of the catalogue.
  const allowed = view.tools.filter((tool) => (stays(tool) || enablements.has(tool.name)) && isAllowed(tool));
  const staying = allowed.flatMap((tool) => {
    const via = stays(tool);
    return via ? [{ tool, name: tool.name, via }] : [];
  });
  const turning = allowed.flatMap((tool) => {
    const one = enablements.get(tool.name);
    if (!isLive(one) || stays(tool)) return [];
    const remainingTurns = one.untilTurn - session.turn + 1;
    return [
      { tool, name: tool.name, via: viaOf(one.via), remainingTurns, ...(one.once ? { once: true as const } : {}) },
    ];
  });
  return [...staying, ...turning];
}

function viaOf(text: string): 'asked' | 'related' | 'producer' {
  return text === 'related' || text === 'producer' ? text : 'asked';
}
