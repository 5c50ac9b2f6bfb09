import { isObject } from '../../catalog/schema/json.js';
import type { View } from '../../catalog/scope.js';
import type { JsonSchema, Tool } from '../../catalog/tool.js';
import type { Request } from '../../request.js';
import { bestProducer, missingProducers } from '../../selection/producers/add-producers.js';
import { givenOf, isGiven } from '../../selection/producers/given-values.js';
import { createProducerContext } from '../../selection/producers/producer-context.js';
import { producerGraphOf } from '../../selection/producers/producer-graph.js';
import { fittedSchemas } from '../fitted.js';

export interface Awaited {
  argument: string;
  producer: Tool;
  path: string;
}

/** Arguments of a tool that another tool's result provides and the request does not hold. */
export function awaitedOf(tool: Tool, view: View, request: Request, among: ReadonlySet<string>): Awaited[] {
  const graph = producerGraphOf(view);
  const context = createProducerContext(view, request, (n) => (among.has(n) ? 0.1 : 0));
  const given = givenOf(request);
  return graph.needsOf(tool.name).flatMap((need) => {
    if (!need.required || isGiven(need, given)) return [];
    const best = bestProducer(need, context);
    return best
      ? [{ argument: need.argument, producer: best.producer, path: fieldFor(best.producer, need.argument) }]
      : [];
  });
}
export function producesFor(producer: string, tool: Tool, view: View): string[] {
  const graph = producerGraphOf(view);
  return graph
    .needsOf(tool.name)
    .filter((need) => graph.produces(producer, need))
    .map((need) => need.argument);
}
export function serves(producer: string, consumer: Tool, view: View, request: Request): boolean {
  return missingProducers(consumer, new Set(), createProducerContext(view, request)).some(
    (x) => x.tool.name === producer,
  );
}

export function fieldFor(producer: Tool, argument: string): string {
  const output = fittedSchemas(producer).output;
  const found: { path: string; name: string; depth: number }[] = [];
  const defs = output;
  const walk = (schema: unknown, path: string, depth: number): void => {
    if (!isObject(schema) || depth > 4) return;
    if (typeof schema.$ref === 'string') {
      const target = schema.$ref
        .replace(/^#\//u, '')
        .split('/')
        .reduce<unknown>((node, part) => (isObject(node) ? node[part] : undefined), defs);
      return walk(target, path, depth + 1);
    }
    if (isObject(schema.items)) walk(schema.items, `${path}[0]`, depth + 1);
    if (isObject(schema.properties))
      for (const [name, inner] of Object.entries(schema.properties)) {
        const here = path === '' ? name : `${path}.${name}`;
        found.push({ path: here, name, depth });
        walk(inner, here, depth + 1);
      }
  };
  walk(output, '', 0);
  const last =
    argument
      .split(/[_A-Z]/u)
      .at(-1)
      ?.toLowerCase() ?? argument;
  const best =
    found.find(({ name }) => name === argument) ??
    found.find(
      ({ name }) => name.toLowerCase().replace(/[_-]/gu, '') === argument.toLowerCase().replace(/[_-]/gu, ''),
    ) ??
    found.find(({ name }) => name === last || name === 'id') ??
    found.find(({ name }) => /id$/iu.test(name));
  return best?.path ?? argument;
}

export function handlesOf(tool: Tool, view: View): string[] {
  return producerGraphOf(view)
    .needsOf(tool.name)
    .map((need) => need.argument);
}

const MAX_FIELDS = 30;

export function fieldsOf(producer: Tool | undefined): { path: string; schema: JsonSchema }[] {
  const output = producer && fittedSchemas(producer).output;
  if (!output) return [];
  const found: { path: string; schema: JsonSchema }[] = [];
  const walk = (schema: unknown, path: string, depth: number): void => {
    if (!isObject(schema) || depth > 4) return;
    if (typeof schema.$ref === 'string') {
      const target = schema.$ref
        .replace(/^#\//u, '')
        .split('/')
        .reduce<unknown>((node, part) => (isObject(node) ? node[part] : undefined), output);
      return walk(target, path, depth + 1);
    }
    if (path !== '') found.push({ path, schema });
    if (isObject(schema.items)) walk(schema.items, `${path}[0]`, depth + 1);
    if (isObject(schema.properties))
      for (const [name, inner] of Object.entries(schema.properties))
        walk(inner, path === '' ? name : `${path}.${name}`, depth + 1);
  };
  walk(output, '', 0);
  return found.slice(0, MAX_FIELDS);
}
