/** The missing producers of the chosen tools, each before the tool that needs it, to a fixpoint. */
import type { Tool } from '../../catalog/tool.js';
import { type Given, isGiven, namesSomething } from './given-values.js';
import type { Need } from './needs.js';
import type { ProducerGraph, Production } from './producer-graph.js';

export interface ProducerContext {
  readonly graph: ProducerGraph;
  readonly given: Given;
  /** How well a tool fits the request, 0 to 1: from the model's ranking and the keywords. */
  affinity(tool: Tool): number;
}

export interface Supplied {
  readonly tool: Tool;
  /** `tool.argument` whose value the result provides. */
  readonly serves: string;
}

const MAX_DEPTH = 3;
/** Who names something wants it searched for; who names nothing can't fill in a text to search for. */
const MISFIT = 0.75;
/** A producer weaker than this is a guess: it is not added. */
const MIN_STRENGTH = 0.45;

/**
 * Producers that `tool` needs and that are not in `present`, deepest first, so that they can be put before it.
 * A need is left alone where the request holds the value or a tool that is present provides it.
 */
export function missingProducers(tool: Tool, present: ReadonlySet<string>, context: ProducerContext): Supplied[] {
  const found = new Map<string, Supplied>();
  visit(tool, 0);
  return [...found.values()];

  function visit(consumer: Tool, depth: number): void {
    if (depth >= MAX_DEPTH) return;
    for (const need of context.graph.needsOf(consumer.name)) {
      // Which file a producer would work on is a guess upon a guess.
      if (!need.required || (need.isPath && depth > 0)) continue;
      if (isGiven(need, context.given) || isProvided(need)) continue;
      const best = bestProducer(need, context);
      if (!best || isThere(best.producer)) continue;
      visit(best.producer, depth + 1);
      found.set(best.producer.name, { tool: best.producer, serves: `${need.tool}.${need.argument}` });
    }
  }

  function isThere({ name }: Tool): boolean {
    return name === tool.name || present.has(name) || found.has(name);
  }

  function isProvided(need: Need): boolean {
    const names = [...present, ...found.keys()];
    return names.some((name) => name !== need.tool && context.graph.produces(name, need));
  }
}

/** The strongest producer, weighed by how well it fits this request. */
export function bestProducer(need: Need, context: ProducerContext): Production | undefined {
  const named = namesSomething(context.given.text);
  const weight = (production: Production) =>
    production.strength * (0.6 + context.affinity(production.producer)) * (production.takesText === named ? 1 : MISFIT);
  return context.graph
    .producersOf(need)
    .filter((production) => production.strength >= MIN_STRENGTH)
    .reduce<Production | undefined>(
      (best, one) => (best === undefined || weight(one) > weight(best) ? one : best),
      undefined,
    );
}
