/**
 * Learning from use, off by default. A person's habits affect that person alone. What would change results for others
 * waits for approval, so no user can move another's ranking. Everything learnt can be listed and reverted.
 */
import { z } from 'zod';
import { WinnowError } from '../../core/errors.js';
import { parseOptions } from '../../core/parse.js';
import type { Learnt } from '../../core/search/rank.js';
import { isSameIdentity } from '../approvals/deciding.js';
import type { WriteAudit } from '../ledger.js';
import type { BareEntry, TelemetryEvent } from '../records.js';
import type { Weights } from '../store/sql/keyed-records.js';
import {
  type EntryName,
  explainEntry,
  idOfEntry,
  LEARNT_KINDS,
  LEARNT_STATES,
  LEVELS,
  type LearntEntry,
  nameOfEntry,
} from './entry.js';
import { createLearntRanking, learn } from './learn.js';
import { createAlwaysOnProposals, createObserver, type Observation } from './observations.js';

export const adaptationOptionsSchema = z.strictObject({
  enabled: z.boolean().default(false),
  halfLifeDays: z.number().min(0.1).max(3_650).default(30).describe('Days after which a use counts half.'),
  windowDays: z.number().min(1).max(3_650).default(120).describe('Days of use that count; older use is ignored.'),
  minUses: z.int().min(2).default(3).describe('Uses of one person before something is learnt for them.'),
  minUsers: z.int().min(2).default(3).describe('Users before something is proposed for a project or for all.'),
  minShare: z.number().min(0.5).max(1).default(0.6).describe('Least share of uses after a word for its tool.'),
  alwaysOnSessions: z.int().min(2).default(10).describe('Sessions of a person before a tool is proposed as always on.'),
  alwaysOnShare: z.number().min(0.1).max(1).default(0.6).describe('Share of these sessions with the tool.'),
  learnEveryMinutes: z.number().min(0.1).max(10_080).default(60).describe('How often a server learns from recent use.'),
});
export type AdaptationOptions = z.input<typeof adaptationOptionsSchema>;

export const learntQuerySchema = z.strictObject({
  level: z.enum(LEVELS).optional(),
  subject: z.string().optional(),
  kind: z.enum(LEARNT_KINDS).optional(),
  key: z.string().optional(),
  state: z.enum(LEARNT_STATES).optional(),
});
export type LearntQuery = z.infer<typeof learntQuerySchema>;

interface AdaptationParts {
  store: Weights;
  /** Events since an instant, oldest first, for example from `readEvents` of the telemetry. */
  events: (since: string) => AsyncIterable<TelemetryEvent>;
  options?: AdaptationOptions | undefined;
  /** Records each decision before it takes effect. Default: no audit. */
  audit?: WriteAudit | undefined;
  /** Called when the always-on tools of a user have changed. Default: not called. */
  onAlwaysOn?: (() => void) | undefined;
  /** Default: the system clock. */
  clock?: (() => Date) | undefined;
}

const DAY_MS = 86_400_000;

export type Adaptation = ReturnType<typeof createAdaptation>;

/**
 * Each method throws `store_failed`. `learntFor` and `alwaysOn` reflect the last `refresh`, `learn` or decision.
 * @throws WinnowError `invalid_option`
 */
