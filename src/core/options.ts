/** All options of a planner with their defaults, resolved once into a complete object. */
import { z } from 'zod';
import { parseAs, timerMs } from './parse.js';

export const optionsSchema = z.strictObject({
  answer: z
    .enum(['auto', 'list', 'rank'])
    .default('auto')
    .describe('How the model names tools in selection. auto: rank where it gives next-token probabilities, else list.'),
  planning: z
    .enum(['auto', 'decide', 'write'])
    .default('auto')
    .describe('How plans are made. auto: decide where the model gives next-token probabilities, else write.'),
  maxTools: z
    .int()
    .min(1)
    .max(128)
    .default(8)
    .describe('Most tools that selection passes to planning; a request can set fewer or more.'),
  passthroughTools: z
    .int()
    .min(0)
    .default(15)
    .describe('Up to so many visible tools, or where all are small, selection is skipped. 0: never skipped.'),
  summaryTokens: z.int().min(200).default(8000).describe('Budget for the summaries of selection, in tokens.'),
  schemaTokens: z
    .int()
    .min(200)
    .default(8000)
    .describe('Budget for the tools in the planning prompt, in tokens of what it shows of them.'),
  fillTokens: z
    .int()
    .min(0)
    .default(2000)
    .describe('Budget for tools that are not surely chosen, in tokens of the planning prompt. 0: none of them.'),
  historyMessages: z.int().min(0).default(6).describe('Earlier messages that selection and planning see.'),
  historyCharacters: z.int().min(0).default(2000).describe('Of these messages together; the oldest are cut first.'),
  maxRounds: z
    .int()
    .min(1)
    .max(5)
    .default(2)
    .describe('Rounds of selection, where planning says that a tool is missing.'),
  clarifyBelow: z
    .number()
    .min(0)
    .max(1)
    .default(0)
    .describe('Ask the user back when the confidence, a probability, is below. 0: never.'),
  planTokens: z.int().min(64).default(1500).describe('Most tokens that the model writes for a plan.'),
  defaults: z
    .boolean()
    .default(true)
    .describe("Write the schema's defaults of left-out arguments into a plan: it then says what will run."),
  timeoutMs: timerMs
    .int()
    .default(600_000)
    .describe('For a whole request, in milliseconds. Selection takes half of it at most; then the fallback goes on.'),
});

export type Options = z.output<typeof optionsSchema>;
export type OptionsInput = z.input<typeof optionsSchema>;

/** @throws WinnowError `invalid_option` naming each option that is wrong. */
export function resolveOptions(input: OptionsInput = {}): Options {
  return parseAs(optionsSchema, input, { code: 'invalid_option', problem: 'Options are not usable', root: 'options' });
}
