/** The audit trail, telemetry and calls in memory, the newest of each up to a bound. */
import type { AuditRecord, CallRecord, Journal, TelemetryRecord } from '../store.js';

const MAX_CALLS_A_TOOL = 200;

export interface MemoryJournal extends Journal {
  removeCalls(session: string): void;
  /** Remove what is older; return how many. */
  readonly prunes: Readonly<Record<'audit' | 'telemetry', (before: string) => number>>;
}

/** @param limit how many entries of the audit, and of telemetry, are held at most; older ones go. */
export function createMemoryJournal(limit: number): MemoryJournal {
  const audit: (AuditRecord & { id: string })[] = [];
  const telemetry: (TelemetryRecord & { place: number })[] = [];
  const callsBySession = new Map<string, Map<string, CallRecord[]>>();
  const places = { audit: 0, telemetry: 0 };

  return {
    async append(entries) {
      for (const entry of entries.audit ?? []) audit.push({ id: String(++places.audit), ...entry });
      for (const event of entries.telemetry ?? []) telemetry.push({ place: ++places.telemetry, ...event });
      for (const call of entries.calls ?? []) {
        const ofSession = callsBySession.get(call.session) ?? new Map<string, CallRecord[]>();
        callsBySession.set(call.session, ofSession);
        ofSession.set(call.tool, [call, ...(ofSession.get(call.tool) ?? [])].slice(0, MAX_CALLS_A_TOOL));
      }
      trim(audit, limit);
      trim(telemetry, limit);
    },
    async audit({ since = '', limit: most, ...equal }) {
      return audit
        .filter((entry) => entry.at >= since && isEqual(entry, equal))
        .reverse()
        .slice(0, most);
    },
    async telemetry({ since = '', until, after = 0, limit: most, ...equal }) {
      return telemetry
        .filter(
          (event) =>
            event.place > after &&
            event.at >= since &&
            (until === undefined || event.at < until) &&
            isEqual(event, equal),
        )
        .slice(0, most);
    },
    async calls(session, tools) {
      const ofSession = callsBySession.get(session);
      return tools.flatMap((tool) => ofSession?.get(tool) ?? []);
    },
    prunes: { audit: (before) => dropOld(audit, before), telemetry: (before) => dropOld(telemetry, before) },
    removeCalls(session) {
      callsBySession.delete(session);
    },
  };
}

/** Rarely, and then much at once: taking from the front of a long list is slow. */
function trim(list: unknown[], limit: number): void {
  if (list.length >= 2 * limit) list.splice(0, list.length - limit);
}

/** From the front, in the order of time. */
function dropOld(list: { at: string }[], before: string): number {
  const kept = list.findIndex(({ at }) => at >= before);
  return list.splice(0, kept === -1 ? list.length : kept).length;
}

function isEqual(entry: object, wanted: object): boolean {
  return Object.entries(wanted).every(([name, value]) => value === undefined || Reflect.get(entry, name) === value);
}
