/**
 * One model server over HTTP: one deadline for all attempts of a call, and the attempts themselves. Not by the `openai`
 * client: it retries no cut and no unusable answer, pauses on behind an abort, and sends what the environment names.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { brotliDecompressSync, unzipSync } from 'node:zlib';
import { z } from 'zod';
import { throwIfCancelled, toWinnowError, WinnowError } from '../../errors.js';
import { orAborted } from '../../promises.js';
import { addUsage, type Prompt, type Usage, withUsage } from '../model.js';
import { failureOf, fieldOf, isPassing, parseJson, ServerFailure, toModelError } from './failure.js';
import type { OpenAISettings } from './options.js';

/** Runs one call of the model seam. @throws WinnowError as `Model.complete` does, with the usage in its details */
export type Client = <T>(call: Call, work: (post: Post) => Promise<T>) => Promise<T>;

export interface Call {
  prompt: Prompt;
  signal: AbortSignal | undefined;
  /** Counts every attempt, and the tokens of those that were answered. */
  usage: Usage;
}

/** One exchange with its further attempts. @throws ServerFailure */
export type Post = <T>(question: Question<T>) => Promise<T>;

interface Question<T> {
  path: '/chat/completions' | '/completions';
  body: object;
  /** An answer of another form is a failure that may pass. */
  answer: z.ZodType<T>;
  /** Tokens, where the server counts none. */
  estimate(answer: T): { prompt: number; written: number };
}

/** The longest time a timer takes. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/** Whatever the work does with its signal, the caller gets `cancelled` or `model_timeout` at once. */
export function createClient(settings: OpenAISettings): Client {
  return async ({ prompt, signal: parent, usage }, work) => {
    const { timeoutMs } = settings;
    const expiry = AbortSignal.timeout(Math.min(Math.ceil(timeoutMs), MAX_TIMER_MS));
    const signal = AbortSignal.any(parent ? [parent, expiry] : [expiry]);
    const endsAt = performance.now() + timeoutMs;
    const post: Post = (question) =>
      retrying(settings, { signal, endsAt }, async () => {
        usage.calls += 1;
        return readAnswer(await send(settings, question, signal), question, usage);
      });
    try {
      throwIfCancelled(parent);
      return await orAborted(work(post), signal);
    } catch (thrown) {
      const isFailure = thrown instanceof ServerFailure;
      let error = isFailure ? toModelError(thrown, settings, prompt) : toWinnowError(thrown);
      if (expiry.aborted) error = timedOut(timeoutMs);
      if (parent?.aborted) error = new WinnowError('cancelled', 'The request was cancelled.', { cause: parent.reason });
      throw withUsage(error, usage);
    }
  };
}

function timedOut(timeoutMs: number): WinnowError {
  const advice = 'timeoutMs of the model in the configuration file, callTimeoutMs or timeoutMs from code';
  const message = `The model did not answer within ${timeoutMs} ms. Raise its time-out: ${advice}.`;
  return new WinnowError('model_timeout', message, { details: { timeoutMs } });
}

/** The text of the answer. Sends what the settings name, and nothing of the environment. */
async function send(settings: OpenAISettings, { path, body }: Question<unknown>, signal: AbortSignal): Promise<string> {
  const { baseUrl, apiKey, fetch } = settings;
  const headers = new Headers({
    ...{ 'content-type': 'application/json', accept: 'application/json', 'user-agent': 'winnow' },
    ...(apiKey ? { authorization: `Bearer ${apiKey}` } : {}),
  });
  for (const [name, value] of Object.entries(settings.headers)) headers.set(name, value);
  // A redirection would carry prompt and keys to a server that nobody named.
  const fixed = { method: 'POST', redirect: 'manual', signal } as const;
  const init = { ...fixed, headers: Object.fromEntries(headers), body: JSON.stringify(body) };
  const url = `${baseUrl}${path}`;
  try {
    const { status, text, headers: about } = await (fetch ? byFetch(await fetch(url, init)) : byRequest(url, init));
    if (status >= 200 && status < 300) return text;
    const location = about.get('location')?.split('?')[0];
    const said = location ? `it redirects to ${location}` : text;
    throw new ServerFailure({ kind: 'status', status, body: said, retryAfterMs: readRetryAfterMs(about) });
  } catch (error) {
    throw failureOf(error);
  }
}

