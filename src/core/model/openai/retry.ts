/** Tries again what may pass, within the deadline: no pause is begun that could not be used. */
import { setTimeout as pause } from 'node:timers/promises';
import type { Deadline } from './deadline.js';
import type { OpenAISettings } from './options.js';
import { isPassing, ServerFailure } from './server-failure.js';

const MAX_DELAY_MS = 8_000;
const JITTER = 0.25;

/** @throws what `attempt` throws last; failures that cannot pass at once. */
export async function retrying<T>(
  settings: Pick<OpenAISettings, 'maxRetries' | 'retryDelayMs'>,
  deadline: Deadline,
  attempt: () => Promise<T>,
): Promise<T> {
  for (let retries = 0; ; retries += 1) {
    try {
      return await attempt();
    } catch (error) {
      if (!(error instanceof ServerFailure) || !isPassing(error.facts) || retries >= settings.maxRetries) throw error;
      const asked = error.facts.kind === 'status' ? error.facts.retryAfterMs : undefined;
      const delayMs = asked ?? retryDelayMs(retries, settings.retryDelayMs);
      if (delayMs >= deadline.remainingMs()) throw error;
      await pause(delayMs, undefined, { signal: deadline.signal });
    }
  }
}

/**
 * Twice as long each time, up to 8 s, a quarter shorter at most by chance: those who failed together do not come back together.
 *
 * @param random from 0 to 1
 */
export function retryDelayMs(retries: number, firstDelayMs: number, random = Math.random()): number {
  return Math.min(firstDelayMs * 2 ** retries, MAX_DELAY_MS) * (1 - JITTER * random);
}

/** `Retry-After-Ms`, else `Retry-After` as seconds or as a date; undefined where the server says nothing usable. */
export function readRetryAfterMs(headers: Pick<Headers, 'get'>): number | undefined {
  const milliseconds = Number(headers.get('retry-after-ms') ?? Number.NaN);
  if (milliseconds >= 0) return milliseconds;
  const text = headers.get('retry-after');
  if (text === null) return undefined;
  const seconds = Number(text);
  if (seconds >= 0) return seconds * 1_000;
  const date = Date.parse(text);
  return Number.isNaN(date) ? undefined : Math.max(0, date - Date.now());
}
