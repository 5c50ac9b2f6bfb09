/** How the second attempt is asked where the first can't be used or is doubted, and whether it takes the first one's place. */
import type { Tool } from '../catalog/tool.js';
import type { Completion, CompletionRequest } from '../model/model.js';
import type { Step } from '../result.js';
import type { Doubts } from './doubts.js';
import { openPlaceOf } from './open-place.js';
import type { PlanSchemaOptions } from './plan-schema.js';
import type { Written } from './read-plan.js';
import { requiredAt } from './required-at.js';

export type SchemaChange = Partial<Pick<PlanSchemaOptions, 'awaited' | 'choices' | 'without'>>;

export interface SecondAttempt {
  tools: readonly Tool[];
  byName: ReadonlyMap<string, Tool>;
  /** Names of the tools that planning should look at first. */
  likely: readonly string[];
  /** Names of tools that were not chosen but fill free room. */
  further: ReadonlySet<string>;
  /** Names of the tools that the request calls by a word of their own. */
  called: () => readonly string[];
  schemaFor(tools: readonly Tool[], change: SchemaChange): CompletionRequest['schema'];
}

export interface FirstAnswer {
  completion: Completion;
  /** Of its plan, where it was a valid one. */
  steps: readonly Step[];
  doubted: Doubts;
}

/** Under it the same can't go wrong again; undefined where no schema helps. */
export function narrowedSchema(first: FirstAnswer, attempt: SecondAttempt): CompletionRequest['schema'] {
  const { completion, doubted } = first;
  const { tools } = attempt;
  const dispensable = dispensableTools(first, attempt);
  if (doubted.narrowed || dispensable.length > 0)
    return attempt.schemaFor(without(tools, dispensable), { ...doubted.narrowed });
  return completion.finish === 'stop' ? undefined : schemaWithoutOpenPlace(completion, attempt);
}

/** Where the answer was cut or ran in a loop: without the argument in which it was. */
function schemaWithoutOpenPlace({ text, finish }: Completion, { tools, byName, likely, schemaFor }: SecondAttempt) {
  const open = openPlaceOf(text);
  if (!open) return undefined;
  const isRequired = requiredAt(byName.get(open.tool))?.includes(open.argument);
  if (!isRequired) return schemaFor(tools, { without: open });
  if (finish !== 'loop') return undefined;
  // There is no value for it. Without the tool there may be a plan where the request does not speak of it.
  return schemaFor(likely.includes(open.tool) ? [] : without(tools, [open.tool]), {});
}

/**
 * In place of a valid plan no plan is better that leaves something out, but for steps that nobody asked for and that run on
 * an identifier which nobody gave. A question is better where all steps do.
 * @returns the tools whose steps are left out then; undefined where the first plan stays
 */
export function leftOutBy(second: Written, first: FirstAnswer, attempt: SecondAttempt): readonly string[] | undefined {
  if (second.kind === 'clarification') return isWithoutSupply(first) ? [] : undefined;
  if (second.kind !== 'plan') return undefined;
  const kept = new Set(second.steps.map(({ tool }) => tool));
  const lost = [...new Set(first.steps.map(({ tool }) => tool))].filter((tool) => !kept.has(tool));
  const dispensable = dispensableTools(first, attempt);
  return lost.every((tool) => dispensable.includes(tool)) ? lost : undefined;
}

/**
 * Of steps on identifiers that nobody gave, where other steps are left: the tools that only fill free room, and that the
 * request does not call.
 */
function dispensableTools(first: FirstAnswer, { further, called }: SecondAttempt): string[] {
  if (isWithoutSupply(first)) return [];
  const found = first.doubted.unsupplied.filter((name) => further.has(name));
  const wanted = found.length > 0 ? called() : [];
  return found.filter((name) => !wanted.includes(name));
}

function isWithoutSupply({ steps, doubted: { unsupplied } }: FirstAnswer): boolean {
  return steps.every(({ tool }) => unsupplied.includes(tool));
}

function without(tools: readonly Tool[], names: readonly string[]): Tool[] {
  return tools.filter(({ name }) => !names.includes(name));
}
