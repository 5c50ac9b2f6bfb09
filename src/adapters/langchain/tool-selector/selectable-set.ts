/** A set of bound tools as a planner sees it, made once a set: an agent hands the same objects on at each step. */
import type { ClientTool } from '@langchain/core/tools';
import { createCatalog } from '../../../core/catalog/catalog.js';
import type { Rule } from '../../../core/catalog/rule.js';
import { createPlanner, type Planner, type PlannerParts } from '../../../core/planner.js';
import { toolsFromLangChain } from '../bound-tools.js';

export interface SelectableSet {
  readonly tools: readonly ClientTool[];
  /** Changes when a name, a description or a schema does; the same in every process. */
  readonly fingerprint: string;
  readonly names: ReadonlySet<string>;
  readonly planner: Pick<Planner, 'select'>;
}

export interface SetParts {
  readonly planner: Omit<PlannerParts, 'catalog'>;
  readonly rules?: readonly Rule[] | undefined;
}

/** Agents with other tools that share a middleware, or tools that other middleware puts in and takes out. */
const MAX_SETS = 16;

/** @returns a function that throws WinnowError `invalid_catalog` for tools that are not usable, `invalid_option` */
export function createSelectableSets({ planner: parts, rules = [] }: SetParts) {
  /** The one used last stands last. */
  const known: SelectableSet[] = [];
  return (tools: readonly ClientTool[]): SelectableSet => {
    const place = known.findIndex((set) => isSame(set.tools, tools));
    const [found] = place < 0 ? [] : known.splice(place, 1);
    const set = found ?? build(tools);
    known.push(set);
    if (known.length > MAX_SETS) known.shift();
    return set;
  };

  function build(tools: readonly ClientTool[]): SelectableSet {
    const catalog = createCatalog(toolsFromLangChain(tools), { name: "the agent's tools", rules });
    const names = new Set(catalog.tools.map(({ name }) => name));
    return { tools, names, fingerprint: catalog.fingerprint, planner: createPlanner({ ...parts, catalog }) };
  }
}

function isSame(one: readonly ClientTool[], other: readonly ClientTool[]): boolean {
  return one.length === other.length && one.every((tool, place) => tool === other[place]);
}
