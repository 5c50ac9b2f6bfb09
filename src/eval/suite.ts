/**
 * A set of cases with its catalogue and planners. The planners' models record prompts and answers; one model serves all cases,
 * so the request id separates their calls.
 */
import { createHash } from 'node:crypto';
import type { Catalog } from '../core/catalog/catalog.js';
import type { Tool } from '../core/catalog/tool.js';
import type { WinnowError } from '../core/errors.js';
import { keepLatest } from '../core/kept.js';
import {
  type CallEnd,
  type CompletionRequest,
  type Model,
  type ReaderRequest,
  watchModel,
} from '../core/model/model.js';
import type { OptionsInput } from '../core/options.js';
import { createPlanner, type Planner } from '../core/planner.js';
import { loadPrompts, type PromptPaths } from '../core/prompts/prompts.js';
import { createSchemaTokens } from '../core/selection/budget.js';
import type { AnswerCache } from './answer-cache.js';
import type { ModelCall } from './record.js';

/** Skips selection for any number of tools, so that planning is judged alone. */
export const PLANNING_ALONE = { passthroughTools: 128 } satisfies OptionsInput;

export interface Suite {
  readonly name: string;
  readonly catalog: Catalog;
  /** A file of JSON lines. */
  readonly caseFile: string;
}

/** A recorded call of the model. */
export interface RecordedCall extends ModelCall {
  readonly isReading: boolean;
  readonly failure?: WinnowError;
  /** The text behind the hash `system`. */
  readonly stablePart: string;
}

export interface RecordedPlanner {
  readonly planner: Planner;
  /** Returns and removes the calls of a request, in the order in which they ended. */
  takeCalls(requestId: string): RecordedCall[];
}

export interface SuitePlanners {
  readonly catalog: Catalog;
  /** Repeats are independent, so only the first may use the cache. */
  plannerFor(repeat: number): RecordedPlanner;
  readonly schemaTokens: (tool: Tool) => number;
}

export interface AnsweringModel {
  model: Model;
  /** Without it, every answer comes from the model. */
  cache?: AnswerCache | undefined;
}

/** Called with each stable part of a prompt, at least once. */
export type OnStablePart = (hash: string, text: string) => void;

export interface SuitePlannerOptions extends AnsweringModel {
  /** Default: `model` plans too. */
  planning?: AnsweringModel | undefined;
  options: OptionsInput;
  prompts?: PromptPaths | undefined;
  onStablePart: OnStablePart;
}

/**
 * Planners over a catalogue that record every call of the model.
 * @throws WinnowError `invalid_option`, `prompt_invalid`
 * @example
 * const planners = createSuitePlanners({ catalog }, { model, options: {}, onStablePart: () => {} });
 */
export function createSuitePlanners({ catalog }: Pick<Suite, 'catalog'>, parts: SuitePlannerOptions): SuitePlanners {
  const { planning } = parts;
  const fresh = recordedPlanner(catalog, parts, false);
  const first = parts.cache || planning?.cache ? recordedPlanner(catalog, parts, true) : fresh;
  return {
    catalog,
    plannerFor: (repeat) => (repeat === 0 ? first : fresh),
    schemaTokens: createSchemaTokens((planning ?? parts).model),
  };
}

/** Hashes kept, since hashing long stable parts repeatedly would dominate the cost. */
const MAX_KEPT_PARTS = 200;

function recordedPlanner(catalog: Catalog, parts: SuitePlannerOptions, isCached: boolean): RecordedPlanner {
  const { planning, options, prompts, onStablePart } = parts;
  const caches = isCached ? [parts.cache, planning?.cache] : [];
  const calls = new Map<string, RecordedCall[]>();
  const hashes = new Map<string, string>();

  const hashOf = (system: string): string => {
    const hash = hashes.get(system) ?? createHash('sha256').update(system).digest('hex').slice(0, 16);
    if (!hashes.has(system)) onStablePart(hash, system);
    keepLatest(hashes, [system, hash], MAX_KEPT_PARTS);
    return hash;
  };
  const record = (request: CompletionRequest | ReaderRequest, end: CallEnd, startedAt: number) => {
    const requestId = request.about?.requestId ?? '';
    const call: RecordedCall = {
      stage: request.stage ?? 'selection',
      isReading: 'opening' in request,
      answer: end.completion?.text ?? '',
      ...(end.error ? { error: `${end.error.code}: ${end.error.message}`, failure: end.error } : {}),
      usage: { ...end.usage },
      milliseconds: millisecondsSince(startedAt),
      system: hashOf(request.prompt.system),
      stablePart: request.prompt.system,
      user: request.prompt.user,
      fromCache: caches.some((cache) => cache?.wasRemembered(request)),
    };
    calls.set(requestId, [...(calls.get(requestId) ?? []), call]);
  };
  const recorded = (one: AnsweringModel) =>
    watchModel(isCached && one.cache ? one.cache.model : one.model, (request) => {
      const startedAt = performance.now();
      return (end) => record(request, end, startedAt);
    });
  const planningModel = planning && recorded(planning);
  return {
    planner: createPlanner({ catalog, model: recorded(parts), planningModel, options, prompts }),
    takeCalls(requestId) {
      const taken = calls.get(requestId) ?? [];
      calls.delete(requestId);
      return taken;
    },
  };
}

/** Milliseconds to a tenth, as in records. `startedAt` comes from `performance.now()`. */
export function millisecondsSince(startedAt: number): number {
  return Math.round((performance.now() - startedAt) * 10) / 10;
}

/** Name of each prompt -> hash of its file. @throws WinnowError `prompt_invalid` */
export function promptHashesOf(paths: PromptPaths): Record<string, string> {
  return Object.fromEntries(Object.values(loadPrompts(paths)).map(({ name, hash }) => [name, hash]));
}
