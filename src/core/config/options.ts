/** All options of a planner with their defaults, resolved once; inside, every value is there. */
import { z } from 'zod';
import { parseAs } from '../parse.js';

const part = z.boolean();

export const optionsSchema = z.strictObject({
  answer: z
    .enum(['auto', 'list', 'rank'])
    .default('auto')
    .describe('How the model names tools. auto: what suits the model.'),
  planning: z
    .enum(['auto', 'decide', 'write'])
    .default('auto')
    .describe(
      'How plans are made. decide: by choices among what exists, with probabilities; auto: what suits the model.',
    ),
  maxTools: z
    .int()
    .min(1)
    .max(128)
    .default(8)
    .describe(
      'Most tools that selection hands on to planning; a request can ask for fewer or more, where selection is skipped too.',
    ),
  passthroughTools: z.int().min(0).default(15).describe('Up to so many visible tools, selection is skipped.'),
  passthroughTokens: z
    .int()
    .min(0)
    .default(1500)
    .describe('Selection is skipped when all schemas together have at most so many tokens.'),
  judge: z
    .enum(['few', 'plans', 'all'])
    .default('plans')
    .describe(
      'Whether the tools fit at all is asked where at most 4 are visible (few), of all that a plan would be made of too (plans), of all that `select` hands on as well (all). Of at most 16 tools, and only of models that answer by rank.',
    ),
  fitBelow: z
    .number()
    .min(0)
    .max(1)
    .default(0.37)
    .describe('Hand on nothing when the probability that the judged tools fit is below. 0: not asked.'),
  summaryTokens: z.int().min(200).default(8000).describe('Budget for the summaries of stage one, in tokens.'),
  summaryOrder: z
    .enum(['catalog', 'category', 'name', 'reverse'])
    .default('catalog')
    .describe(
      'Order of the summaries: as in the catalogue, group by group, by name, or the last of the catalogue first.',
    ),
  schemaTokens: z.int().min(200).default(8000).describe('Budget for the full schemas of stage two, in tokens.'),
  shortlistTools: z
    .int()
    .min(5)
    .default(40)
    .describe('Size of the keyword shortlist, the rung for catalogues whose names do not fit.'),
  secondLook: part
    .default(true)
    .describe('Where only names fit the budget of summaries: ask once more about the likeliest, with what they do.'),
  historyMessages: z.int().min(0).default(6).describe('Earlier messages that selection and planning see.'),
  historyCharacters: z.int().min(0).default(2000).describe('All of them together; the oldest are shortened first.'),
  maxRounds: z
    .int()
    .min(1)
    .max(5)
    .default(2)
    .describe('Rounds of selection when planning says that a tool is missing.'),
  core: z.int().min(1).default(4).describe('Rank: the first so many names count as chosen; the rest is fill.'),
  readings: z
    .int()
    .min(1)
    .max(4)
    .default(2)
    .describe('Rank: how many times the next name is read, after the first with the likeliest names already there.'),
  keywordWeight: z
    .number()
    .min(0)
    .max(10)
    .default(0.5)
    .describe(
      'Rank: what the best keyword match counts beside a probability of 1. 0: the model alone gives the order.',
    ),
  twins: part
    .default(true)
    .describe(
      'Rank: where names are alike but for one word, the one that the request calls by its own word is no less likely.',
    ),
  minMass: z
    .number()
    .min(0)
    .max(1)
    .default(0)
    .describe(
      'Rank: stop the fill when the names so far hold this share of the probability of all readings. 0: never, fill all room.',
    ),
  clarifyBelow: z
    .number()
    .min(0)
    .max(1)
    .default(0)
    .describe(
      'Rank: ask the user back when the confidence of the selection is below. 0: never; 0.65 is a usual value.',
    ),
  reasons: part.default(false).describe('Rank: have the reason for the choice written, for a second or two more.'),
  fill: part
    .default(true)
    .describe('Fill free room with names that model and keywords stand for together, and keyword matches, in turn.'),
  fillShare: z
    .number()
    .min(0)
    .max(1)
    .default(0.17)
    .describe(
      'Fill only up to this share of the tokens of all visible schemas, or up to 800 tokens where that is more. 1: only the other budgets count.',
    ),
  producers: part.default(true).describe('Add tools whose results provide arguments that the request cannot hold.'),
  companions: part.default(true).describe('Add relatedTools of the chosen.'),
  rules: part.default(true).describe('Apply the rules of the catalogue.'),
  defaults: part
    .default(true)
    .describe('Write into a plan the defaults of arguments that were left out: it then says what will run.'),
  planTokens: z.int().min(64).default(1500).describe('Most tokens of a plan as the model writes it.'),
  timeoutMs: z.int().min(1).default(600_000).describe('For a whole request, in milliseconds.'),
  selectionTimeoutMs: z
    .int()
    .min(1)
    .default(300_000)
    .describe(
      'For stage one; past it the fallback goes on, in milliseconds. As much again for the judgement whether the tools fit.',
    ),
});

export type Options = z.output<typeof optionsSchema>;
export type OptionsInput = z.input<typeof optionsSchema>;

/** @throws WinnowError `invalid_option` naming each option that is wrong. */
export function resolveOptions(input: OptionsInput = {}): Options {
  return parseAs(optionsSchema, input, { code: 'invalid_option', problem: 'Options are not usable', root: 'options' });
}
