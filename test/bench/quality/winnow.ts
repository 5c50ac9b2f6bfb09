/** Winnow as it is, and with each part off in turn. Time is not what is measured here, so its limits are out of the way. */
import type { Catalog } from '../../../src/core/catalog/catalog.js';
import { type OptionsInput, resolveOptions } from '../../../src/core/config/options.js';
import type { Model } from '../../../src/core/model/model.js';
import { createPlanner, type Planner } from '../../../src/core/planner.js';
import { createSheet } from '../../../src/core/selection/sheet.js';
import { askPlanner, WITHOUT_TIME_LIMITS } from './ask-planner.js';
import type { Arena, Contestant } from './contestant.js';
import type { QualitySet } from './sets.js';

type Options = OptionsInput | ((model: Model, catalog: Catalog) => OptionsInput);

interface Part {
  /** What is changed, in words. */
  title: string;
  options: Options;
  /** It is one of what is done where selection is skipped, too. */
  ofSkipped?: true;
  /** Where it would change nothing, for this reason; of a set: on all its catalogues. */
  idle?: { why: string; on: (catalog: Catalog, model: Model) => boolean };
}

/** Each part off in turn. */
export const PARTS: Readonly<Record<string, Part>> = {
  'no-producers': { title: 'producers off', options: { producers: false } },
  'one-reading': { title: 'one reading, no complements', options: { readings: 1 } },
  'model-order': { title: 'the order of the model alone', options: { keywordWeight: 0 } },
  'no-twins': { title: 'twins are not told apart', options: { twins: false } },
  'no-fill': { title: 'fill off', options: { fill: false } },
  names: {
    title: 'names in place of summaries',
    options: (model, catalog) => ({ summaryTokens: namesBudget(model, catalog), secondLook: false }),
    // Then the ladder goes on to the shortlist, with summaries.
    idle: { why: 'the names do not fit', on: (catalog, model) => namesBudget(model, catalog) > summaryRoom(model) },
  },
  'no-second-look': {
    title: 'no second look at what was chosen by names',
    options: { secondLook: false },
    idle: { why: 'not chosen by names alone', on: (catalog, model) => !areOnlyNamesShown(model, catalog) },
  },
  list: { title: 'list in place of rank', options: { answer: 'list' } },
  'list-alone': {
    title: 'list alone: no producers, no fill',
    options: { answer: 'list', producers: false, fill: false },
  },
  'rank-alone': {
    title: 'rank alone: one reading, 8 names',
    options: { keywordWeight: 0, producers: false, readings: 1, fill: false, core: 8 },
  },
  'no-rules': {
    title: 'rules off',
    options: { rules: false },
    idle: { why: 'no rules there', on: ({ rules }) => rules.length === 0 },
  },
  'no-companions': {
    title: 'companions off',
    options: { companions: false },
    idle: { why: 'no companions there', on: ({ tools }) => tools.every((tool) => tool.relatedTools.length === 0) },
  },
  'no-fit': { title: 'not asked whether the tools fit', options: { fitBelow: 0 }, ofSkipped: true },
};

/** Other ways to put the parts together, for those who tune them. */
const VARIANTS: Readonly<Record<string, Part>> = {
  'rank-keywords': {
    title: 'rank and keywords in turn: no producers, one reading',
    options: { keywordWeight: 0, producers: false, readings: 1, core: 1 },
  },
  'three-readings': { title: 'three readings', options: { readings: 3 } },
  'core-2': { title: 'two names count as chosen', options: { core: 2 } },
  'core-3': { title: 'three names count as chosen', options: { core: 3 } },
  'list-no-producers': { title: 'list, producers off', options: { answer: 'list', producers: false } },
};

export const WINNOW: readonly Contestant[] = [
  { id: 'winnow', title: 'Winnow', group: 'first', idleOn: () => undefined, enter: (arena) => enter(arena, {}) },
  ...toContestants(PARTS, 'part'),
  ...toContestants(VARIANTS, 'variant'),
];

function toContestants(parts: Readonly<Record<string, Part>>, group: Contestant['group']): Contestant[] {
  return Object.entries(parts).map(([id, part]) => ({
    id: `winnow-${id}`,
    title: `Winnow, ${part.title}`,
    group,
    idleOn: (arena) => idleOn(arena, part),
    enter: (arena) => enter(arena, part.options),
  }));
}

function idleOn({ set, model }: Pick<Arena, 'set' | 'model'>, { idle, ofSkipped }: Part): string | undefined {
  if (isTakenWhole(set) && !ofSkipped) return 'selection is skipped: few tools';
  const catalogs = [...new Set(set.cases.map((one) => set.catalogFor(one)))];
  return idle && catalogs.every((catalog) => idle.on(catalog, model)) ? idle.why : undefined;
}

function enter(arena: Arena, options: Options) {
  const planners = new WeakMap<Catalog, Planner>();
  const create = (catalog: Catalog) =>
    createPlanner({
      catalog,
      model: arena.model,
      options: {
        ...WITHOUT_TIME_LIMITS,
        ...passthroughOf(arena.set),
        maxTools: arena.maxTools,
        // What counts is what a plan would be made of.
        judge: 'all',
        ...(typeof options === 'function' ? options(arena.model, catalog) : options),
      },
    });
  return {
    answer: (trial: Parameters<typeof askPlanner>[1]) => {
      const planner = planners.get(trial.catalog) ?? create(trial.catalog);
      planners.set(trial.catalog, planner);
      return askPlanner(planner, trial);
    },
  };
}

function isTakenWhole({ others, given }: QualitySet): boolean {
  return others === 0 || given !== undefined;
}

/** More tools than the others may hand on would be no comparison; only where nothing has to be chosen all are taken. */
function passthroughOf(set: QualitySet): OptionsInput {
  return isTakenWhole(set) ? {} : { passthroughTools: 0, passthroughTokens: 0 };
}

/** Into which names fit, and nothing longer; 200 is the least that the option takes. */
function namesBudget(model: Model, { tools }: Catalog): number {
  return Math.max(200, model.countTokens(createSheet(tools, 'names').text));
}

function areOnlyNamesShown(model: Model, catalog: Catalog): boolean {
  const { summaryTokens } = resolveOptions();
  const sentences = model.countTokens(createSheet(catalog.tools, 'sentence').text);
  return sentences > summaryTokens && namesBudget(model, catalog) <= summaryTokens;
}

/** What selection gives to the summaries at most, whatever the option says. */
function summaryRoom({ limits }: Model): number {
  return Math.floor(limits.contextTokens * 0.6);
}
