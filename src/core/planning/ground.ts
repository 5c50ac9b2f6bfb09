/** Where the arguments of a written plan come from, told after the fact in the words of plans by deciding. */
import { isObject } from '../catalog/schema/json.js';
import { fittedSchemas } from '../catalog/schema/normalise.js';
import type { JsonSchema, Tool } from '../catalog/tool.js';
import type { Request } from '../request.js';
import type { SourceName, Step } from '../result.js';
import { readSaid, type Said } from './decide/said.js';
import { folded, isClosed, plainSchema } from './decide/sources.js';
import { findReferences } from './references.js';
import { dayIn, formOf, momentsIn } from './times.js';

interface Known {
  readonly said: Said;
  readonly text: string;
  readonly day: string;
  readonly timeZone: string | undefined;
}

const NOTHING_SAID: Said = { times: [], numbers: [], durations: [] };

/**
 * Labels each argument with its source; no value is changed. `unknown` marks an identifier, a number or a moment that
 * neither the request nor an earlier step holds.
 */
export async function groundSteps(
  steps: readonly Step[],
  { tools, request }: { tools: ReadonlyMap<string, Tool>; request: Request },
): Promise<Step[]> {
  const { message, history = [], entities = {}, timeZone } = request;
  const spoken = [message, ...history.map(({ content }) => content), JSON.stringify(entities)].join('\n');
  const known = { text: folded(spoken), day: request.today ?? dayIn(timeZone), timeZone };
  const labelled = labelSteps(steps, tools, { ...known, said: NOTHING_SAID });
  // Reading what was said takes longer than all else: only for values that are not in the request as they stand there.
  const isClear = labelled.every(({ from = {} }) => !Object.values(from).includes('unknown'));
  return isClear ? labelled : labelSteps(steps, tools, { ...known, said: await readSaid(request) });
}

function labelSteps(steps: readonly Step[], tools: ReadonlyMap<string, Tool>, known: Known): Step[] {
  return steps.map((step) => {
    const tool = tools.get(step.tool);
    const root = tool ? fittedSchemas(tool).input : {};
    const properties = isObject(root.properties) ? root.properties : {};
    const from = Object.entries(step.arguments).map(([name, value]) => {
      return [name, sourceOf(value, plainSchema(properties[name], root), known)] as const;
    });
    return { ...step, from: Object.fromEntries(from) };
  });
}

/** From the surest to the least sure: a list or an object is as sure as its least sure part. */
const ORDER: readonly SourceName[] = ['step', 'request', 'enum', 'default', 'computed', 'composed', 'unknown'];

function sourceOf(value: unknown, schema: JsonSchema, known: Known): SourceName {
  if (Array.isArray(value))
    return weakest(value.map((item) => sourceOf(item, plainSchema(schema.items, schema), known)));
  if (isObject(value)) {
    const properties = isObject(schema.properties) ? schema.properties : {};
    return weakest(
      Object.entries(value).map(([name, inner]) => sourceOf(inner, plainSchema(properties[name], schema), known)),
    );
  }
  if (typeof value === 'string' && findReferences(value).length > 0) return 'step';
  if (isClosed(schema) || typeof value === 'boolean') return 'enum';
  if ('default' in schema && schema.default === value) return 'default';
  return typeof value === 'number' ? sourceOfNumber(value, known) : sourceOfText(String(value), schema, known);
}

function sourceOfNumber(value: number, { said, text }: Known): SourceName {
  if (said.numbers.some((one) => one.value === value) || text.includes(String(value))) return 'request';
  const isDuration = said.durations.some(({ seconds }) => [1, 60, 3600, 86_400, 604_800].includes(seconds / value));
  return isDuration ? 'computed' : 'unknown';
}

function sourceOfText(value: string, schema: JsonSchema, known: Known): SourceName {
  if (known.text.includes(folded(value))) return 'request';
  const form = formOf(schema);
  if (momentsIn(form, known.said.times, known).some((moment) => moment.startsWith(value) || value.startsWith(moment)))
    return 'computed';
  return form !== undefined || isIdentifier(value) ? 'unknown' : 'composed';
}

/** One word with digits, an address or a path: nobody composes these. */
export function isIdentifier(value: string): boolean {
  return !/\s/u.test(value) && /[\d@/:_]/u.test(value);
}

export function weakest(sources: readonly SourceName[]): SourceName {
  return ORDER.findLast((source) => sources.includes(source)) ?? 'request';
}
