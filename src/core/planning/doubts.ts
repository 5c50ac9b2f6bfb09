/** What is likely wrong in a valid plan, and the schema under which it can't be written again. */
import { secretNamesOf } from '../catalog/secret-arguments.js';
import type { Tool } from '../catalog/tool.js';
import type { Step } from '../result.js';
import { inventedIds } from './invented-ids.js';
import type { PlanSchemaOptions } from './plan-schema.js';
import { ungivenValues } from './ungiven-values.js';
import { unsaidDates } from './unsaid-dates.js';
import { type Stated, useOf } from './unused-values.js';

export interface Doubts {
  readonly problems: readonly string[];
  /** Undefined where no schema helps. */
  readonly narrowed: Pick<PlanSchemaOptions, 'awaited' | 'choices'> | undefined;
  /** Tools all of whose steps run on identifiers which nobody gave. */
  readonly unsupplied: readonly string[];
}

/** What was known before the plan was written. */
export interface Known {
  tools: ReadonlyMap<string, Tool>;
  message: string;
  /** All that the model was told of the request. */
  said: string;
  stated: Stated;
  /** Begins with the day: `2026-11-22 (Sunday)`. */
  today: string;
}

export const NO_DOUBTS: Doubts = { problems: [], narrowed: undefined, unsupplied: [] };

export function doubtsOf(steps: readonly Step[], { tools, message, said, stated, today }: Known): Doubts {
  const ungiven = ungivenValues(steps, { tools, said });
  const invented = inventedIds(steps, { tools, said });
  const { unused } = useOf(stated, JSON.stringify(steps.map((step) => step.arguments)));
  const choices = unused.length > 0 ? unsaidDates(steps, { message, today }) : [];
  return {
    problems: [...[...ungiven, ...invented].map(({ problem }) => problem), ...problemsOf(unused, tools)],
    narrowed: ungiven.length + choices.length > 0 ? { awaited: ungiven, choices } : undefined,
    unsupplied: unsuppliedTools(steps, new Set(invented.map(({ step }) => step))),
  };
}

function unsuppliedTools(steps: readonly Step[], lacking: ReadonlySet<string>): string[] {
  const supplied = new Set(steps.filter(({ id }) => !lacking.has(id)).map(({ tool }) => tool));
  return [...new Set(steps.map(({ tool }) => tool))].filter((tool) => !supplied.has(tool));
}

function problemsOf(unused: readonly string[], tools: Known['tools']): string[] {
  if (unused.length === 0) return [];
  // A part of a secret is not masked in a log, as the whole is.
  const hidden = secretNamesOf([...tools.values()]).length > 0 ? 'one of the values' : undefined;
  return unused.map((text) => `no step uses ${hidden ?? text}, which the request states: does it belong into one?`);
}
