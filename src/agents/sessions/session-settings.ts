/** What can be set about the sessions of a server. */
import { z } from 'zod';
import { parseOptions } from '../../core/parse.js';
import type { RouterOptions } from '../parts.js';

export const sessionSettingsSchema = z.strictObject({
  idleMinutes: z
    .number()
    .min(1)
    .max(525_600)
    .default(1_440)
    .describe('A session that does nothing for so long is over.'),
  visibleFrom: z
    .enum(['next_request', 'next_turn'])
    .default('next_request')
    .describe('When clients put newly enabled tools before their model; told with what was enabled.'),
});
export type SessionSettings = z.input<typeof sessionSettingsSchema>;

const MINUTE_MS = 60_000;

/** @throws WinnowError `invalid_option` naming each field that is wrong. */
export function parseSessionSettings(input: unknown): RouterOptions {
  const { idleMinutes, visibleFrom } = parseOptions(sessionSettingsSchema, input, 'sessions');
  return { sessionIdleMs: idleMinutes * MINUTE_MS, visibleFrom };
}
