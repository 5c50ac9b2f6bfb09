/** How to reach an OpenAI-compatible server. Resolved once; all defaults are here. */
import { z } from 'zod';
import { timerMs } from '../../parse.js';

/** The platform's own error would quote the value, which may be a key. */
const header = z.string().regex(/^[\t\x20-\x7e]*$/, 'holds characters that an HTTP header cannot carry');
const headerName = z.string().regex(/^[\w!#$%&'*+.^`|~-]+$/, 'is not a name of an HTTP header');

export const optionsSchema = z.object({
  /** For example `http://127.0.0.1:8080/v1`; `/chat/completions` is appended. */
  baseUrl: z
    .string()
    .refine(isHttpUrl, 'is not an http or https URL without user, password, query and fragment, such as http://host/v1')
    .transform((url) => url.trim().replace(/(?<!\/)\/+$/, '')),
  model: z.string().regex(/\S/, 'the name of the model is missing'),
  /** Sent as a bearer token. Default: no Authorization header; the environment is not read. */
  apiKey: z.string().trim().pipe(header).optional(),
  /** Omitted for servers that refuse it. */
  temperature: z.number().min(0).default(0),
  /** Longest time of one `complete` or `weigh`, including retries and pauses. */
  timeoutMs: timerMs.default(60_000),
  /** Further attempts after 408, 429, 5xx or a cut connection. */
  maxRetries: z.number().min(0).default(2),
  /** Pause before the first retry; it doubles up to 8,000 ms. */
  retryDelayMs: z.number().min(0).default(500),
  /** Prompt and answer together. A longer prompt is refused here: some servers cut it silently. */
  contextTokens: z.number().min(1).default(32_768),
  /** Requests the log-probability of each written token. Some servers refuse it. */
  logprobs: z.boolean().default(false),
  headers: z.record(headerName, header).default({}),
  /** Further fields of each request body, for example `{"chat_template_kwargs": {…}}`. */
  extraBody: z.record(z.string(), z.unknown()).default({}),
});

function isHttpUrl(text: string): boolean {
  const { protocol = '', username, password, search, hash } = URL.canParse(text) ? new URL(text) : {};
  return /^https?:$/.test(protocol) && !username && !password && !search && !hash;
}

export type OpenAIModelOptions = z.input<typeof optionsSchema>;
export type OpenAISettings = z.output<typeof optionsSchema>;
