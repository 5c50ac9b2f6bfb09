/** Tools that a person uses in most sessions are proposed as always on. Nothing is switched on by itself. */
import type { TelemetryEvent } from '../records.js';
import type { LearntEntry } from './entry.js';

export interface ProposeOptions {
  now: Date;
  /** Sessions of the person in the stretch of time, before anything is proposed. */
  minSessions: number;
  /** Of these sessions, how many must have used the tool with success; between 0 and 1. */
  minShare: number;
}

export function createAlwaysOnProposals(options: ProposeOptions) {
  const sessions = new Map<string, Set<string>>();
  const uses = new Map<string, Map<string, Set<string>>>();
  return {
    observe(event: TelemetryEvent): void {
      const { user, session } = event;
      if (user === undefined) return;
      sessions.set(user, (sessions.get(user) ?? new Set()).add(session));
      if (event.type !== 'call' || !event.ok) return;
      const theirs = uses.get(user) ?? new Map<string, Set<string>>();
      uses.set(user, theirs);
      theirs.set(event.tool, (theirs.get(event.tool) ?? new Set()).add(session));
    },
    proposals(): LearntEntry[] {
      return [...uses].flatMap(([user, theirs]) => {
        const all = sessions.get(user)?.size ?? 0;
        if (all < options.minSessions) return [];
        return [...theirs].flatMap(([tool, used]) => {
          const share = used.size / all;
          return share < options.minShare ? [] : [toProposal(user, tool, { used: used.size, share, now: options.now })];
        });
      });
    },
  };
}

function toProposal(
  user: string,
  tool: string,
  { used, share, now }: { used: number; share: number; now: Date },
): LearntEntry {
  return {
    level: 'person',
    subject: user,
    kind: 'always_on',
    key: tool,
    value: Math.round(share * 10_000) / 10_000,
    evidence: used,
    state: 'proposed',
    details: { tool, users: 1, share: Math.round(share * 10_000) / 10_000, queries: [] },
    updatedAt: now.toISOString(),
  };
}
