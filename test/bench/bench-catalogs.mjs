/** The catalogues of the measurement, each with requests and the answers of the scripted server to them. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseTool } from '../../dist/catalog/tool.js';
import { REAL_MCP_REQUESTS } from './real-mcp-requests.mjs';

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
export function makeCatalog(size) {
  if (size > MOST_MADE) throw new Error(`At most ${MOST_MADE} tools can be made.`);
  const entries = Array.from({ length: size }, (_, place) => makeEntry((place * STRIDE) % MOST_MADE));
  const requests = Array.from({ length: MADE_REQUESTS }, (_, number) => {
    const tools = entries.slice(0).filter((_, place) => place % Math.ceil(size / NAMES_A_REQUEST) === number % Math.ceil(size / NAMES_A_REQUEST));
    const { verb, thing, area } = tools[0].metadata;
    const message = `Please ${verb} the ${thing} of Miller & Sons in ${area}, as we agreed last week, and tell me what is still open.`;
    return { message, names: tools.map((tool) => tool.name).slice(0, NAMES_A_REQUEST) };
  });
  return finish(`made${size}`, `${size} made tools`, { entries, requests });
}

/** 1,174 tools of 39 public MCP servers; undefined where the file is missing. */
export function realCatalog() {
  const path = join(benchmarks, REAL_MCP);
  if (!existsSync(path)) return undefined;
  const entries = JSON.parse(readFileSync(path, 'utf8'));
  return finish('realmcp', 'realmcp', { entries, requests: REAL_MCP_REQUESTS });
}

export const whereReal = `no ${REAL_MCP} at WINNOW_BENCHMARKS or ${benchmarks}`;

function finish(key, label, { entries, requests }) {
  const tools = entries.flatMap((entry, index) => {
    const parsed = parseTool(entry, { origin: key, index });
    return parsed.ok ? [parsed.tool] : [];
  });
  const byName = new Map(tools.map((tool) => [tool.name, tool]));
  const cases = requests.map(({ message, names }, number) => {
    const missing = names.filter((name) => !byName.has(name));
    if (missing.length > 0) throw new Error(`${key} has no ${missing.join(', ')}.`);
    const tool = byName.get(names[0]);
    const steps = [{ id: 's1', tool: tool.name, arguments: sampleObject(tool.inputSchema) }];
    return { message: `<<${number}>> ${message}`, names, plan: { kind: 'plan', steps } };
  });
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
