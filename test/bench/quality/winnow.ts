/** Winnow as it is, and with each part off in turn. Time is not what is measured here, so its limits are out of the way. */
import type { Catalog } from '../../../src/core/catalog/catalog.js';
import type { Model } from '../../../src/core/model/model.js';
import type { OptionsInput } from '../../../src/core/options.js';
import { createPlanner, type Planner } from '../../../src/core/planner.js';
import type { Stage } from '../../../src/core/selection/candidates.js';
import { createSheet } from '../../../src/core/selection/ladder.js';
import { modelChoice } from '../../../src/core/selection/model-choice.js';
import { companions, DEFAULT_STAGES, fill, producers, rules } from '../../../src/core/selection/stages.js';
import { askPlanner, WITHOUT_TIME_LIMITS } from './ask-planner.js';
import type { Arena, Contestant } from './contestant.js';
import type { QualitySet } from './sets.js';

interface Part {
  /** What is changed, in words. */
  title: string;
  options?: (model: Model, catalog: Catalog) => OptionsInput;
  /** A list without one is an ablation. */
  without?: readonly Stage[];
  /** Where it would change nothing, for this reason; of a set: on all its catalogues. */
  idle?: { why: string; on: (catalog: Catalog, model: Model) => boolean };
}

/** Each part off in turn. */
export const PARTS: Readonly<Record<string, Part>> = {
  'no-producers': { title: 'producers off', without: [producers] },
  'no-fill': { title: 'fill off', without: [fill] },
  names: {
    title: 'names in place of summaries',
    options: (model, catalog) => ({ summaryTokens: namesBudget(model, catalog) }),
    // Then the ladder goes on to the shortlist, with summaries.
    idle: { why: 'the names do not fit', on: (catalog, model) => namesBudget(model, catalog) > summaryRoom(model) },
  },
  list: { title: 'list in place of rank', options: () => ({ answer: 'list' }) },
  'list-alone': {
    title: 'list alone: no producers, no fill',
    options: () => ({ answer: 'list' }),
    without: [producers, fill],
  },
  'rank-alone': { title: 'rank alone: no producers, no fill', without: [producers, fill] },
  'no-model': { title: 'no model: keywords fill', without: [modelChoice] },
  'no-rules': {
    title: 'rules off',
    without: [rules],
    idle: { why: 'no rules there', on: (catalog) => catalog.rules.length === 0 },
  },
  'no-companions': {
    title: 'companions off',
    without: [companions],
    idle: { why: 'no companions there', on: ({ tools }) => tools.every((tool) => tool.relatedTools.length === 0) },
  },
};

export const WINNOW: readonly Contestant[] = [
  { id: 'winnow', title: 'Winnow', group: 'first', idleOn: () => undefined, enter: (arena) => enter(arena, {}) },
  ...toContestants(PARTS, 'part'),
];

function toContestants(parts: Readonly<Record<string, Part>>, group: Contestant['group']): Contestant[] {
  return Object.entries(parts).map(([id, part]) => ({
    id: `winnow-${id}`,
    title: `Winnow, ${part.title}`,
    group,
    idleOn: (arena) => idleOn(arena, part),
    enter: (arena) => enter(arena, part),
  }));
}

function idleOn({ set, model }: Pick<Arena, 'set' | 'model'>, { idle }: Part): string | undefined {
  if (isTakenWhole(set)) return 'selection is skipped: few tools';
  const catalogs = [...new Set(set.cases.map((one) => set.catalogFor(one)))];
  return idle && catalogs.every((catalog) => idle.on(catalog, model)) ? idle.why : undefined;
}

function enter(arena: Arena, { options, without = [] }: Partial<Part>) {
  const planners = new WeakMap<Catalog, Planner>();
  const create = (catalog: Catalog) =>
    createPlanner({
      catalog,
      model: arena.model,
      stages: DEFAULT_STAGES.filter((stage) => !without.includes(stage)),
      options: {
        ...WITHOUT_TIME_LIMITS,
        ...passthroughOf(arena.set),
        maxTools: arena.maxTools,
        ...options?.(arena.model, catalog),
      },
    });
  return {
    answer: (trial: Parameters<typeof askPlanner>[1]) => {
      const planner = planners.get(trial.catalog) ?? create(trial.catalog);
      planners.set(trial.catalog, planner);
      // That no tool fits is told when a plan is made.
      return askPlanner(planner, { ...trial, wantsPlan: trial.wantsPlan || arena.set.isUnfit === true });
    },
  };
}

function isTakenWhole({ others, given }: QualitySet): boolean {
  return others === 0 || given !== undefined;
}

/** More tools than the others may hand on would be no comparison; only where nothing has to be chosen all are taken. */
function passthroughOf(set: QualitySet): OptionsInput {
  return isTakenWhole(set) ? {} : { passthroughTools: 0 };
}

/** Into which names fit, and nothing longer; 200 is the least that the option takes. */
function namesBudget(model: Model, { tools }: Catalog): number {
  return Math.max(200, model.countTokens(createSheet(tools, 'names').text));
}

/** What selection gives to the summaries at most, whatever the option says. */
function summaryRoom({ limits }: Model): number {
  return Math.floor(limits.contextTokens * 0.6);
}
