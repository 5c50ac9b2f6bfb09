/** Stage two: the full schemas of the chosen tools -> a checked plan, a question, or the reason why there is none. */
import { oneLine } from '../catalog/summary.js';
import type { Tool } from '../catalog/tool.js';
import { guessLanguage } from '../guess-language.js';
import type { CallAbout, Completion, Model, RequestFacts, Usage } from '../model/model.js';
import { completeStructured, type Parsed } from '../model/structured.js';
import type { PromptTemplate } from '../prompts/prompt-template.js';
import type { Request } from '../request.js';
import { type AwaitedArgument, renderAwaited } from './awaited.js';
import type { Misreference } from './check-plan.js';
import { doubtsOf, NO_DOUBTS } from './doubts.js';
import { planPenalties } from './plan-penalties.js';
import { type PlanSchemaOptions, planAnswerSchema } from './plan-schema.js';
import { type ReadPlan, readPlan, type Written } from './read-plan.js';
import { renderTools } from './render-tool.js';
import { requiredAt } from './required-at.js';
import { type FirstAnswer, leftOutBy, narrowedSchema, type SecondAttempt } from './second-attempt.js';
import { renderToday } from './today.js';
import { statedByKind } from './unused-values.js';

export type PlanPrompt = PromptTemplate<
  'tools' | 'further' | 'context' | 'awaited' | 'likely' | 'today' | 'locale' | 'message'
>;

export interface PlanQuestion {
  model: Model;
  prompt: PlanPrompt;
  repair: PromptTemplate<'system' | 'user' | 'answer' | 'issues'>;
  request: Request;
  /** Lines before the message; see `renderContext`. */
  context: string;
  /** Names of tools that were not chosen but fill free room. */
  further: ReadonlySet<string>;
  /** Names of tools to look at first, in a likely order of their use. */
  likely: readonly string[];
  /** Of these, the tools without which a plan has not done all that was asked for. */
  due: readonly string[];
  /** Names of the tools that the request calls by a word of their own; asked for only where a step may be left out. */
  called: () => readonly string[];
  /** Arguments that only an earlier step can provide. */
  awaited: readonly AwaitedArgument[];
  canNeedTools: boolean;
  /** Whether arguments that were left out are written down where the tool has a default for them. */
  defaults: boolean;
  maxTokens: number;
  usage: Usage;
  /** For the call log. */
  facts: RequestFacts;
  signal: AbortSignal | undefined;
  onRepair(issues: readonly string[]): void;
  /** Told what is doubted in a valid plan, which is asked for once more then. */
  onDoubt(doubts: readonly string[]): void;
  /** Told of the tools whose steps a second plan leaves out: nobody gave an identifier that they run on. */
  onLeftOut(tools: readonly string[]): void;
  /** Told of the tools of last steps that only say again what the one before says, and are left out. */
  onRepeats(tools: readonly string[]): void;
}

/** A model that wrote no valid plan also after the repair is a value with the problems; server errors go through. */
export async function writePlan(tools: readonly Tool[], question: PlanQuestion): Promise<Parsed<Written>> {
  const { model, prompt, repair, usage, signal, onRepair, onDoubt, likely, due, called, maxTokens } = question;
  const values = promptValues(tools, question);
  const byName = new Map(tools.map((tool) => [tool.name, tool]));
  const stated = statedByKind(question.request.message, byName.keys());
  const request = {
    stage: 'planning' as const,
    prompt: prompt.render(values),
    schema: schemaFor(tools, question, { things: stated.most }),
    maxTokens,
    penalties: planPenalties({ requiredAt: (tool, path) => requiredAt(byName.get(tool), path), likely, due, stated }),
    signal,
    about: aboutCall(tools, question, values),
  };
  const { message } = question.request;
  const known = { tools: byName, message, said: values.context + values.message, stated, today: values.today };
  const second: SecondAttempt = {
    tools,
    byName,
    likely,
    further: question.further,
    called,
    schemaFor: (some, { awaited = [], ...change }) =>
      schemaFor(some, question, { things: stated.most, awaited: [...question.awaited, ...awaited], ...change }),
  };
  const parse = (completion: Completion): PlanAnswer => {
    const read = readPlan(completion, { ...question, tools: byName, message: values.message });
    const steps = read.ok && read.value.kind === 'plan' ? read.value.steps : [];
    const doubted = steps.length > 0 ? doubtsOf(steps, known) : NO_DOUBTS;
    const facts = { completion, steps, doubted, misreferences: onlyMisreferences(read) };
    return read.ok ? { ...read, doubts: doubted.problems, ...facts } : { ...read, ...facts };
  };
  const asked = { model, request, parse, repair, usage, onRepair };
  const answer = await completeStructured({
    ...asked,
    narrow: (first) => narrowedSchema(first, second),
    isBetter(other, first) {
      const lost = other.ok ? leftOutBy(other.value, first, second) : undefined;
      if (lost?.length) question.onLeftOut(lost);
      return lost !== undefined;
    },
    onDoubt,
  });
  if (answer.ok) return answer;
  const askWith = (schema: typeof request.schema) => completeStructured({ ...asked, request: { ...request, schema } });
  // A model that runs in loops has no values for a plan: a question or a reason is left.
  if (answer.completion.finish === 'loop') return askWith(schemaFor([], question));
  const { misreferences } = answer;
  if (misreferences.length === 0) return answer;
  // Told what is wrong, it has referred to a field that is not there again: it is asked where that can't be written.
  onRepair(answer.issues);
  return askWith(schemaFor(tools, question, { things: stated.most, misreferences }));
}

/** An answer of the model with what the next attempt needs to know of it. */
type PlanAnswer = Parsed<Written> & FirstAnswer & { misreferences: readonly Misreference[] };

/** None where something else is wrong as well. */
function onlyMisreferences(parsed: ReadPlan) {
  const { misreferences = [] } = parsed;
  return !parsed.ok && parsed.issues.length === misreferences.length ? misreferences : [];
}

type PlanSchemaChange = Partial<Omit<PlanSchemaOptions, 'canNeedTools' | 'tuples'>>;

function schemaFor(
  tools: readonly Tool[],
  { model, awaited, canNeedTools }: PlanQuestion,
  change: PlanSchemaChange = {},
) {
  const options = { awaited, canNeedTools, tuples: model.limits.tuples ?? false, ...change };
  return { name: 'plan', schema: planAnswerSchema(tools, options) };
}

type PromptValues = Parameters<PlanPrompt['render']>[0];

function promptValues(tools: readonly Tool[], { request, context, further, awaited, likely }: PlanQuestion) {
  const fitting = tools.filter((tool) => !further.has(tool.name));
  const others = tools.filter((tool) => further.has(tool.name));
  return {
    tools: renderTools(fitting),
    further: renderTools(others, fitting.length + 1),
    context,
    // What fills free room is not advertised.
    awaited: renderAwaited(awaited.filter(({ tool }) => !further.has(tool))),
    likely: likely.length > 0 ? `Likely tools: ${likely.join(', ')}.\n` : '',
    today: renderToday(request),
    locale: request.locale ?? guessLanguage(request.message),
    message: oneLine(request.message),
  };
}

function aboutCall(tools: readonly Tool[], { prompt, further, facts }: PlanQuestion, values: PromptValues): CallAbout {
  return {
    module: 'planning/write-plan',
    promptName: prompt.name,
    promptHash: prompt.hash,
    variables: { ...values, tools: tools.map((tool) => tool.name), further: [...further] },
    ...facts,
  };
}
