/**
 * What a case sees where that is not the whole catalogue, always in the catalogue's order: where a tool stands says
 * nothing of whether it is needed.
 */
import { type Catalog, createCatalog } from '../../../src/core/catalog/catalog.js';
import { createScope } from '../../../src/core/catalog/scope.js';
import type { EvaluationCase } from '../../../src/eval/case.js';
import { offeredTools } from '../../../src/eval/case-runner.js';
import { randomFor, sampleOf } from '../../../src/eval/random.js';

export type CatalogFor = (one: EvaluationCase) => Catalog;

/**
 * Candidates among at least `others` other tools. Cases in a row see the same: the candidates of one are others for its
 * neighbours, and what is missing to the number comes by chance. So a prompt's beginning is read once for many cases.
 */
export function offerCandidates(
  catalog: Catalog,
  cases: readonly EvaluationCase[],
  { others, seed }: { others: number; seed: number },
): CatalogFor {
  const offers = new Map<string, Catalog>();
  for (const { members, names } of groupsOf(cases, others)) {
    const most = Math.max(...members.map(countCandidates));
    const rest = catalog.tools.map(({ name }) => name).filter((name) => !names.has(name));
    const random = randomFor(seed, `${catalog.name}:${members[0]?.id}`);
    const added = sampleOf(rest, Math.max(0, others + most - names.size), random);
    const offer = only(catalog, new Set([...names, ...added]));
    for (const { id } of members) offers.set(id, offer);
  }
  return lookUpIn(offers);
}

/** The expected tools and others, so many in all. */
export function offerNeeded(
  catalog: Catalog,
  cases: readonly EvaluationCase[],
  { count, seed }: { count: number; seed: number },
): CatalogFor {
  const viewOf = createScope(catalog);
  const judging = { only: 'plan', maxTools: count, candidates: 'all', distractors: 0, seed } as const;
  const offers = cases.map((one): [string, Catalog] => {
    const names = offeredTools(one, viewOf(one.request), judging);
    return [one.id, only(catalog, new Set(names))];
  });
  return lookUpIn(new Map(offers));
}

interface Group {
  members: EvaluationCase[];
  /** Candidates of all members. */
  names: Set<string>;
}

/** As long as none of a group sees more than `others` candidates of its neighbours. */
function groupsOf(cases: readonly EvaluationCase[], others: number): Group[] {
  const groups: Group[] = [];
  for (const one of cases) {
    const group = groups.at(-1) ?? { members: [], names: new Set<string>() };
    const members = [...group.members, one];
    const names = new Set([...group.names, ...(one.candidates ?? [])]);
    const fewest = Math.min(...members.map(countCandidates));
    if (groups.length > 0 && names.size - fewest <= others) groups[groups.length - 1] = { members, names };
    else groups.push({ members: [one], names: new Set(one.candidates) });
  }
  return groups;
}

function countCandidates({ candidates }: EvaluationCase): number {
  return new Set(candidates).size;
}

function lookUpIn(offers: ReadonlyMap<string, Catalog>): CatalogFor {
  return ({ id }) => {
    const offer = offers.get(id);
    if (!offer) throw new RangeError(`"${id}" is no case of this set.`);
    return offer;
  };
}

function only({ tools, name, rules }: Catalog, names: ReadonlySet<string>): Catalog {
  return createCatalog(
    tools.filter((tool) => names.has(tool.name)),
    { name, rules },
  );
}
