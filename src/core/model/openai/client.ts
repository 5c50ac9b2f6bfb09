/**
 * One model server, by the `openai` client. Around it stand one deadline for all attempts of a call, and the attempts
 * themselves: those of the client leave out cut and unusable answers, and its pauses do not end on an abort.
 * This file is loaded with the first call, since the client takes a tenth of a second to load.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { brotliDecompressSync, gunzipSync, inflateSync } from 'node:zlib';
import OpenAI from 'openai';
import { request as requestOf } from 'undici';
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

export function createClient(settings: OpenAISettings): Client {
  const client = openClient(settings);
  return async (call, work) => {
    try {
      return await withDeadline(settings.timeoutMs, call.signal, (deadline) =>
        work((question) =>
          retrying(settings, deadline, () => {
            call.usage.calls += 1;
            return exchange(client, question, { ...call, signal: deadline.signal });
          }),
        ),
      );
    } catch (thrown) {
      const isFailure = thrown instanceof ServerFailure;
      throw withUsage(isFailure ? toModelError(thrown, settings, call.prompt) : toWinnowError(thrown), call.usage);
    }
  };
}

/** The longest time a timer takes. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/** Sends what the settings name, and nothing of the environment or the machine that the client would add. */
function openClient(settings: OpenAISettings): OpenAI {
  const headers = new Headers({
    'content-type': 'application/json',
    accept: 'application/json',
    'user-agent': 'winnow',
    ...(settings.apiKey ? { authorization: `Bearer ${settings.apiKey}` } : {}),
  });
  for (const [name, value] of Object.entries(settings.headers)) headers.set(name, value);
  const fetchOf = settings.fetch ?? leanFetch;
  const send: typeof fetch = async (url, request) => {
    // A redirection would carry prompt and keys to a server that nobody named.
    const sent = fetchOf(url, { ...request, headers, redirect: 'manual' });
    const response = await sent.catch((error: unknown) => {
      throw failureOf(error);
    });
    if (response.ok) return response;
    const location = response.headers.get('location')?.split('?')[0];
    const body = location ? `it redirects to ${location}` : await response.text().catch(() => '');
    const retryAfterMs = readRetryAfterMs(response.headers);
    throw new ServerFailure({ kind: 'status', status: response.status, body, retryAfterMs });
  };
  return new OpenAI({
    baseURL: settings.baseUrl,
    apiKey: 'sent-by-the-settings',
    ...{ adminAPIKey: null, organization: null, project: null, webhookSecret: null, logLevel: 'off' },
    // Its own time-out of an attempt comes behind the deadline of the call.
    ...{ maxRetries: 0, timeout: Math.min(settings.timeoutMs + 1_000, MAX_TIMER_MS), fetch: send },
  });
}

/** Nothing asks for these, but some gateways always compress. */
const DECODERS = new Map([
  ['gzip', gunzipSync],
  ['deflate', inflateSync],
  ['br', brotliDecompressSync],
]);

/**
 * undici's `request` in the form of `fetch`. It takes half the processor time of a call by the platform's, and waits as
 * long as the deadline: the platform's gives up after 300 s. Measured by `test/bench/own-cost.mjs`.
 */
async function leanFetch(url: string | URL | Request, init: RequestInit = {}): Promise<Response> {
  const { statusCode, headers, body } = await requestOf(String(url), {
    ...{ method: 'POST', headersTimeout: 0, bodyTimeout: 0 },
    headers: Object.fromEntries(new Headers(init.headers)),
    body: String(init.body),
    signal: init.signal,
  });
  const bytes = Buffer.from(await body.arrayBuffer());
  const decode = DECODERS.get(String(headers['content-encoding']));
  const lines = Object.entries(headers).map(([name, value]): [string, string] => [name, String(value)]);
  return new Response((decode?.(bytes) ?? bytes).toString('utf8') || null, { status: statusCode, headers: lines });
}

const countedSchema = z
  .object({
    prompt_tokens: z.number().nullish(),
    completion_tokens: z.number().nullish(),
    prompt_tokens_details: z.object({ cached_tokens: z.number().nullish() }).nullish(),
  })
  .catch({});

async function exchange<T>(client: OpenAI, { path, body, answer, estimate }: Question<T>, call: Call): Promise<T> {
  const response = client.post<unknown>(path, { body, signal: call.signal }).asResponse();
  const text = await response
    .then((sent) => sent.text())
    .catch((error: unknown) => {
      throw failureOf(error);
    });
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
  addUsage(call.usage, { calls: 0, read: prompt - cached, cached, written });
  return checked.data;
}

interface Deadline {
  /** Fires on cancellation and on time-out. Its own for each call, so the client may leave listeners on it. */
  readonly signal: AbortSignal;
  remainingMs(): number;
}

/** Whatever the work does with its signal, the caller gets `cancelled` or `model_timeout` at once. */
async function withDeadline<T>(
  timeoutMs: number,
  parent: AbortSignal | undefined,
  work: (deadline: Deadline) => Promise<T>,
): Promise<T> {
  throwIfCancelled(parent);
  const expiry = AbortSignal.timeout(Math.min(Math.ceil(timeoutMs), MAX_TIMER_MS));
  const signal = AbortSignal.any(parent ? [parent, expiry] : [expiry]);
  const endsAt = performance.now() + timeoutMs;
  try {
    return await orAborted(work({ signal, remainingMs: () => endsAt - performance.now() }), signal);
  } catch (error) {
    throwIfCancelled(parent);
    if (!expiry.aborted) throw error;
    const advice = 'timeoutMs of the model in the configuration file, callTimeoutMs or timeoutMs from code';
    const message = `The model did not answer within ${timeoutMs} ms. Raise its time-out: ${advice}.`;
    throw new WinnowError('model_timeout', message, { details: { timeoutMs } });
  }
}

const MAX_DELAY_MS = 8_000;

/**
 * Tries again what may pass, after the pause that the server asks for, else after one that doubles. Chance makes it up
 * to a quarter shorter: calls that failed together do not come back together. None begins that ends behind the deadline.
 */
async function retrying<T>(
  { maxRetries, retryDelayMs }: OpenAISettings,
  deadline: Deadline,
  attempt: () => Promise<T>,
): Promise<T> {
  for (let retries = 0; ; retries += 1) {
    try {
      return await attempt();
    } catch (error) {
      if (!(error instanceof ServerFailure) || !isPassing(error.facts) || retries >= maxRetries) throw error;
      const asked = error.facts.kind === 'status' ? error.facts.retryAfterMs : undefined;
      const delayMs = asked ?? Math.min(retryDelayMs * 2 ** retries, MAX_DELAY_MS) * (1 - Math.random() / 4);
      if (delayMs >= deadline.remainingMs()) throw error;
      await pause(delayMs, undefined, { signal: deadline.signal });
    }
  }
}

/** `Retry-After-Ms`, else `Retry-After` as seconds or as a date; undefined where the server says nothing usable. */
function readRetryAfterMs(headers: Headers): number | undefined {
  const [exact, text] = ['retry-after-ms', 'retry-after'].map((name) => headers.get(name) || 'none');
  const date = Date.parse(text ?? '') - Date.now();
  return [Number(exact), Number(text) * 1_000, Math.max(0, date)].find((delayMs) => delayMs >= 0);
}
