/** How to reach an OpenAI-compatible server. Resolved once; every default stands here. */
import { WinnowError } from '../../errors.js';
import { type Connections, createConnections } from './connections.js';

export interface OpenAIModelOptions {
  /** For example `http://127.0.0.1:8080/v1`; `/chat/completions` is put after it. */
  baseUrl: string;
  model: string;
  /** Sent as a bearer token. Default: no Authorization header; no variable of the environment is read. */
  apiKey?: string | undefined;
  /** Default: 0. Left out for servers that refuse it. */
  temperature?: number | undefined;
  /** Longest time of one `complete` or `weigh`, with its retries and pauses, in milliseconds. Default: 60,000. */
  timeoutMs?: number | undefined;
  /** Further attempts after 408, 429, 5xx or a cut connection. Default: 2. */
  maxRetries?: number | undefined;
  /** Pause before the first retry, in milliseconds; it doubles up to 8,000. Default: 500. */
  retryDelayMs?: number | undefined;
  /** Prompt and answer together, in tokens. A longer prompt is refused here: some servers cut it silently. Default: 32,768. */
  contextTokens?: number | undefined;
  /** Ask for the log-probability of each written token. Default: false, since some servers refuse it. */
  logprobs?: boolean | undefined;
  headers?: Readonly<Record<string, string>> | undefined;
  /** Further fields of each request body, for example `{"chat_template_kwargs": {…}}`. */
  extraBody?: Readonly<Record<string, unknown>> | undefined;
  /** In place of Winnow's own connections, for example the platform's `fetch`, or one that goes through a proxy. */
  fetch?: typeof fetch | undefined;
}

export interface OpenAISettings {
  readonly baseUrl: string;
  readonly model: string;
  readonly apiKey: string | undefined;
  readonly temperature: number;
  readonly timeoutMs: number;
  readonly maxRetries: number;
  readonly retryDelayMs: number;
  readonly contextTokens: number;
  readonly logprobs: boolean;
  readonly headers: Readonly<Record<string, string>>;
  readonly extraBody: Readonly<Record<string, unknown>>;
  readonly connections: Connections;
}

/** @throws WinnowError `invalid_option` for a base URL that is none, an empty model name, an unusable number or header. */
export function resolveOpenAIOptions(options: OpenAIModelOptions): OpenAISettings {
  if (options.model.trim() === '') throw new WinnowError('invalid_option', 'model: the name of the model is missing.');
  return {
    baseUrl: parseBaseUrl(options.baseUrl),
    model: options.model,
    apiKey: checkedHeader('apiKey', options.apiKey?.trim()) || undefined,
    temperature: numberFrom('temperature', options.temperature ?? 0, 0),
    timeoutMs: numberFrom('timeoutMs', options.timeoutMs ?? 60_000, 1),
    maxRetries: numberFrom('maxRetries', options.maxRetries ?? 2, 0),
    retryDelayMs: numberFrom('retryDelayMs', options.retryDelayMs ?? 500, 0),
    contextTokens: numberFrom('contextTokens', options.contextTokens ?? 32_768, 1),
    logprobs: options.logprobs ?? false,
    headers: Object.fromEntries(
      // In lower case, so that one of these takes the place of our own.
      Object.entries(options.headers ?? {}).map(([name, value]) => [
        name.toLowerCase(),
        checkedHeader(`headers.${name}`, value) ?? '',
      ]),
    ),
    extraBody: options.extraBody ?? {},
    connections: options.fetch ? { send: options.fetch, close: async () => {} } : createConnections(),
  };
}

function parseBaseUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url?.protocol !== 'http:' && url?.protocol !== 'https:') {
    throw new WinnowError('invalid_option', `baseUrl: "${text}" is not an http or https URL, such as http://host/v1.`);
  }
  if (url.username !== '' || url.password !== '') {
    throw new WinnowError('invalid_option', 'baseUrl: leave user and password out; give the key as apiKey.');
  }
  return text.trim().replace(/\/+$/, '');
}

/** The platform's own complaint would quote the value, and the value may be a key. */
function checkedHeader(name: string, value: string | undefined): string | undefined {
  if (value === undefined || /^[\t\x20-\x7e]*$/.test(value)) return value;
  throw new WinnowError('invalid_option', `${name}: holds characters that an HTTP header cannot carry.`);
}

function numberFrom(name: string, value: number, least: number): number {
  if (Number.isFinite(value) && value >= least) return value;
  throw new WinnowError('invalid_option', `${name}: ${value} is not a number from ${least}.`);
}
