/** The catalogues of the measurement, each with requests and the answers of the scripted server to them. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseTool } from '../../dist/core/catalog/tool.js';
import { createCatalog, createPlanner } from '../../dist/index.js';
import { REAL_MCP_REQUESTS } from './real-mcp-requests.mjs';
import { createListModel } from './scripted-list-model.mjs';

/** Both calls are made at every size: Winnow would take ten tools without a selection. LangChain gets the same cap. */
export const OPTIONS = { maxTools: 8, passthroughTools: 0, passthroughTokens: 0 };

const benchmarks = process.env.WINNOW_BENCHMARKS ?? '../shared/benchmarks';
const REAL_MCP = 'realmcp.tools.json';
const MADE_REQUESTS = 20;
const NAMES_A_REQUEST = 4;

const VERBS = ['create', 'find', 'update', 'delete', 'list', 'export', 'archive', 'approve', 'compare', 'summarize'];
const AREAS = ['billing', 'warehouse', 'payroll', 'support', 'travel', 'clinic', 'campus', 'energy', 'legal', 'fleet'];
const THINGS =
  'invoice order employee ticket booking patient course meter contract vehicle supplier payment shift refund route prescription lecture tariff clause driver'.split(
    ' ',
  );
const MOST_MADE = VERBS.length * AREAS.length * THINGS.length;
/** Without a common divisor with their number: every size gets tools of all kinds. */
const STRIDE = 791;

/** So many tools, at most 2,000, with requests; the same at every call. */
export async function makeCatalog(size) {
  if (size > MOST_MADE) throw new Error(`At most ${MOST_MADE} tools can be made.`);
  const entries = Array.from({ length: size }, (_, place) => makeEntry((place * STRIDE) % MOST_MADE));
  const requests = Array.from({ length: MADE_REQUESTS }, (_, number) => {
    const tool = entries[(number * 7) % size];
    const { verb, thing, area } = tool.metadata;
    const message = `Please ${verb} the ${thing} of Miller & Sons in ${area}, as we agreed last week, and tell me what is still open.`;
    const others = entries.filter((other) => other !== tool && other.metadata.thing === thing);
    return { message, names: [tool, ...others].slice(0, NAMES_A_REQUEST).map(({ name }) => name) };
  });
  const key = `made${size}`;
  return finish(key, `${size} made tools`, { tools: parseEntries(key, entries), requests });
}

/** 1,174 tools of 39 public MCP servers; undefined where the file is missing. */
export function realTools() {
  const path = join(benchmarks, REAL_MCP);
  return existsSync(path) ? parseEntries('realmcp', JSON.parse(readFileSync(path, 'utf8'))) : undefined;
}

export async function realCatalog() {
  const tools = realTools();
  return tools && finish('realmcp', 'realmcp', { tools, requests: REAL_MCP_REQUESTS });
}

export const whereReal = `no ${REAL_MCP} at WINNOW_BENCHMARKS or ${benchmarks}`;

function parseEntries(origin, entries) {
  return entries.flatMap((entry, index) => {
    const parsed = parseTool(entry, { origin, index });
    return parsed.ok ? [parsed.tool] : [];
  });
}

/** Answers may name only tools that Winnow shows: where it shows a shortlist, a request keeps those of its names there. */
async function finish(key, label, { tools, requests }) {
  const byName = new Map(tools.map((tool) => [tool.name, tool]));
  const answer = { names: [] };
  const planner = createPlanner({ catalog: createCatalog(tools), model: createListModel(answer), options: OPTIONS });
  const cases = [];
  for (const [number, request] of requests.entries()) {
    // What a request states a plan has to use: a number with a bracket is one of a list, and other figures are left out.
    const message = `<<${number}) ${request.message.replace(/\d+|"/gu, 'some')}`;
    answer.names = request.names;
    const selection = await planner.select({ message });
    const names = selection.tools.filter((tool) => tool.via === 'model').map((tool) => tool.name);
    const tool = byName.get(names[0]);
    if (!tool) throw new Error(`${key}: nothing is selected for "${message}".`);
    const steps = [{ id: 's1', tool: tool.name, arguments: sampleObject(tool.inputSchema) }];
    cases.push({ message, names, plan: { kind: 'plan', steps } });
  }
  return { key, label, tools, cases };
}

function makeEntry(place) {
  const verb = VERBS[place % VERBS.length];
  const area = AREAS[Math.floor(place / VERBS.length) % AREAS.length];
  const thing = THINGS[Math.floor(place / (VERBS.length * AREAS.length))];
  const text = (description) => ({ type: 'string', description });
  return {
    name: `${area}_${verb}_${thing}`,
    description: `${verb[0].toUpperCase()}${verb.slice(1)} the ${thing} records of the ${area} department for one customer or period. Use it when the user speaks of a ${thing} in ${area}; the result holds one row a ${thing} with its state, owner and amounts.`,
    inputSchema: {
      type: 'object',
      properties: {
        customer: text(`Name of the customer whose ${thing} is meant`),
        since: { ...text('First day that counts, YYYY-MM-DD'), format: 'date' },
        state: { type: 'string', enum: ['open', 'closed', 'all'], description: `Only ${thing} records in this state` },
        limit: { type: 'integer', minimum: 1, maximum: 100, default: 20, description: 'Most rows that are returned' },
      },
      required: ['customer'],
    },
    metadata: { verb, area, thing },
  };
}

/** The least arguments that a schema takes, as far as a measurement needs it. */
function sampleObject(schema) {
  const properties = schema.properties ?? {};
  return Object.fromEntries((schema.required ?? []).map((name) => [name, sample(properties[name] ?? {})]));
}

function sample(schema) {
  if (schema.enum) return schema.enum[0];
  if (schema.type === 'integer' || schema.type === 'number') return schema.minimum ?? 1;
  if (schema.type === 'boolean') return true;
  if (schema.type === 'array') return schema.minItems ? [sample(schema.items ?? {})] : [];
  return schema.type === 'object' ? sampleObject(schema) : 'Miller';
}
