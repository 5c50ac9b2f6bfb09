/**
 * New wordings of the instructions from a model that sees failures and earlier attempts (reflective prompt evolution: Agrawal
 * et al., "GEPA", 2025). A wording that loses placeholders or copies a case is refused and requested once more with the
 * problems. The refused text itself is not shown again, since it may hold withheld words.
 */
import { z } from 'zod';
import { WinnowError } from '../../core/errors.js';
import { noUsage } from '../../core/model/model.js';
import { completeStructured, type Parsed, readJson } from '../../core/model/structured.js';
import { parse } from '../../core/parse.js';
import { loadNamedPrompt } from '../../core/prompts/prompts.js';
import { oneLine } from '../../core/visible-text.js';
import type { EvaluationCase } from '../case.js';
import { randomFor, sampleOf } from '../random.js';
import { type Candidate, type Round, toCandidate } from './candidates.js';
import { findBrokenPlaces, type TunedPrompt } from './prompt-draft.js';

/** Failures and latest lessons that a proposal sees. */
const FAILURES = 4;
const LESSONS = 8;
/** In English, about three words make four tokens. */
const WORDS_A_TOKEN = 0.75;

const wordingSchema = z.object({ diagnosis: z.string(), instructions: z.string().min(1) });
type Wording = z.infer<typeof wordingSchema>;

export async function wordingCandidates(round: Round): Promise<Candidate[]> {
  const { failing, scores, tries, seed, best, budget, reserve, prompt, gate } = round;
  // The proposing model's input passes the gate too, since its answer could repeat it.
  const shown = failing
    .map((one) => renderFailure(prompt, one, scores.get(one.id)?.got ?? ''))
    .filter((text) => gate.admit(text, 'training').ok);
  const candidates: Candidate[] = [];
  for (let turn = 0; turn < tries && shown.length > 0 && budget.millisecondsLeft(reserve) > 0; turn++) {
    const failures = sampleOf(shown, FAILURES, randomFor(seed, `wording ${turn}`));
    const proposal = await propose(round, failures);
    const about = `wording ${turn + 1}`;
    if (!proposal.ok) {
      candidates.push({ ok: false, kind: 'wording', about, issues: [...proposal.issues] });
      continue;
    }
    const { diagnosis, instructions } = proposal.value;
    const draft = { ...best.draft, instructions };
    candidates.push(toCandidate({ kind: 'wording', about: `${about}: ${diagnosis}`, draft }, round));
  }
  return candidates;
}

/** Returns a refused wording as a value with its problems. A server error does not end tuning; an interrupt does. */
async function propose(round: Round, failures: readonly string[]): Promise<Parsed<Wording>> {
  const { prompt, model, best, lessons, signal, growth, maxGrowth } = round;
  const { instructions } = best.draft;
  const [template, repair] = [loadNamedPrompt('propose-wording'), loadNamedPrompt('repair')];
  const tried = lessons.slice(-LESSONS).map((one) => `- ${oneLine(one)}`);
  const variables = {
    instructions,
    failures: failures.join('\n\n'),
    tried: tried.length === 0 ? 'nothing yet' : tried.join('\n'),
    words: String(Math.max(0, Math.floor((maxGrowth - growth(best.text)) * WORDS_A_TOKEN))),
  };
  try {
    return await completeStructured({
      model,
      request: {
        stage: prompt === 'select-tools' ? 'selection' : 'planning',
        prompt: template.render(variables),
        schema: { name: 'wording', schema: z.toJSONSchema(wordingSchema) },
        maxTokens: 400 + model.countTokens(instructions) * 3,
        signal,
        about: { module: 'eval/tune', promptName: template.name, promptHash: template.hash, variables },
      },
      parse: ({ text, finish }) => parseWording(text, { round, isCut: finish !== 'stop' }),
      repair: { ...repair, render: (values) => repair.render({ ...values, answer: '(It is not shown again.)' }) },
      usage: noUsage(),
    });
  } catch (error) {
    if (!(error instanceof WinnowError) || error.code === 'cancelled' || error.code === 'internal') throw error;
    return { ok: false, issues: [`the model gave no wording: ${error.message}`] };
  }
}

function parseWording(text: string, { round, isCut }: { round: Round; isCut: boolean }): Parsed<Wording> {
  const json = readJson(text, (value) => wordingSchema.safeParse(value).success);
  if (!json.ok) return isCut ? { ok: false, issues: ['the answer was cut: write less'] } : json;
  const parsed = parse(wordingSchema, json.value, { root: 'answer' });
  if (!parsed.ok) return parsed;
  const before = round.best.draft.instructions;
  const instructions = parsed.value.instructions.trim();
  if (instructions === before.trim()) return { ok: false, issues: ['instructions: nothing is changed'] };
  const candidate = toCandidate({ kind: 'wording', about: '', draft: { ...round.best.draft, instructions } }, round);
  const issues = [...findBrokenPlaces(before, instructions), ...(candidate.ok ? [] : candidate.issues)];
  return issues.length > 0 ? { ok: false, issues } : { ok: true, value: { ...parsed.value, instructions } };
}

function renderFailure(prompt: TunedPrompt, { request, expected }: EvaluationCase, got: string): string {
  const { message, entities = {} } = request;
  const known = Object.keys(entities).length > 0 ? `\nKnown: ${JSON.stringify(entities)}` : '';
  return `Request: ${oneLine(message)}${known}\nRight: ${renderRight(prompt, expected)}\nThe model's answer: ${got}`;
}

function renderRight(prompt: TunedPrompt, { tools, steps, kind }: EvaluationCase['expected']): string {
  if (kind !== undefined && kind !== 'plan') return kind;
  if (tools.length === 0) return 'no tool fits';
  if (prompt === 'select-tools' || !steps) return tools.join(', ');
  return JSON.stringify(steps.map((step) => ({ tool: step.tool, arguments: step.arguments })));
}
