/**
 * One model server, by the `openai` client. Around it stand one deadline for all attempts of a call, and the attempts
 * themselves: those of the client leave out cut and unusable answers, and its pauses do not end on an abort.
 * This file is loaded with the first call, since the client takes a tenth of a second to load.
 */
import { setTimeout as pause } from 'node:timers/promises';
import OpenAI from 'openai';
import { getGlobalDispatcher, fetch as undiciFetch } from 'undici';
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
  const client = openClient(settings);
  return async ({ prompt, signal: parent, usage }, work) => {
    const { timeoutMs } = settings;
    const expiry = AbortSignal.timeout(Math.min(Math.ceil(timeoutMs), MAX_TIMER_MS));
    // Its own for each call, so the client may leave listeners on it.
    const signal = AbortSignal.any(parent ? [parent, expiry] : [expiry]);
    const endsAt = performance.now() + timeoutMs;
    const post: Post = (question) =>
      retrying(settings, { signal, endsAt }, () => {
        usage.calls += 1;
        return exchange(client, question, { signal, usage });
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

/** Sends what the settings name, and nothing of the environment or the machine that the client would add. */
function openClient(settings: OpenAISettings): OpenAI {
  const headers = new Headers({
    ...{ 'content-type': 'application/json', accept: 'application/json', 'user-agent': 'winnow' },
    ...(settings.apiKey ? { authorization: `Bearer ${settings.apiKey}` } : {}),
  });
  for (const [name, value] of Object.entries(settings.headers)) headers.set(name, value);
  const fetchOf = settings.fetch ?? patientFetch;
  const send: typeof fetch = async (url, request) => {
    try {
      // A redirection would carry prompt and keys to a server that nobody named.
      const response = await fetchOf(url, { ...request, headers, redirect: 'manual' });
      const text = await response.text();
      if (response.ok) return new Response(text);
      const location = response.headers.get('location')?.split('?')[0];
      const body = location ? `it redirects to ${location}` : text;
      const retryAfterMs = readRetryAfterMs(response.headers);
      throw new ServerFailure({ kind: 'status', status: response.status, body, retryAfterMs });
    } catch (error) {
      throw failureOf(error);
    }
  };
  return new OpenAI({
    baseURL: settings.baseUrl,
    apiKey: 'sent-by-the-settings',
    ...{ adminAPIKey: null, organization: null, project: null, webhookSecret: null, logLevel: 'off' },
    // Its own time-out of an attempt comes behind the deadline of the call.
    ...{ maxRetries: 0, timeout: Math.min(settings.timeoutMs + 1_000, MAX_TIMER_MS), fetch: send },
  });
}

/** Goes where undici's global dispatcher leads, without its limit of 300 s: the deadline of the call decides. */
async function patientFetch(url: string | URL | Request, init: RequestInit = {}): Promise<Response> {
  const dispatcher = getGlobalDispatcher().compose((dispatch) => (options, handler) => {
    return dispatch({ ...options, headersTimeout: 0, bodyTimeout: 0 }, handler);
  });
  const { signal = null, redirect = 'manual', body } = init;
  const headers = Object.fromEntries(new Headers(init.headers));
  const sent = { method: 'POST', headers, body: String(body), signal, redirect, dispatcher };
  const response = await undiciFetch(String(url), sent);
  const { status } = response;
  return new Response((await response.text()) || null, { status, headers: [...response.headers] });
}

/** `Retry-After-Ms`, else `Retry-After` as seconds or as a date; undefined where the server says nothing usable. */
function readRetryAfterMs(headers: Headers): number | undefined {
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

async function exchange<T>(
  client: OpenAI,
  { path, body, answer, estimate }: Question<T>,
  { signal, usage }: { signal: AbortSignal; usage: Usage },
): Promise<T> {
  const response = await client
    .post<unknown>(path, { body, signal })
    .asResponse()
    .catch((error: unknown) => {
      throw failureOf(error);
    });
  const parsed = parseJson(await response.text());
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
