/** Plans by writing, for any model server: compact types in the prompt, one structured answer, one check, one repair. */
import { z } from 'zod';
import type { Tool } from '../catalog/tool.js';
import type { Completion, Model, RequestFacts, Usage } from '../model/model.js';
import { completeStructured, type Parsed, readJson } from '../model/structured.js';
import { parse } from '../parse.js';
import type { Prompts } from '../prompts/prompts.js';
import type { Request } from '../request.js';
import type { SelectedTool, Step } from '../result.js';
import type { Trace } from '../trace.js';
import { oneLine } from '../visible-text.js';
import { checkPlan } from './check-plan.js';
import { groundSteps } from './ground.js';
import { levelsOf } from './order-effects.js';
import { planAnswerSchema } from './plan-schema.js';
import { renderTools } from './render-tool.js';
import { renderToday } from './times.js';

export type Written =
  | {
      kind: 'plan';
      goal: string;
      steps: Step[];
      levels: string[][];
      unserved: string[];
      /** Probability of the least certain tool or value, from 0 to 1, if probabilities are known. */
      confidence?: number;
      /** Tools of its steps that are not among those it was given. */
      added?: SelectedTool[];
    }
  | { kind: 'clarification'; question: string; missing: string[]; unserved: string[] }
  | { kind: 'needTools'; needTools: string }
  | { kind: 'unplannable'; reason: string }
  /** The plan fails the check: a written one even after its repair, a decided one by a fault of Winnow or of a schema. */
  | { kind: 'invalid'; issues: string[]; steps: unknown[] };

/** What both ways of planning need of a request. */
export interface PlanParts {
  readonly model: Model;
  readonly prompts: Prompts;
  readonly request: Request;
  readonly context: string;
  readonly defaults: boolean;
  readonly usage: Usage;
  readonly trace: Trace;
  readonly facts: RequestFacts;
  readonly signal: AbortSignal | undefined;
}

interface WriteParts extends PlanParts {
  readonly canNeedTools: boolean;
  readonly maxTokens: number;
}

/**
 * A valid first answer is the plan. An invalid answer gets one repair, which lists all its problems.
 *
 * @throws WinnowError errors of the model
 */
export async function writePlan(tools: readonly Tool[], parts: WriteParts): Promise<Written> {
  const { model, prompts, request, context, canNeedTools, defaults, maxTokens, usage, facts, signal, trace } = parts;
  const values = {
    tools: renderTools(tools),
    context,
    today: renderToday(request),
    locale: request.locale ?? 'that of the request',
    message: oneLine(request.message),
  };
  const byName = new Map(tools.map((tool) => [tool.name, tool]));
  const answer = await completeStructured({
    model,
    repair: prompts.repair,
    usage,
    onRepair: (issues) => trace.add('planning', 'the plan is repaired', { issues }),
    parse: (completion) => readPlan(completion, { tools: byName, message: values.message, defaults }),
    request: {
      stage: 'planning',
      prompt: prompts['plan-steps'].render(values),
      schema: { name: 'plan', schema: planAnswerSchema(tools, { canNeedTools }) },
      maxTokens,
      signal,
      about: {
        module: 'planning/write',
        promptName: prompts['plan-steps'].name,
        promptHash: prompts['plan-steps'].hash,
        variables: { ...values, tools: [...byName.keys()] },
        ...facts,
      },
    },
  });
  if (!answer.ok) return { kind: 'invalid', issues: [...answer.issues], steps: [] };
  if (answer.value.kind !== 'plan') return answer.value;
  return { ...answer.value, steps: await groundSteps(answer.value.steps, { tools: byName, request }) };
}

/** `null` equals an omitted property: servers with strict schemas write every property of an answer. */
const names = z.array(z.string()).nullish();
const said = z.string().trim().min(1);
const draftStep = z.object({
  id: z.string(),
  tool: z.string(),
  arguments: z
    .record(z.string(), z.unknown())
    .nullish()
    .transform((values) => values ?? {}),
  dependsOn: names.transform((ids) => ids ?? []),
});
const written = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('plan'), steps: z.array(draftStep).min(1) }),
  z.object({ kind: z.literal('clarification'), question: said, missing: names.transform((some) => some ?? []) }),
  z.object({ kind: z.literal('needTools'), needTools: said }),
  z.object({ kind: z.literal('unplannable'), reason: said }),
]);

interface ReadContext {
  tools: ReadonlyMap<string, Tool>;
  message: string;
  defaults?: boolean;
}

/** Exported for tests: turns a model's answer into a checked plan, a question, a missing tool, or the issues to repair. */
export async function readPlan(
  { text, finish }: Pick<Completion, 'text' | 'finish'>,
  { tools, message, defaults = false }: ReadContext,
): Promise<Parsed<Written>> {
  const json = readJson(text, (value) => written.safeParse(value).success);
  if (!json.ok) return finish === 'stop' ? json : { ok: false, issues: ['the answer was cut: write fewer steps'] };
  const shaped = parse(written, json.value, { root: 'answer' });
  if (!shaped.ok) return shaped;
  if (shaped.value.kind === 'clarification') return { ok: true, value: { ...shaped.value, unserved: [] } };
  if (shaped.value.kind !== 'plan') return { ok: true, value: shaped.value };
  const checked = await checkPlan(shaped.value.steps, tools, { defaults });
  if (!checked.ok) return checked;
  const { steps } = checked;
  return { ok: true, value: { kind: 'plan', goal: message, steps, levels: levelsOf(steps), unserved: [] } };
}
