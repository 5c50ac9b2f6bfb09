/** Events of sessions, written down shortly: `search('a', ['x', 'y'])`, `enable('a', 'x')`, `call('a', 'x')`. */
import type { TelemetryEvent } from '../../../src/agents/records.js';
import type { EventStore } from '../../../src/agents/telemetry/rates.js';

export interface About {
  at?: string;
  user?: string;
  project?: string;
  turn?: number;
}

const common = (session: string, { at = '2026-03-01T10:00:00.000Z', turn = 1, ...who }: About) => ({
  at,
  session,
  turn,
  ...who,
});

export function search(
  session: string,
  names: readonly string[],
  about: About & { query?: string } = {},
): TelemetryEvent {
  const { query = 'what is wanted', ...rest } = about;
  return { type: 'search', ...common(session, rest), query, names: [...names], rankedBy: 'rules', milliseconds: 2 };
}

export function enable(
  session: string,
  tool: string,
  about: About & { via?: 'asked' | 'related' } = {},
): TelemetryEvent {
  const { via = 'asked', ...rest } = about;
  return { type: 'enable', ...common(session, rest), tool, via };
}

export function call(
  session: string,
  tool: string,
  about: About & { ok?: boolean; code?: string } = {},
): TelemetryEvent {
  const { ok = true, code, ...rest } = about;
  return {
    type: 'call',
    ...common(session, rest),
    tool,
    ok,
    ...(code === undefined ? {} : { code }),
    milliseconds: 20,
  };
}

export function expire(session: string, tool: string, calls: number, about: About = {}): TelemetryEvent {
  return { type: 'expire', ...common(session, about), tool, calls };
}

export function disable(session: string, tool: string, about: About = {}): TelemetryEvent {
  return { type: 'disable', ...common(session, about), tool };
}

/** A store that holds the events, in pages as the real one gives them. */
export function storeOf(events: readonly unknown[]): EventStore & { pages: number } {
  return {
    pages: 0,
    async telemetry({ after = 0, limit, user, project, since, until }) {
      this.pages += 1;
      return events
        .map((content, index) => ({ place: index + 1, content }))
        .filter(({ place, content }) => {
          const event = Object(content);
          return (
            place > after &&
            (user === undefined || event.user === user) &&
            (project === undefined || event.project === project) &&
            (since === undefined || event.at >= since) &&
            (until === undefined || event.at < until)
          );
        })
        .slice(0, limit);
    },
  };
}
