/** The text of a model -> a step, or the problems to repair. */
import { z } from 'zod';
import { fittedSchemas, withoutNulls } from '../../../core/catalog/schema/normalise.js';
import type { Tool } from '../../../core/catalog/tool.js';
import type { Completion } from '../../../core/model/model.js';
import { type Parsed, readJson } from '../../../core/model/structured.js';

export type Step = { tool: string; arguments: Record<string, unknown> } | { answer: string };

const stepSchema = z.union([
  z.object({
    tool: z.string(),
    arguments: z
      .record(z.string(), z.unknown())
      .nullish()
      .transform((given) => given ?? {}),
  }),
  z.object({ answer: z.string() }),
]);

export interface ReadStepOptions {
  tools: ReadonlyMap<string, Tool>;
  canAnswer: boolean;
}

/** Arguments are not checked: who runs the tool does, and tells the model. */
export function readStep(
  { text, finish }: Pick<Completion, 'text' | 'finish'>,
  { tools, canAnswer }: ReadStepOptions,
): Parsed<Step> {
  const json = readJson(text, (value) => stepSchema.safeParse(value).success);
  if (!json.ok)
    return { ok: false, issues: finish !== 'stop' ? ['the answer was cut: write a shorter one'] : json.issues };
  const step = stepSchema.safeParse(json.value);
  if (!step.success) return { ok: false, issues: ['neither {"tool":"name","arguments":{...}} nor {"answer":"..."}'] };
  if ('answer' in step.data)
    return canAnswer ? { ok: true, value: step.data } : { ok: false, issues: ['answer: a tool has to be called now'] };
  const tool = tools.get(step.data.tool);
  if (!tool)
    return { ok: false, issues: [`tool: there is no "${step.data.tool}"; there are ${[...tools.keys()].join(', ')}`] };
  return {
    ok: true,
    value: { tool: tool.name, arguments: withoutNulls(step.data.arguments, fittedSchemas(tool).input) },
  };
}
