/** Small catalogues, planners and answers for the tests of the path of a request. */
import { createCatalog } from '../../../src/core/catalog/catalog.js';
import type { Rule } from '../../../src/core/catalog/rule.js';
import { createScope, type View } from '../../../src/core/catalog/scope.js';
import { parseTool, type Tool, type ToolEntry } from '../../../src/core/catalog/tool.js';
import { createPlanner, type Planner, type PlannerParts } from '../../../src/core/planner.js';
import type { TraceEvent } from '../../../src/core/result.js';

/** A `builtin` tool that reads; without a word about its arguments it takes none. */
export function makeTool(name: string, entry: Partial<ToolEntry> = {}): Tool {
  const { origin = 'test', ...rest } = entry;
  const parsed = parseTool({ name, toolType: 'builtin', risk: 'low', ...rest }, { origin, index: 0 });
  if (!parsed.ok) throw new Error(parsed.issues.map((issue) => issue.message).join('; '));
  return parsed.tool;
}

/** A tool of these arguments, all of them required unless some are named. */
export function toolOf(name: string, properties: object, required: readonly string[] = Object.keys(properties)): Tool {
  return makeTool(name, {
    inputSchema: { type: 'object', properties, ...(required.length > 0 ? { required } : {}) },
  });
}

/** An object schema in which the named string arguments are required. */
export function needing(...names: string[]): Record<string, unknown> {
  return { type: 'object', properties: stringProperties(names), required: names };
}

/** An object schema of named string fields. */
export function returning(...names: string[]): Record<string, unknown> {
  return { type: 'object', properties: stringProperties(names) };
}

function stringProperties(names: readonly string[]): Record<string, unknown> {
  return Object.fromEntries(names.map((name) => [name, { type: 'string' }]));
}

/** Tools that have no word in common, so that keywords tell them apart. */
export const TOOLS: readonly Tool[] = [
  makeTool('read_mail', { description: 'Reads the letters of the inbox.', category: 'office' }),
  makeTool('book_flight', { description: 'Buys a seat in an aeroplane.', category: 'travel' }),
  makeTool('find_hotel', { description: 'Rooms for the night. With prices.', category: 'travel' }),
  makeTool('weather_report', { description: 'Rain and sunshine of tomorrow.' }),
  makeTool('stock_quote', { description: 'Value of a share at the exchange.' }),
  makeTool('play_song', { description: 'Music from the loudspeaker.' }),
  makeTool('resize_image', { description: 'Makes a picture smaller.' }),
  makeTool('water_garden', { description: 'Opens the sprinkler on the lawn.' }),
  makeTool('count_sheep', { description: 'Helps to fall asleep.' }),
  makeTool('brew_coffee', { description: 'Fills a cup with espresso.' }),
];

export function viewOf(tools: readonly Tool[]): View {
  return createScope(createCatalog(tools))({});
}

export interface SetupParts extends Omit<PlannerParts, 'catalog' | 'rules'> {
  tools?: readonly Tool[];
  rules?: readonly Rule[];
}

/** Selection is never skipped, and nothing is added to what the model names, unless the options say so. */
export function plannerOf({ tools = TOOLS, rules = [], options, ...parts }: SetupParts): Planner {
  const plain = { passthroughTools: 0, fillTokens: 0 } as const;
  return createPlanner({ ...parts, catalog: createCatalog(tools, { rules }), options: { ...plain, ...options } });
}

/** The answer of a list model. */
export function naming(...names: string[]): string {
  return JSON.stringify({ selected_tools: names, reason: 'they fit' });
}

/** The answer of a planning model: one step a tool, without arguments. */
export function planOf(...tools: string[]): string {
  const steps = tools.map((tool, place) => ({ id: `s${place + 1}`, tool, arguments: {} }));
  return JSON.stringify({ kind: 'plan', steps });
}

export function namesOf({ tools }: { tools: readonly { name: string }[] }): string[] {
  return tools.map((tool) => tool.name);
}

export function notesOf(trace: readonly TraceEvent[], stage: string): string {
  return trace
    .filter((event) => event.stage === stage)
    .map((event) => event.note)
    .join('\n');
}
