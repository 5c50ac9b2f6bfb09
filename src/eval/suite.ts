/** A set of cases with the catalogue that they are about, and the planners that do them: one a cache, one without. */
import type { Catalog } from '../core/catalog/catalog.js';
import type { Tool } from '../core/catalog/tool.js';
import type { Model } from '../core/model/model.js';
import type { OptionsInput } from '../core/options.js';
import { createPlanner, type Planner } from '../core/planner.js';
import { loadPrompts, type PromptPaths } from '../core/prompts/prompts.js';
import { createSchemaTokens } from '../core/selection/budget.js';
import type { AnswerCache } from './answer-cache.js';
import { createRecorder, type Recorder, type RecorderOptions } from './recorder.js';

/** Planning is judged alone: selection is skipped whatever the number of tools, and nothing keeps a case from its plan. */
export const PLANNING_ALONE = { passthroughTools: 128 } satisfies OptionsInput;

export interface Suite {
  readonly name: string;
  readonly catalog: Catalog;
  /** JSON lines. */
  readonly caseFile: string;
}

export interface RecordedPlanner {
  readonly planner: Planner;
  readonly recorder: Recorder;
}

export interface SuitePlanners {
  readonly catalog: Catalog;
  /** Repeats are independent tries: only the first one may be answered from the cache. */
  plannerFor(repeat: number): RecordedPlanner;
  readonly schemaTokens: (tool: Tool) => number;
}

export interface AnsweringModel {
  model: Model;
  /** Without it every answer is asked for. */
  cache?: AnswerCache | undefined;
}

export interface SuitePlannerOptions extends AnsweringModel {
  /** Default: `model` plans too. */
  planning?: AnsweringModel | undefined;
  options: OptionsInput;
  prompts?: PromptPaths | undefined;
  onStablePart: RecorderOptions['onStablePart'];
}

/**
 * Planners over a catalogue that record every call of the model.
 * @throws WinnowError `invalid_option`, `prompt_invalid`
 * @example
 * const planners = createSuitePlanners({ catalog }, { model, options: {}, onStablePart: () => {} });
 */
export function createSuitePlanners(
  suite: Pick<Suite, 'catalog'> & Partial<Suite>,
  parts: SuitePlannerOptions,
): SuitePlanners {
  const { planning, options, prompts, onStablePart } = parts;
  const { catalog } = suite;
  const record = (isCached: boolean): RecordedPlanner => {
    const modelOf = (one: AnsweringModel) => (isCached && one.cache ? one.cache.model : one.model);
    const caches = isCached ? [parts.cache, planning?.cache] : [];
    const recorder = createRecorder(modelOf(parts), {
      planningModel: planning && modelOf(planning),
      wasRemembered: (request) => caches.some((cache) => cache?.wasRemembered(request)),
      onStablePart,
    });
    const { model, planningModel } = recorder;
    return { recorder, planner: createPlanner({ catalog, model, planningModel, options, prompts }) };
  };
  const fresh = record(false);
  const first = parts.cache || planning?.cache ? record(true) : fresh;
  return {
    catalog,
    plannerFor: (repeat) => (repeat === 0 ? first : fresh),
    schemaTokens: createSchemaTokens((planning ?? parts).model),
  };
}

/** Name of each prompt -> hash of its file. @throws WinnowError `prompt_invalid` */
export function promptHashesOf(paths: PromptPaths): Record<string, string> {
  return Object.fromEntries(Object.values(loadPrompts(paths)).map(({ name, hash }) => [name, hash]));
}
