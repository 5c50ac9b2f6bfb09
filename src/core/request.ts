/** The request of a caller. It is parsed once at the edge (HTTP, command line, library) and trusted inside. */
import { z } from 'zod';
import { orUndefined } from './errors.js';
import { parseInput } from './parse.js';

/** Characters of a long message that are read: the question mostly precedes pasted text. */
export const MOST_READ = 4_000;

/** Limit of all entities as JSON, since each prompt contains all of them. */
const MOST_ENTITY_CHARACTERS = 50_000;
/** Each entity is compared with each argument that may need a producer. */
const MOST_ENTITIES = 200;
const MOST_INTENT_CHARACTERS = 2_000;
const MOST_NAMES = 10_000;
const MOST_MESSAGES = 5_000;
/** Of a locale or a time zone: the library reads a locale in time quadratic in its length. */
const MOST_TAG_CHARACTERS = 64;

export const messageSchema = z.strictObject({
  role: z.enum(['user', 'assistant', 'tool']),
  content: z.string(),
});

const names = z.array(z.string().min(1)).max(MOST_NAMES).optional();

export const requestSchema = z.strictObject({
  message: z.string().trim().min(1, 'must not be empty').max(100_000).describe('What the user wants, in any language.'),
  intent: z
    .string()
    .max(MOST_INTENT_CHARACTERS)
    .optional()
    .describe('The business sub-intent, where the caller knows it.'),
  entities: z
    .record(z.string(), z.unknown())
    .refine((entities) => Object.keys(entities).length <= MOST_ENTITIES, {
      error: `has more than ${MOST_ENTITIES} names: name what the request is about`,
    })
    .refine((entities) => JSON.stringify(entities).length <= MOST_ENTITY_CHARACTERS, {
      error: `has more than ${MOST_ENTITY_CHARACTERS} characters as JSON: name what the request is about`,
    })
    .optional()
    .describe('What the caller has extracted already, for example {"city": "Zürich"}.'),
  history: z
    .array(messageSchema)
    .max(MOST_MESSAGES)
    .optional()
    .describe('Earlier messages, oldest first; a bounded window of them goes to the model.'),
  user: z.string().min(1).optional().describe('Whose private tools are visible.'),
  session: z
    .string()
    .min(1)
    .optional()
    .describe('Appears in the call log and in the first event of the trace; changes nothing else.'),
  allow: names.describe('Only these tools may be used.'),
  deny: names.describe('These tools may not be used; stronger than allow.'),
  origin: names.describe('Only tools of these origins.'),
  require: names.describe('Selection always includes these tools, whatever the model picks.'),
  maxTools: z
    .int()
    .min(1)
    .max(128)
    .optional()
    .describe('At most so many tools for this request. Default: the option maxTools.'),
  today: z.iso
    .date('not a day such as 2026-11-22')
    .optional()
    .describe('The date of the user, YYYY-MM-DD. Default: the date of the clock in the time zone.'),
  timeZone: z
    .string()
    .min(1)
    .max(MOST_TAG_CHARACTERS, { abort: true })
    .refine(isTimeZone, 'not an IANA time zone such as Asia/Shanghai')
    .optional(),
  locale: z
    .string()
    .min(2)
    .max(MOST_TAG_CHARACTERS, { abort: true })
    .refine(isLocale, 'not a language tag such as zh-CN')
    .optional()
    .describe('Language of the user, for example zh-CN. Default: found from the message.'),
});

export type PlanRequest = z.input<typeof requestSchema>;
export type Request = z.output<typeof requestSchema>;
export type Message = z.infer<typeof messageSchema>;

/** @throws WinnowError `invalid_request` with one issue per problem, each with the path of its field. */
export function parseRequest(input: unknown): Request {
  return parseInput(requestSchema, input);
}

function isLocale(tag: string): boolean {
  return orUndefined(() => new Intl.Locale(tag)) !== undefined;
}

export function isTimeZone(name: string): boolean {
  return orUndefined(() => new Intl.DateTimeFormat('en', { timeZone: name })) !== undefined;
}
