/** What a model wrote -> a checked plan, a question, what is missing, or the problems to repair. */
import { z } from 'zod';
import type { Tool } from '../catalog/tool.js';
import type { Completion } from '../model/model.js';
import { type Parsed, readJson } from '../model/structured.js';
import { parse } from '../parse.js';
import type { Step } from '../result.js';
import { checkPlan, levelsOf } from './check-plan.js';

export type Written =
  | {
      kind: 'plan';
      goal: string;
      steps: Step[];
      levels: string[][];
      /** Parts of the request that no tool serves. */
      unserved: string[];
      /** Of the least sure decision, between 0 and 1, where probabilities are known. */
      confidence?: number;
    }
  | { kind: 'clarification'; question: string; missing: string[] }
  | { kind: 'needTools'; needTools: string }
  | { kind: 'unplannable'; reason: string }
  /** Decided, and not passing the check: an error of ours or of a schema, told with what there is. */
  | { kind: 'invalid'; issues: string[]; steps: unknown[] };

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
    question: z.string().trim().min(1),
    missing: orLeftOut(z.array(z.string())).transform((names) => names ?? []),
  }),
  z.object({ kind: z.literal('needTools'), needTools: z.string().trim().min(1) }),
  z.object({ kind: z.literal('unplannable'), reason: z.string().trim().min(1) }),
]);

export interface ReadContext {
  tools: ReadonlyMap<string, Tool>;
  /** Of the user; also the goal of the plan where the model gives none. */
  message: string;
  /** Whether arguments that were left out are written down where the tool has a default for them. Default: false. */
  defaults?: boolean;
}

export function readPlan(
  completion: Pick<Completion, 'text' | 'finish'>,
  { tools, message, defaults = false }: ReadContext,
): Parsed<Written> {
  const json = readJson(completion.text, (value) => written.safeParse(value).success);
  if (!json.ok)
    return {
      ok: false,
      issues: completion.finish !== 'stop' ? ['the answer was cut: write fewer steps'] : json.issues,
    };
  const shaped = parse(written, json.value, { root: 'answer' });
  if (!shaped.ok) return shaped;
  if (shaped.value.kind !== 'plan') return { ok: true, value: shaped.value };
  const drafts = shaped.value.steps.map((step, place) => ({ ...step, id: String(step.id ?? `s${place + 1}`) }));
  const checked = checkPlan(drafts, tools, { defaults });
  if (!checked.ok) return checked;
  const { steps } = checked;
  const goal = shaped.value.goal ?? message;
  return { ok: true, value: { kind: 'plan', goal, steps, levels: levelsOf(steps), unserved: [] } };
}
