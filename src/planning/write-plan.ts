/** Stage two: the full schemas of the chosen tools -> a checked plan, a question, or the reason why there is none. */
import { z } from 'zod';
import { oneLine } from '../catalog/summary.js';
import type { Tool } from '../catalog/tool.js';
import type { CallAbout, Completion, Model, RequestFacts, Usage } from '../model/model.js';
import { completeStructured, type Parsed, readJson } from '../model/structured.js';
import type { PromptTemplate } from '../prompts/prompt-template.js';
import type { Request } from '../request.js';
import type { Step } from '../result.js';
import { type AwaitedArgument, renderAwaited } from './awaited.js';
import { checkPlan } from './check-plan.js';
import { guessLanguage } from './guess-language.js';
import { levelsOf } from './levels.js';
import { type ArgumentName, openPlaceOf } from './open-place.js';
import { planPenalties } from './plan-penalties.js';
import { planAnswerSchema } from './plan-schema.js';
import { renderTools } from './render-tool.js';
import { requiredAt } from './required-at.js';
import { renderToday } from './today.js';
import { withoutRepeats } from './without-repeats.js';

export type PlanPrompt = PromptTemplate<
  'tools' | 'further' | 'context' | 'awaited' | 'likely' | 'today' | 'locale' | 'message'
>;

export type Written =
  | { kind: 'plan'; goal: string; steps: Step[]; levels: string[][] }
  | { kind: 'clarification'; question: string; missing: string[] }
  | { kind: 'needTools'; needTools: string }
  | { kind: 'unplannable'; reason: string };

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
  /** Told of the tools of last steps that only say again what the one before says, and are left out. */
  onRepeats(tools: readonly string[]): void;
}

/** A model that wrote no valid plan also after the repair is a value with the problems; server errors go through. */
export async function writePlan(tools: readonly Tool[], question: PlanQuestion): Promise<Parsed<Written>> {
  const { model, prompt, repair, request, usage, signal, onRepair, awaited, likely, due, canNeedTools } = question;
  const fitting = tools.filter((tool) => !question.further.has(tool.name));
  const values = {
    tools: renderTools(fitting),
    further: renderTools(
      tools.filter((tool) => question.further.has(tool.name)),
      fitting.length + 1,
    ),
    context: question.context,
    awaited: renderAwaited(awaited),
    likely: likely.length > 0 ? `Likely tools: ${likely.join(', ')}.\n` : '',
    today: renderToday(request),
    locale: request.locale ?? guessLanguage(request.message),
    message: oneLine(request.message),
  };
  const about: CallAbout = {
    module: 'planning/write-plan',
    promptName: prompt.name,
    promptHash: prompt.hash,
    variables: { ...values, tools: tools.map((tool) => tool.name), further: [...question.further] },
    ...question.facts,
  };
  const schemaWithout = (without?: ArgumentName) => ({
    name: 'plan',
    schema: planAnswerSchema(tools, { awaited, canNeedTools, tuples: model.limits.tuples ?? false, without }),
  });
  const byName = new Map(tools.map((tool) => [tool.name, tool]));
  const call = {
    stage: 'planning' as const,
    prompt: prompt.render(values),
    schema: schemaWithout(),
    maxTokens: question.maxTokens,
    penalties: planPenalties({ requiredAt: (tool, path) => requiredAt(byName.get(tool), path), likely, due }),
    signal,
    about,
  };
  const { defaults, onRepeats } = question;
  const context = { tools: byName, goal: oneLine(request.message), defaults, onRepeats };
  const parse = (completion: Completion) => parseWritten(completion, context);
  const narrow = (completion: Completion) => {
    const endless = endlessArgument(completion, byName);
    return endless && schemaWithout(endless);
  };
  return completeStructured({ model, request: call, parse, narrow, repair, usage, onRepair });
}

/** The optional argument that ran on until the answer was cut. */
function endlessArgument({ text, finish }: Completion, tools: ReadonlyMap<string, Tool>): ArgumentName | undefined {
  const cut = finish === 'length' ? openPlaceOf(text) : undefined;
  return cut && requiredAt(tools.get(cut.tool))?.includes(cut.argument) ? undefined : cut;
}

/** `null` says no more than nothing: some servers write every property of an answer. */
function orLeftOut<T extends z.ZodType>(schema: T) {
  return schema.nullish().transform((value) => value ?? undefined);
}

const draftStep = z.object({
  id: z.union([z.string(), z.number()]).nullish(),
  tool: z.string(),
  arguments: orLeftOut(z.record(z.string(), z.unknown())).transform((values) => values ?? {}),
  dependsOn: orLeftOut(z.array(z.string())),
  purpose: orLeftOut(z.string()),
});
const written = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('plan'), goal: orLeftOut(z.string()), steps: z.array(draftStep).min(1) }),
  z.object({
    kind: z.literal('clarification'),
    question: z.string().min(1),
    missing: orLeftOut(z.array(z.string())).transform((names) => names ?? []),
  }),
  z.object({ kind: z.literal('needTools'), needTools: z.string().min(1) }),
  z.object({ kind: z.literal('unplannable'), reason: z.string().min(1) }),
]);

interface ParseContext extends Partial<Pick<PlanQuestion, 'defaults' | 'onRepeats'>> {
  tools: ReadonlyMap<string, Tool>;
  goal: string;
}

/** Exported for tests: text -> checked plan, or the problems to repair. */
export function parseWritten(
  completion: Pick<Completion, 'text' | 'finish'>,
  { tools, goal, defaults = false, onRepeats }: ParseContext,
): Parsed<Written> {
  const json = readJson(completion.text);
  if (!json.ok)
    return {
      ok: false,
      issues: completion.finish === 'length' ? ['the answer was cut: write fewer steps'] : json.issues,
    };
  const shaped = written.safeParse(json.value);
  if (!shaped.success)
    return {
      ok: false,
      issues: shaped.error.issues.map((issue) => `${issue.path.join('.') || 'answer'}: ${issue.message}`),
    };
  if (shaped.data.kind !== 'plan') return { ok: true, value: shaped.data };
  const drafts = shaped.data.steps.map((step, place) => ({ ...step, id: String(step.id ?? `s${place + 1}`) }));
  const checked = checkPlan(drafts, tools, { defaults });
  if (!checked.ok) return checked;
  const { steps: kept, repeated } = withoutRepeats(checked.steps);
  const steps = [...kept];
  if (repeated.length > 0) onRepeats?.(repeated);
  return { ok: true, value: { kind: 'plan', goal: shaped.data.goal ?? goal, steps, levels: levelsOf(steps) } };
}
