/**
 * A new wording of the instructions, written by a model that is shown failures and what was tried before (reflective
 * prompt evolution: Agrawal et al., "GEPA", 2025). What does not keep the places of the prompt, or copies a case, is
 * refused, and asked for once more with the problems listed: the refused text itself is not shown again, since it may hold
 * what no prompt may.
 */
import { z } from 'zod';
import { WinnowError } from '../../core/errors.js';
import { type Completion, type Model, noUsage } from '../../core/model/model.js';
import { completeStructured, type Parsed, readJson } from '../../core/model/structured.js';
import { parse } from '../../core/parse.js';
import { loadNamedPrompt, type NamedPrompt } from '../../core/prompts/prompts.js';
import { oneLine } from '../../core/visible-text.js';
import type { EvaluationCase } from '../case.js';
import { findBrokenPlaces, type TunedPrompt } from './prompt-draft.js';

export interface Failure {
  readonly one: EvaluationCase;
  /** What the model did. */
  readonly got: string;
}

export interface WordingQuestion {
  prompt: TunedPrompt;
  model: Model;
  instructions: string;
  failures: readonly Failure[];
  /** Diagnoses that were tried, each with what it gained. */
  tried: readonly string[];
  /** How much longer the instructions may become. */
  words: number;
  /** The text must be a general one, and short enough; one problem a line. */
  findIssues: (instructions: string) => string[];
  signal: AbortSignal;
}

export const wordingSchema = z.object({ diagnosis: z.string(), instructions: z.string().min(1) });
export type Wording = z.infer<typeof wordingSchema>;

const JSON_SCHEMA = {
  type: 'object',
  properties: { diagnosis: { type: 'string' }, instructions: { type: 'string' } },
  required: ['diagnosis', 'instructions'],
  additionalProperties: false,
};

/** A refused wording is a value with its problems. @throws WinnowError of the model server, `prompt_invalid` */
export async function proposeWording(question: WordingQuestion): Promise<Parsed<Wording>> {
  const { model, instructions, failures, tried, words, signal } = question;
  const template = loadNamedPrompt('propose-wording');
  const variables = {
    instructions,
    failures: failures.map((failure) => renderFailure(question.prompt, failure)).join('\n\n'),
    tried: tried.length === 0 ? 'nothing yet' : tried.map((one) => `- ${oneLine(one)}`).join('\n'),
    words: String(words),
  };
  return completeStructured({
    model,
    request: {
      stage: question.prompt === 'select-tools' ? 'selection' : 'planning',
      prompt: template.render(variables),
      schema: { name: 'wording', schema: JSON_SCHEMA },
      maxTokens: 400 + model.countTokens(instructions) * 3,
      signal,
      about: { module: 'eval/tune', promptName: template.name, promptHash: template.hash, variables },
    },
    parse: (completion) => parseWording(completion, question),
    repair: withoutAnswer(loadNamedPrompt('repair')),
    usage: noUsage(),
  });
}

function withoutAnswer(repair: NamedPrompt<'repair'>): NamedPrompt<'repair'> {
  return { ...repair, render: (values) => repair.render({ ...values, answer: '(It is not shown again.)' }) };
}

function parseWording(
  { text, finish }: Completion,
  { instructions: before, findIssues }: WordingQuestion,
): Parsed<Wording> {
  const json = readJson(text, (value) => wordingSchema.safeParse(value).success);
  if (!json.ok) return finish !== 'stop' ? { ok: false, issues: ['the answer was cut: write less'] } : json;
  const parsed = parse(wordingSchema, json.value, { root: 'answer' });
  if (!parsed.ok) return parsed;
  const instructions = parsed.value.instructions.trim();
  if (instructions === before.trim()) return { ok: false, issues: ['instructions: nothing is changed'] };
  const issues = [...findBrokenPlaces(before, instructions), ...findIssues(instructions)];
  return issues.length > 0 ? { ok: false, issues } : { ok: true, value: { ...parsed.value, instructions } };
}

export function renderFailure(prompt: TunedPrompt, { one, got }: Failure): string {
  const { request, expected } = one;
  const known =
    request.entities && Object.keys(request.entities).length > 0 ? `\nKnown: ${JSON.stringify(request.entities)}` : '';
  return `Request: ${oneLine(request.message)}${known}\nRight: ${renderRight(prompt, expected)}\nThe model's answer: ${got}`;
}

function renderRight(prompt: TunedPrompt, { tools, steps, kind }: EvaluationCase['expected']): string {
  if (kind !== undefined && kind !== 'plan') return kind;
  if (tools.length === 0) return 'no tool fits';
  if (prompt === 'select-tools' || !steps) return tools.join(', ');
  return JSON.stringify(steps.map((step) => ({ tool: step.tool, arguments: step.arguments })));
}

/** A server that fails in one proposal ends no tuning; an interrupt does. */
export function isPassing(error: unknown): error is WinnowError {
  return error instanceof WinnowError && error.code !== 'cancelled' && error.code !== 'internal';
}
