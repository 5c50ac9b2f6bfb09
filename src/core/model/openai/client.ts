/**
 * Calls one model server over HTTP, with retries and one deadline for all attempts of a call. The `openai` client is unfit: it
 * does not retry cut or unusable answers, keeps pausing after an abort, and sends settings of the environment.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { z } from 'zod';
import { messageOf, orAborted, throwIfCancelled, toWinnowError, WinnowError } from '../../errors.js';
import { type SpanName, type SpanNote, traceHeaders, withSpan } from '../../spans.js';
import { addUsage, type Prompt, type Usage, withUsage } from '../model.js';
import { parseJson } from '../structured.js';
import { isTransient, ServerFailure, toModelError } from './failure.js';
import type { OpenAISettings } from './options.js';

/** Runs one model call. @throws WinnowError as `Model.complete` does, with the usage in its details */
export type Client = <T>(call: Call, work: (post: Post) => Promise<T>) => Promise<T>;

export interface Call {
  prompt: Prompt;
  signal: AbortSignal | undefined;
  usage: Usage;
}

export type Post = <T>(question: Question<T>) => Promise<T>;

interface Question<T> {
  path: '/chat/completions' | '/completions';
  body: object;
  /** An answer of another form is a failure that is retried. */
  answer: z.ZodType<T>;
  estimate(answer: T): { prompt: number; written: number };
}

/** The caller gets `cancelled` or `model_timeout` at once, even if the work ignores its signal. */
export function createClient(settings: OpenAISettings): Client {
  const send = createSender(settings);
  return async ({ prompt, signal: parent, usage }, work) => {
    const { timeoutMs } = settings;
    const expiry = AbortSignal.timeout(Math.ceil(timeoutMs));
    const signal = AbortSignal.any(parent ? [parent, expiry] : [expiry]);
    const endsAt = performance.now() + timeoutMs;
    const post: Post = (question) =>
      withSpan(...spanOf(question, settings), (note) =>
        retrying(settings, { signal, endsAt }, async () => {
          usage.calls += 1;
          return readAnswer(await send(question, signal), question, { usage, note });
        }),
      );
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

/** A span by OpenTelemetry's conventions for GenAI, which covers all attempts. */
function spanOf({ path }: Question<unknown>, { model, baseUrl }: OpenAISettings): [SpanName, Record<string, string>] {
  const operation = path === '/completions' ? 'text_completion' : 'chat';
  const about = {
    'gen_ai.operation.name': operation,
    'gen_ai.provider.name': 'openai',
    'gen_ai.request.model': model,
    'server.address': new URL(baseUrl).hostname,
  };
  return [`${operation} ${model}`, about];
}

function timedOut(timeoutMs: number): WinnowError {
  const advice = 'timeoutMs of the model in the configuration file, callTimeoutMs or timeoutMs from code';
  const message = `The model did not answer within ${timeoutMs} ms. Raise its time-out: ${advice}.`;
  return new WinnowError('model_timeout', message, { details: { timeoutMs } });
}

/**
 * Gives the text of an answer. Sends what the settings name, and nothing of the environment. Uses `request` of undici: it
 * takes half the time of `fetch` and follows no redirection, which would send prompt and keys to an unknown server.
 */
function createSender({ baseUrl, apiKey, headers: own }: OpenAISettings) {
  const headers = new Headers({
    ...{ 'content-type': 'application/json', accept: 'application/json', 'accept-encoding': 'identity' },
    ...{ 'user-agent': 'winnow', ...(apiKey ? { authorization: `Bearer ${apiKey}` } : {}) },
  });
  for (const [name, value] of Object.entries(own)) headers.set(name, value);
  // Only the deadline of the call limits how long the server may be silent.
  const always = Object.fromEntries(headers);
  const asked = { method: 'POST', headersTimeout: 0, bodyTimeout: 0 } as const;
  return async ({ path, body }: Question<unknown>, signal: AbortSignal): Promise<string> => {
    try {
      // Loaded with the first request: it takes longer to load than the rest of this folder.
      const { request } = await import('undici');
      const sent = { ...asked, headers: { ...traceHeaders(), ...always }, body: JSON.stringify(body), signal };
      const answer = await request(`${baseUrl}${path}`, sent);
      const { statusCode: status, headers: about } = answer;
      const text = await readBody(answer.body);
      if (status >= 200 && status < 300) return text;
      const location = about.location?.toString().split('?')[0];
      const said = location ? `it redirects to ${location}` : text;
      throw new ServerFailure({ status, text: said, retryAfterMs: readRetryAfterMs(about) });
    } catch (error) {
      if (error instanceof ServerFailure) throw error;
      throw new ServerFailure({ code: String(Object(error).code ?? ''), text: messageOf(error) });
    }
  };
}

/** Probabilities of 80 tokens for each of thousands of places have less. */
const MOST_ANSWER_BYTES = 16 * 2 ** 20;

/** @throws ServerFailure for an endless answer, which would fill the memory until the deadline of the call */
async function readBody(body: AsyncIterable<Buffer>): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of body) {
    bytes += chunk.length;
    if (bytes > MOST_ANSWER_BYTES) throw new ServerFailure({ text: `more than ${MOST_ANSWER_BYTES} bytes` });
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

/** `Retry-After-Ms`, else `Retry-After` as seconds or as a date; undefined without a usable header. */
function readRetryAfterMs(headers: Record<string, unknown>): number | undefined {
  const [exact, text] = ['retry-after-ms', 'retry-after'].map((name) => String(headers[name] || 'none'));
  const date = Date.parse(text ?? '') - Date.now();
  return [Number(exact), Number(text) * 1_000, Math.max(0, date)].find((delayMs) => delayMs >= 0);
}

const MAX_DELAY_MS = 8_000;

/**
 * Retries temporary failures, after the pause that the server asks for, else with exponential backoff. Jitter makes the
 * latter up to a quarter shorter, so that calls that failed together do not return together. No pause outlasts the deadline.
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
      if (!(error instanceof ServerFailure) || !isTransient(error.facts) || retries >= maxRetries) throw error;
      const ownDelayMs = Math.min(retryDelayMs * 2 ** retries, MAX_DELAY_MS) * (1 - Math.random() / 4);
      const { retryAfterMs: delayMs = ownDelayMs } = error.facts;
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

const NOT_JSON = 'the body is not JSON. Check the base URL (it often ends in /v1)';

function readAnswer<T>(
  text: string,
  { answer, estimate }: Question<T>,
  { usage, note }: { usage: Usage; note: SpanNote },
): T {
  const parsed = parseJson(text);
  const checked = answer.safeParse(parsed);
  if (!checked.success) {
    const said: unknown = Object(parsed).error?.message;
    const issue = checked.error.issues[0];
    const why = parsed === undefined ? NOT_JSON : `${issue?.path.join('.') || 'body'}: ${issue?.message}`;
    throw new ServerFailure({ text: typeof said === 'string' ? said : why });
  }
  const counted = countedSchema.parse(Object(parsed).usage);
  const prompt = counted.prompt_tokens ?? estimate(checked.data).prompt;
  const cached = Math.min(counted.prompt_tokens_details?.cached_tokens ?? 0, prompt);
  const written = counted.completion_tokens ?? estimate(checked.data).written;
  addUsage(usage, { calls: 0, read: prompt - cached, cached, written });
  note.set({ 'gen_ai.usage.input_tokens': prompt, 'gen_ai.usage.output_tokens': written });
  return checked.data;
}
