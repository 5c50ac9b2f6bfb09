/**
 * One HTTP exchange with a model server: JSON out, JSON in, checked. Only headers that the settings name are sent,
 * so that nothing of the environment (organisation, other keys) reaches a server it is not meant for.
 */
import { z } from 'zod';
import type { Usage } from '../model.js';
import type { OpenAISettings } from './options.js';
import { readRetryAfterMs } from './retry.js';
import { fieldOf, networkFailure, parseJson, ServerFailure } from './server-failure.js';

export const serverUsageSchema = z.object({
  prompt_tokens: z.number().nullish(),
  completion_tokens: z.number().nullish(),
  prompt_tokens_details: z.object({ cached_tokens: z.number().nullish() }).nullish(),
});

interface ExchangeRequest {
  path: '/chat/completions' | '/completions';
  body: string;
  signal: AbortSignal;
}

/** @throws ServerFailure when nothing, an error status, or anything but the expected JSON comes back. */
export async function exchange<T>(
  settings: OpenAISettings,
  request: ExchangeRequest,
  schema: z.ZodType<T>,
): Promise<{ answer: T; text: string }> {
  const { status, headers, text } = await post(settings, request).catch((error: unknown) => {
    throw networkFailure(error);
  });
  if (status < 200 || status > 299) {
    const retryAfterMs = readRetryAfterMs(headers);
    throw new ServerFailure({ kind: 'status', status, body: text, retryAfterMs });
  }
  const parsed = parseJson(text);
  const answer = schema.safeParse(parsed);
  if (answer.success) return { answer: answer.data, text };
  const said = fieldOf(fieldOf(parsed, 'error'), 'message');
  const issue = answer.error.issues[0];
  const why = parsed === undefined ? 'the body is not JSON' : `${issue?.path.join('.') || 'body'}: ${issue?.message}`;
  throw new ServerFailure({ kind: 'answer', message: typeof said === 'string' ? said : why });
}

async function post(settings: OpenAISettings, { path, body, signal }: ExchangeRequest) {
  const sent = await settings.connections.send(`${settings.baseUrl}${path}`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json',
      'user-agent': 'winnow',
      ...(settings.apiKey === undefined ? {} : { authorization: `Bearer ${settings.apiKey}` }),
      ...settings.headers,
    },
    body,
    signal,
  });
  return { status: sent.status, headers: sent.headers, text: await sent.text() };
}

/** What the server counted; where it counts nothing, `estimate` stands in. */
export function usageOf(
  counted: z.infer<typeof serverUsageSchema> | null | undefined,
  estimate: () => { prompt: number; written: number },
): Omit<Usage, 'calls'> {
  const prompt = counted?.prompt_tokens ?? estimate().prompt;
  const cached = Math.min(counted?.prompt_tokens_details?.cached_tokens ?? 0, prompt);
  return { read: prompt - cached, cached, written: counted?.completion_tokens ?? estimate().written };
}
