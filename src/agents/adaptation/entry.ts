/**
 * An entry learnt from use: for whom, what, on which evidence, and whether it has an effect. Entries can only change
 * the order of matches and what is proposed, never risk, policy, approvals or schemas.
 */
import { createHash } from 'node:crypto';
import { z } from 'zod';

export const LEVELS = ['person', 'project', 'all'] as const;
export type Level = (typeof LEVELS)[number];
export const LEARNT_KINDS = ['weight', 'synonym', 'always_on'] as const;
export const LEARNT_STATES = ['proposed', 'active', 'reverted'] as const;

const learntDetailsSchema = z.object({
  tool: z.string(),
  term: z.string().optional().describe('Synonyms: the word of the queries, as its stem.'),
  users: z.int().min(0).describe('How many different users it comes from.'),
  share: z.number().optional().describe('Synonyms: share of uses after the word. Always-on: of sessions.'),
  queries: z.array(z.string()).describe("A few of the queries that it comes from; only in a person's entries."),
  decidedBy: z.string().optional(),
});

export const learntEntrySchema = z.object({
  level: z.enum(LEVELS),
  subject: z.string().describe('The person or project; empty for all.'),
  kind: z.enum(LEARNT_KINDS),
  key: z.string().describe('The tool; for synonyms the word, an arrow, and the tool.'),
  value: z.number().min(0).describe('Its weight at `updatedAt`, decayed from the time of each use.'),
  evidence: z.int().min(0).describe('Number of uses that it comes from.'),
  state: z
    .enum(LEARNT_STATES)
    .describe('proposed: waits for approval; reverted: has no effect and is not learnt again.'),
  details: learntDetailsSchema,
  updatedAt: z.iso.datetime(),
});
export type LearntEntry = z.infer<typeof learntEntrySchema>;

export type EntryName = Pick<LearntEntry, 'level' | 'subject' | 'kind' | 'key'>;

export function nameOfEntry({ level, subject, kind, key }: EntryName): string {
  return JSON.stringify([level, subject, kind, key]);
}

/** A short id for people and paths; stable as long as the entry has the same level, subject, kind and key. */
export function idOfEntry(name: EntryName): string {
  return createHash('sha256').update(nameOfEntry(name)).digest('hex').slice(0, 16);
}

/** Exponential decay. The half-life is in days. */
export interface DecayOptions {
  now: Date;
  halfLifeDays: number;
}

/** Rounds shares and values to four digits. */
export function round(value: number): number {
  return Math.round(value * 10_000) / 10_000;
}

const DAY_MS = 86_400_000;

/** The weight of a use now: halved with each half-life. */
export function decay(at: string, { now, halfLifeDays }: DecayOptions): number {
  const days = Math.max(0, now.getTime() - Date.parse(at)) / DAY_MS;
  return 0.5 ** (days / halfLifeDays);
}

// A learnt entry in words, for the people who decide on it.

/** Says for whom, what, on which evidence, and who decided. */
export function explainEntry({ level, subject, kind, state, evidence, value, details }: LearntEntry): string {
  const whom = level === 'all' ? 'For all' : `For the ${level} "${subject}"`;
  const { tool, term, share = 0, users, queries, decidedBy } = details;
  const percent = `${Math.round(share * 100)} %`;
  const what = {
    weight: `${tool} stands higher among its matches`,
    synonym: `the word "${term ?? ''}" stands for ${tool}, which was used after ${percent} of the searches with it`,
    always_on: `${tool} is always on where that is approved: it was used in ${percent} of the sessions`,
  }[kind];
  const whose = users === 1 ? 'one user' : `${users} users`;
  const from = queries.length > 0 ? ` Queries: ${queries.map((query) => `"${query}"`).join(', ')}.` : '';
  const decided = decidedBy === undefined ? '' : `, decided by ${decidedBy}`;
  return `${whom}, ${what}. Evidence: ${evidence} uses of ${whose}, worth ${value} after decay.${from} It is ${state}${decided}.`;
}
