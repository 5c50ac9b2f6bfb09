/** The events of the store, oldest first, page by page: a report over a year holds one page in memory. */
import { type TelemetryEvent, telemetryEventSchema } from '../records.js';

/** Of the store, what is read here; see `Journal` there. */
export interface EventStore {
  telemetry(query: EventPageQuery): Promise<readonly { readonly place: number; readonly content: unknown }[]>;
}

export interface EventQuery {
  user?: string | undefined;
  project?: string | undefined;
  /** UTC, ISO 8601. */
  since?: string | undefined;
  until?: string | undefined;
}

interface EventPageQuery extends EventQuery {
  after?: number | undefined;
  limit: number;
}

const PAGE = 1_000;

/** Events of an older form that can no longer be read are counted by `onUnreadable`, not passed over in silence. */
export async function* readEvents(
  store: EventStore,
  query: EventQuery = {},
  onUnreadable?: (place: number) => void,
): AsyncGenerator<TelemetryEvent, void, void> {
  for (let after: number | undefined; ; ) {
    const page = await store.telemetry({ ...query, after, limit: PAGE });
    for (const { place, content } of page) {
      const parsed = telemetryEventSchema.safeParse(content);
      if (parsed.success) yield parsed.data;
      else onUnreadable?.(place);
    }
    const last = page.at(-1);
    if (!last || page.length < PAGE) return;
    after = last.place;
  }
}