interface Answered {
  readonly status: number;
  readonly text: string;
  readonly headers: Pick<Headers, 'get'>;
}

async function byFetch(response: Pick<Response, 'status' | 'text' | 'headers'>): Promise<Answered> {
  return { status: response.status, text: await response.text(), headers: response.headers };
}

/** In half the time of `fetch`. The deadline of the call decides, so no silence of the server is too long. */
async function byRequest(url: string, { method, headers, body, signal }: Init): Promise<Answered> {
  // Loaded with the first request: it takes longer to load than the rest of the room.
  const { request } = await import('undici');
  const answer = await request(url, { method, headers, body, signal, headersTimeout: 0, bodyTimeout: 0 });
  const about = new Map(Object.entries(answer.headers).map(([name, value]) => [name, String(value ?? '')]));
  const bytes = Buffer.from(await answer.body.arrayBuffer());
  const text = unpacked(bytes, about.get('content-encoding')).toString();
  return { status: answer.statusCode, text, headers: { get: (name) => about.get(name.toLowerCase()) ?? null } };
}

/** A gateway may compress what nobody asked it to. */
function unpacked(bytes: Buffer, coding: string | undefined): Buffer {
  if (coding === undefined || coding === 'identity') return bytes;
  return coding === 'br' ? brotliDecompressSync(bytes) : unzipSync(bytes);
}

interface Init {
  readonly method: 'POST';
  readonly headers: Record<string, string>;
  readonly body: string;
  readonly signal: AbortSignal;
}

/** `Retry-After-Ms`, else `Retry-After` as seconds or as a date; undefined where the server says nothing usable. */
function readRetryAfterMs(headers: Pick<Headers, 'get'>): number | undefined {
  const [exact, text] = ['retry-after-ms', 'retry-after'].map((name) => headers.get(name) || 'none');
  const date = Date.parse(text ?? '') - Date.now();
  return [Number(exact), Number(text) * 1_000, Math.max(0, date)].find((delayMs) => delayMs >= 0);
}

const MAX_DELAY_MS = 8_000;

/**
 * Tries again what may pass, after the pause that the server asks for, else after one that doubles. Chance makes it up
 * to a quarter shorter: calls that failed together do not come back together. None begins that ends behind the deadline.
 */
async function retrying<T>(
  { maxRetries, retryDelayMs }: OpenAISettings,
  { signal, endsAt }: { signal: AbortSignal; endsAt: number },
  attempt: () => Promise<T>,
): Promise<T> {
  for (let retries = 0; ; retries += 1) {
    try {
      return await attempt();
    } catch (error) {
      if (!(error instanceof ServerFailure) || !isPassing(error.facts) || retries >= maxRetries) throw error;
      const asked = error.facts.kind === 'status' ? error.facts.retryAfterMs : undefined;
      const delayMs = asked ?? Math.min(retryDelayMs * 2 ** retries, MAX_DELAY_MS) * (1 - Math.random() / 4);
      if (performance.now() + delayMs >= endsAt) throw error;
      await pause(delayMs, undefined, { signal });
    }
  }
}

const count = z.number().nullish();
const countedSchema = z
  .object({
    prompt_tokens: count,
    completion_tokens: count,
    prompt_tokens_details: z.object({ cached_tokens: count }).nullish(),
  })
  .catch({});

function readAnswer<T>(text: string, { answer, estimate }: Question<T>, usage: Usage): T {
  const parsed = parseJson(text);
  const checked = answer.safeParse(parsed);
  if (!checked.success) {
    const said = fieldOf(fieldOf(parsed, 'error'), 'message');
    const issue = checked.error.issues[0];
    const why = parsed === undefined ? 'the body is not JSON' : `${issue?.path.join('.') || 'body'}: ${issue?.message}`;
    throw new ServerFailure({ kind: 'answer', message: typeof said === 'string' ? said : why });
  }
  const counted = countedSchema.parse(fieldOf(parsed, 'usage'));
  const prompt = counted.prompt_tokens ?? estimate(checked.data).prompt;
  const cached = Math.min(counted.prompt_tokens_details?.cached_tokens ?? 0, prompt);
  const written = counted.completion_tokens ?? estimate(checked.data).written;
  addUsage(usage, { calls: 0, read: prompt - cached, cached, written });
  return checked.data;
}
