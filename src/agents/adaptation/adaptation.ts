/**
 * Learning from use, off unless it is switched on. A person's own habits act for that person alone; what would change the
 * answers of others waits for approval, so nobody can move another's ranking by use. All of it can be listed and reverted.
 */
import { z } from 'zod';
import { WinnowError } from '../../core/errors.js';
import { parseOptions } from '../../core/parse.js';
import type { Learnt } from '../../core/search/rank.js';
import { isSameIdentity } from '../approvals/deciding.js';
import type { WriteAudit } from '../ledger.js';
import type { BareEntry, TelemetryEvent } from '../records.js';
import type { Weights } from '../store/store.js';
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
  halfLifeDays: z.number().min(0.1).max(3_650).default(30).describe('After so many days a use counts half.'),
  windowDays: z.number().min(1).max(3_650).default(120).describe('Older use is not looked at.'),
  minUses: z.int().min(2).default(3).describe('Uses of one person before something is learnt for them.'),
  minUsers: z.int().min(2).default(3).describe('Users before something is proposed for a project or for all.'),
  minShare: z.number().min(0.5).max(1).default(0.6).describe('Of the uses after a word, for the tool it stands for.'),
  alwaysOnSessions: z.int().min(2).default(10).describe('Sessions of a person before a tool is proposed as always on.'),
  alwaysOnShare: z.number().min(0.1).max(1).default(0.6).describe('Of these sessions, that used the tool.'),
  learnEveryMinutes: z.number().min(0.1).max(10_080).default(60).describe('How often a server looks at use anew.'),
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
  /** Events from an instant on, oldest first, for example `readEvents` of the telemetry. */
  events: (since: string) => AsyncIterable<TelemetryEvent>;
  options?: AdaptationOptions | undefined;
  /** Told of each decision, before it has an effect. Default: nothing is told. */
  audit?: WriteAudit | undefined;
  /** Told when other tools are always on for somebody. Default: nothing is told. */
  onAlwaysOn?: (() => void) | undefined;
  /** Default: the system clock. */
  clock?: (() => Date) | undefined;
}

/** Each throws `store_failed`. What `learntFor` and `alwaysOn` give is of the last `refresh`, `learn` or decision. */
export interface Adaptation {
  /** For ranking. Undefined: switched off, or nothing holds for the caller. */
  learntFor(who: { user?: string | undefined; project?: string | undefined }): Learnt | undefined;
  /** Tools that were approved as always on for a person. */
  alwaysOn(user: string): readonly string[];
  /** Looks at the use of the window anew; to be called now and then. Switched off, it learns nothing. */
  learn(): Promise<{ entries: number }>;
  /** Reads what other processes have learnt or decided. */
  refresh(): Promise<void>;
  list(query?: LearntQuery): Promise<LearntEntry[]>;
  /** By the id that `idOfEntry` gives it. @throws WinnowError `not_found` */
  find(id: string): Promise<LearntEntry>;
  /**
   * @param by never the person from whose use it comes
   * @throws WinnowError `not_found`; `invalid_request` when it does not wait for approval, or by that person
   */
  approve(name: EntryName, by: string): Promise<LearntEntry>;
  /** Takes its effect away, and it is not learnt again. @throws WinnowError `not_found` */
  revert(name: EntryName, by: string): Promise<LearntEntry>;
  /** Forgets it, with what was decided on it: it may be learnt again. @throws WinnowError `not_found` */
  remove(name: EntryName, by: string): Promise<void>;
}

const DAY_MS = 86_400_000;

/** @throws WinnowError `invalid_option` */
export function createAdaptation(parts: AdaptationParts): Adaptation {
  const { store, events, audit, onAlwaysOn, clock = () => new Date() } = parts;
  const options = parseOptions(adaptationOptionsSchema, parts.options ?? {}, 'adaptation');
  let bySubject = new Map<string, LearntEntry[]>();

  return {
    learntFor({ user, project }) {
      if (!options.enabled) return undefined;
      const entries = subjectsOf(user, project).flatMap((subject) => bySubject.get(subject) ?? []);
      return entries.length === 0 ? undefined : createLearntRanking(entries, decaying());
    },

    alwaysOn: (user) =>
      options.enabled
        ? (bySubject.get(`person\n${user}`) ?? []).filter(({ kind }) => kind === 'always_on').map(({ key }) => key)
        : [],

    async learn() {
      if (!options.enabled) return { entries: 0 };
      const fresh = await learnFromUse();
      const known = new Map((await store.list()).map((entry) => [nameOfEntry(entry), entry]));
      const names = new Set(fresh.map(nameOfEntry));
      // What was decided by a person stays as it was decided; the rest is what use says today.
      const changed = fresh.filter((entry) => !isDecided(known.get(nameOfEntry(entry))));
      const gone = [...known.values()].filter((entry) => !names.has(nameOfEntry(entry)) && !isDecided(entry));
      await store.put(changed);
      for (const { level, subject, kind, key } of gone) await store.remove({ level, subject, kind, key });
      await refresh();
      return { entries: changed.length };
    },

    refresh,
    list: (query) => store.list(query),

    async find(id) {
      const entry = (await store.list()).find((one) => idOfEntry(one) === id);
      if (entry) return entry;
      throw unknownEntry(`under the id "${id.slice(0, 80)}"`);
    },

    async approve(name, by) {
      const entry = await entryOf(name);
      if (entry.state !== 'proposed')
        throw new WinnowError('invalid_request', `This entry is ${entry.state}: only a proposed one can be approved.`);
      // Whoever is led astray by what a tool returned must not be able to make that tool always on.
      if (entry.level === 'person' && isSameIdentity(entry.subject, by)) {
        const issues = [`by: it comes from the use of "${by}", so somebody else has to approve it`];
        throw new WinnowError('invalid_request', `The request is not usable: ${issues[0]}.`, { issues });
      }
      return decide(entry, 'active', by);
    },

    revert: async (name, by) => decide(await entryOf(name), 'reverted', by),

    async remove(name, by) {
      const entry = await entryOf(name);
      await tell('learnt_removed', entry, by);
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
    await tell(state === 'active' ? 'learnt_approved' : 'learnt_reverted', decided, by);
    await store.put([decided]);
    await refresh();
    return decided;
  }

  async function tell(event: BareEntry['event'], entry: LearntEntry, by: string): Promise<void> {
    await audit?.({ event, outcome: 'allowed', user: by, tool: entry.details.tool, reason: explainEntry(entry) });
  }
}

function unknownEntry(what: string): WinnowError {
  return new WinnowError('not_found', `Nothing was learnt ${what}.`);
}

/** Of whom what is always on. */
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
