/**
 * How much work it is to check a value against a schema, counted before it is done: combinations of references can make
 * it double with each level of either. A pair of one node and one part of the value is looked at once, however often the
 * check comes by.
 */
import type { JsonSchema } from '../tool.js';
import { demandNodes, partsOf } from './bounds.js';
import { childrenOf, isObject, listOf, objectOf } from './json.js';

/** Takes about a fifth of a second. Arguments take some hundred steps; a result of 1 MiB takes about two thirds of it. */
export const MOST_WORK = 2 ** 17;

/** Characters that are read in the time of one step. */
const CHARACTERS_PER_STEP = 100;

/** What a node asks of a value, with its references resolved. */
interface Demand {
  /** Values that are compared, names that are looked up. */
  readonly own: number;
  readonly listed: number;
  readonly isUnique: boolean;
  readonly same: readonly JsonSchema[];
  readonly properties: ReadonlyMap<string, JsonSchema>;
  readonly patterns: readonly JsonSchema[];
  /** Of properties that `properties` does not name. */
  readonly others: readonly JsonSchema[];
  readonly names: readonly JsonSchema[];
  readonly items: readonly JsonSchema[];
  readonly places: readonly JsonSchema[];
}

function demandOf(node: JsonSchema, root: JsonSchema): Demand {
  const children = childrenOf(node);
  const schemasOf = (...keywords: string[]) =>
    children
      .filter(({ keyword }) => keywords.includes(keyword))
      .map(({ value }) => value)
      .filter(isObject);
  const properties = new Map(
    Object.entries(objectOf(node.properties)).flatMap(([name, part]) => (isObject(part) ? [[name, part]] : [])),
  );
  const { required, enum: values } = node;
  const listed = Array.isArray(values) ? values.length : 'const' in node ? 1 : 0;
  return {
    own: 1 + properties.size + listOf(required ?? []).length + demandNodes(node) + listed,
    listed,
    isUnique: node.uniqueItems === true,
    same: partsOf(node, root).same,
    properties,
    patterns: schemasOf('patternProperties'),
    others: schemasOf('additionalProperties', 'unevaluatedProperties'),
    names: schemasOf('propertyNames'),
    items: schemasOf('items', 'contains', 'unevaluatedItems'),
    places: schemasOf('prefixItems'),
  };
}

/** A function that tells the steps of one check; `Infinity` where they are more than `MOST_WORK`, or have no end. */
export function createWorkCount(root: JsonSchema): (value: unknown) => number {
  const demands = new Map<JsonSchema, Demand>();
  const demandsOf = (node: JsonSchema) => {
    const demand = demands.get(node) ?? demandOf(node, root);
    demands.set(node, demand);
    return demand;
  };
  return (value) => {
    const steps = countSteps(root, value, demandsOf);
    return steps > MOST_WORK ? Infinity : steps;
  };
}

/** Stands for all values that have no parts. */
const LEAF = Symbol('leaf');

function countSteps(root: JsonSchema, whole: unknown, demandsOf: (node: JsonSchema) => Demand): number {
  const known = new Map<JsonSchema, Map<unknown, number>>();
  const weigh = createScale();
  let looked = 0;

  const visit = (node: JsonSchema, value: unknown): number => {
    if (looked > MOST_WORK) return Infinity;
    const key = (typeof value === 'object' && value !== null) || weigh(value) > 1 ? value : LEAF;
    const ofNode = known.get(node) ?? new Map<unknown, number>();
    known.set(node, ofNode);
    const before = ofNode.get(key);
    if (before !== undefined) return before;
    // Who comes back here on the same value goes round without end.
    ofNode.set(key, Infinity);
    const demand = demandsOf(node);
    const isCompared = demand.isUnique || demand.listed > 0;
    const own =
      demand.own + (isCompared ? weigh(value) * Math.max(1, demand.listed) : key === LEAF ? 0 : weighText(value));
    looked += demand.own;
    const steps = own + sum(demand.same, (part) => visit(part, value)) + inner(demand, value);
    ofNode.set(key, steps);
    return steps;
  };

  const inner = (demand: Demand, value: unknown): number => {
    if (Array.isArray(value)) {
      looked += value.length;
      const { items, places } = demand;
      const all = items.length === 0 ? 0 : sum(value, (item) => sum(items, (part) => visit(part, item)));
      return all + sum(places, (part, place) => (place < value.length ? visit(part, value[place]) : 0));
    }
    if (!isObject(value)) return 0;
    const { properties, patterns, others, names } = demand;
    const keys = Object.keys(value);
    looked += keys.length * (1 + patterns.length);
    return sum(keys, (key) => {
      const property = properties.get(key);
      const parts = property ? [property, ...patterns] : [...others, ...patterns];
      const ofName = sum(names, (part) => visit(part, key));
      return 1 + patterns.length + ofName + sum(parts, (part) => visit(part, value[key]));
    });
  };

  return visit(root, whole);
}

function weighText(value: unknown): number {
  return typeof value === 'string' ? Math.floor(value.length / CHARACTERS_PER_STEP) : 0;
}

/** The parts of a value, long texts for several. */
function createScale(): (value: unknown) => number {
  const weights = new Map<unknown, number>();
  const weigh = (value: unknown): number => {
    if (typeof value !== 'object' || value === null) return 1 + weighText(value);
    const weight = weights.get(value) ?? sum(Object.values(value), weigh) + 1;
    weights.set(value, weight);
    return weight;
  };
  return weigh;
}

function sum<Item>(items: readonly Item[], count: (item: Item, place: number) => number): number {
  let total = 0;
  for (const [place, item] of items.entries()) total += count(item, place);
  return total;
}