export function createAdaptation(parts: AdaptationParts) {
  const { store, events, audit, onAlwaysOn, clock = () => new Date() } = parts;
  const options = parseOptions(adaptationOptionsSchema, parts.options ?? {}, 'adaptation');
  let bySubject = new Map<string, LearntEntry[]>();

  return {
    /** Adjustments for ranking. Undefined: switched off, or nothing was learnt for the caller. */
    learntFor({ user, project }: { user?: string | undefined; project?: string | undefined }): Learnt | undefined {
      if (!options.enabled) return undefined;
      const entries = subjectsOf(user, project).flatMap((subject) => bySubject.get(subject) ?? []);
      return entries.length === 0 ? undefined : createLearntRanking(entries, decaying());
    },

    /** Tools that were approved as always on for a person. */
    alwaysOn: (user: string): readonly string[] =>
      options.enabled
        ? (bySubject.get(`person\n${user}`) ?? []).filter(({ kind }) => kind === 'always_on').map(({ key }) => key)
        : [],

    /** Learns from the use in the window; call it periodically. Switched off, it learns nothing. */
    async learn(): Promise<{ entries: number }> {
      if (!options.enabled) return { entries: 0 };
      const fresh = await learnFromUse();
      const known = new Map((await store.list()).map((entry) => [nameOfEntry(entry), entry]));
      const names = new Set(fresh.map(nameOfEntry));
      // Entries that a person has decided on stay unchanged; the rest follows current use.
      const changed = fresh.filter((entry) => !isDecided(known.get(nameOfEntry(entry))));
      const gone = [...known.values()].filter((entry) => !names.has(nameOfEntry(entry)) && !isDecided(entry));
      await store.put(changed);
      for (const { level, subject, kind, key } of gone) await store.remove({ level, subject, kind, key });
      await refresh();
      return { entries: changed.length };
    },

    /** Reads what other processes have learnt or decided. */
    refresh,
    list: (query?: LearntQuery) => store.list(query),

    /** Finds an entry by its `idOfEntry`. @throws WinnowError `not_found` */
    async find(id: string): Promise<LearntEntry> {
      const entry = (await store.list()).find((one) => idOfEntry(one) === id);
      if (entry) return entry;
      throw unknownEntry(`under the id "${id.slice(0, 80)}"`);
    },

    /**
     * @param by never the person from whose use it comes
     * @throws WinnowError `not_found`; `invalid_request` when it does not wait for approval, or `by` is that person
     */
    async approve(name: EntryName, by: string): Promise<LearntEntry> {
      const entry = await entryOf(name);
      if (entry.state !== 'proposed')
        throw new WinnowError('invalid_request', `This entry is ${entry.state}: only a proposed one can be approved.`);
      // A user whom a tool's output has misled must not be able to make that tool always on.
      if (entry.level === 'person' && isSameIdentity(entry.subject, by)) {
        const issues = [`by: it comes from the use of "${by}", so somebody else has to approve it`];
        throw new WinnowError('invalid_request', `The request is not usable: ${issues[0]}.`, { issues });
      }
      return decide(entry, 'active', by);
    },

    /** Removes its effect, and prevents that it is learnt again. @throws WinnowError `not_found` */
    revert: async (name: EntryName, by: string) => decide(await entryOf(name), 'reverted', by),

    /** Deletes it with its decision: it may be learnt again. @throws WinnowError `not_found` */
    async remove(name: EntryName, by: string): Promise<void> {
      const entry = await entryOf(name);
      await record('learnt_removed', entry, by);
      const { level, subject, kind, key } = entry;
      await store.remove({ level, subject, kind, key });
      await refresh();
    },
  };

  function decaying() {
    return { now: clock(), halfLifeDays: options.halfLifeDays };
  }

  async function learnFromUse(): Promise<LearntEntry[]> {
    const observations: Observation[] = [];
    const observer = createObserver((observation) => observations.push(observation));
    const now = clock();
    const { alwaysOnSessions: minSessions, alwaysOnShare: minShare } = options;
    const proposals = createAlwaysOnProposals({ now, minSessions, minShare });
    for await (const event of events(new Date(now.getTime() - options.windowDays * DAY_MS).toISOString())) {
      observer.observe(event);
      proposals.observe(event);
    }
    return [...learn(observations, { ...options, now }), ...proposals.proposals()];
  }

  async function refresh(): Promise<void> {
    if (!options.enabled) return;
    const next = new Map<string, LearntEntry[]>();
    for (const entry of await store.list({ state: 'active' })) {
      const place = `${entry.level}\n${entry.subject}`;
      next.set(place, [...(next.get(place) ?? []), entry]);
    }
    const isOther = alwaysOnOf(next) !== alwaysOnOf(bySubject);
    bySubject = next;
    if (isOther) onAlwaysOn?.();
  }

  async function entryOf({ level, subject, kind, key }: EntryName): Promise<LearntEntry> {
    const [entry] = await store.list({ level, subject, kind, key });
    if (entry) return entry;
    throw unknownEntry(`of the kind "${kind}" for ${level} "${subject}" with the key "${key}"`);
  }

  async function decide(entry: LearntEntry, state: LearntEntry['state'], by: string): Promise<LearntEntry> {
    const decided = { ...entry, state, details: { ...entry.details, decidedBy: by }, updatedAt: clock().toISOString() };
    await record(state === 'active' ? 'learnt_approved' : 'learnt_reverted', decided, by);
    await store.put([decided]);
    await refresh();
    return decided;
  }

  async function record(event: BareEntry['event'], entry: LearntEntry, by: string): Promise<void> {
    await audit?.({ event, outcome: 'allowed', user: by, tool: entry.details.tool, reason: explainEntry(entry) });
  }
}

function unknownEntry(what: string): WinnowError {
  return new WinnowError('not_found', `Nothing was learnt ${what}.`);
}

/** A text that changes when anybody's always-on tools do. */
function alwaysOnOf(bySubject: ReadonlyMap<string, readonly LearntEntry[]>): string {
  const entries = [...bySubject.values()].flat().filter(({ kind }) => kind === 'always_on');
  return entries.map(idOfEntry).sort().join('\n');
}

function isDecided(entry: LearntEntry | undefined): boolean {
  return entry?.details.decidedBy !== undefined;
}

function subjectsOf(user: string | undefined, project: string | undefined): string[] {
  return [
    ...(user === undefined ? [] : [`person\n${user}`]),
    ...(project === undefined ? [] : [`project\n${project}`]),
    'all\n',
  ];
}
