/** What two users ask of the routes for agents and of MCP: made from the routes themselves, so that a new one is asked, too. */
import fc from 'fast-check';
import { z } from 'zod';
import type { Route } from '../../../../src/adapters/http/agents/route.js';
import type { JsonSchema } from '../../../../src/core/catalog/tool.js';
import { createTool } from '../../../support/create-tool.js';
import { valuesOf } from '../../../support/schema-values.js';

const path = { properties: { path: { type: 'string' } }, required: ['path'] };
export const TOOLS = [
  createTool('file_read', path, undefined, { risk: 'low', description: 'Reads a file.' }),
  createTool('file_delete', path, undefined, { risk: 'high', description: 'Deletes a file.' }),
  createTool('diary', {}, undefined, { risk: 'low', description: 'The diary of Ann.', scope: { user: 'ann' } }),
  createTool('letters', {}, undefined, { risk: 'low', description: 'The letters of Bob.', scope: { user: 'bob' } }),
];

/** Inga has roles that sound like much; nemo has proven something, but no name; nobody has proven nothing. */
export const ROLES = { ann: [], bob: [], inga: ['admin', 'root', 'Operator', 'approver'], olga: ['operator'] };
type Actor = keyof typeof ROLES | 'nemo' | 'nobody';
const SIDES = { ann: ['ann'], bob: ['bob', 'bob', 'inga', 'nemo', 'nobody'] } as const;
export type Side = keyof typeof SIDES;
export const OTHER: Record<Side, Side> = { ann: 'bob', bob: 'ann' };

export interface Command {
  readonly side: Side;
  readonly as: Actor;
  /** Method and path. Here, in headers and in the body, `@place|side|number` stands for the id of something there. */
  readonly line: string;
  readonly body?: unknown;
  readonly headers?: Record<string, string>;
}

export const SESSIONS = '/v1/sessions';
export const RUNS = ['/v1/plans/runs', '/v1/runs'];
export const APPROVALS = '/v1/approvals';
export const MCP = '/mcp';
export const REFERENCE = /@([\w/-]+)\|(ann|bob)\|(\d)/gu;
const own = (place: string, side: Side) => `@${place}|${side}|0`;
const references = (place: string) => [0, 1, 2].flatMap((n) => [`@${place}|ann|${n}`, `@${place}|bob|${n}`]);

const NAMES = ['file_read', 'file_delete', 'diary', 'letters', 'my__of_ann', 'my__of_bob', 'my__both', 'nothing'];
const step = (id: string, tool: string) => ({ id, tool, arguments: tool.startsWith('file') ? { path: 'a' } : {} });
const PLANS = NAMES.map((name) => ({ steps: [step('s1', 'file_read'), step('s2', name)] }));
const ENTRIES = ['of_ann', 'of_bob', 'both'].map((name) => ({
  ...{ name, toolType: 'skill', risk: 'low', description: `Zebra ${name}.`, instructions: `Say ${name}.` },
}));

/** What a field of this name is filled with, whatever route has it; all others by their schema. */
const FIELDS: Record<string, readonly unknown[]> = {
  session: [...references(SESSIONS), 'nothing'],
  approval: [...references(APPROVALS), 'nothing'],
  user: ['ann', 'bob'],
  roles: [['operator'], []],
  names: NAMES.map((name) => [name]),
  tool: NAMES,
  query: ['zebra', 'file', 'diary of ann', 'letters'],
  arguments: [{ path: 'a' }, { path: 'b' }, {}],
  plan: PLANS,
  kept: ['nothing', 'letters'].map((name) => ({ name })),
  by: [{ user: 'ann' }, { user: 'olga', roles: ['operator'] }],
};
/** Needs a model. */
const LEFT_OUT = ['request'];

function withFields(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(withFields);
  if (typeof schema !== 'object' || schema === null) return schema;
  const { properties, ...rest }: JsonSchema = { ...schema };
  const mapped = Object.fromEntries(Object.entries(rest).map(([key, value]) => [key, withFields(value)]));
  if (typeof properties !== 'object' || properties === null) return mapped;
  const fields = Object.entries(properties).filter(([name]) => !LEFT_OUT.includes(name));
  return { ...mapped, properties: Object.fromEntries(fields.map(([name, field]) => [name, fieldOf(name, field)])) };
}

function fieldOf(name: string, field: unknown): unknown {
  if (name === 'tool' && Object(field).type === 'object') return { enum: ENTRIES };
  return FIELDS[name] ? { enum: FIELDS[name] } : withFields(field);
}

function inputOf(schema: z.ZodType | undefined): fc.Arbitrary<unknown> {
  if (!schema) return fc.constant(undefined);
  const json = Object(withFields(z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' })));
  return valuesOf(json, json);
}

/** Ids that a path of this form takes: of what was made there, or names. */
function idsFor(path: string): fc.Arbitrary<string> {
  const [place = ''] = path.split('/:id');
  return fc.constantFrom(...references(place), ...references(place), ...NAMES, 'nothing');
}

function commandOf({ method, path, body, query }: Route): fc.Arbitrary<Omit<Command, 'side' | 'as'>> {
  const parts = { id: idsFor(path), body: inputOf(body?.schema), query: inputOf(query) };
  return fc.record(parts).map(({ id, body, query }) => {
    const asked = Object.entries(Object(query)).map(([key, value]) => `${key}=${encodeURIComponent(String(value))}`);
    // A reference stays as it is until its id is put in.
    const search = asked.join('&').replaceAll('%40', '@').replaceAll('%7C', '|').replaceAll('%2F', '/');
    const line = `${method} ${path.replace(':id', id)}${search && `?${search}`}`;
    return { line, ...(body === undefined ? {} : { body }) };
  });
}

const INITIALIZE = {
  ...{ jsonrpc: '2.0', id: 1, method: 'initialize' },
  params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'test', version: '1' } },
};
const JSON_RPC = { jsonrpc: '2.0', id: 2 };
const uses = (name: string, input: object) => ({
  ...JSON_RPC,
  method: 'tools/call',
  params: { name, arguments: input },
});
const mcpCommand = fc
  .record({
    line: fc.constantFrom(`POST ${MCP}`, `POST ${MCP}`, `POST ${MCP}`, `DELETE ${MCP}`),
    body: fc.constantFrom<unknown>(
      { ...JSON_RPC, method: 'tools/list' },
      uses('tool_search', { query: 'zebra' }),
      ...NAMES.flatMap((name) => [uses('tool_enable', { names: [name] }), uses(name, { path: 'a' })]),
    ),
    id: fc.constantFrom(...references(MCP)),
  })
  .map(({ line, body, id }) => ({
    line,
    headers: { 'mcp-session-id': id },
    ...(line.startsWith('POST') ? { body } : {}),
  }));

/** Something of each kind that a side can have, so that there is something to see. */
export function beginningOf(side: Side): Command[] {
  const session = own(SESSIONS, side);
  const by = (as: Actor) => (line: string, body?: unknown) => ({ side, as, line, body });
  const ask = by(side);
  return [
    ask('POST /v1/sessions', {}),
    ask('POST /v1/private-tools', { tool: { ...ENTRIES[2], name: `of_${side}` } }),
    ask('POST /v1/private-tools', { tool: { ...ENTRIES[2], instructions: `Of ${side}.` } }),
    ask('POST /v1/kept-plans', { name: 'nothing', plan: { goal: `Of ${side}.`, steps: [step('s1', 'file_read')] } }),
    ask(`POST ${SESSIONS}/${session}/enable`, { names: ['file_read', 'file_delete', `my__of_${side}`] }),
    ask(`POST ${SESSIONS}/${session}/call`, { tool: 'file_delete', arguments: { path: 'a' } }),
    ask('POST /v1/approvals', { session, tool: 'file_delete', arguments: { path: 'b' } }),
    by('olga')(`POST ${APPROVALS}/${own(APPROVALS, side)}/grant`, {}),
    ask('POST /v1/plans/run', { session, plan: { steps: [step('s1', `my__of_${side}`), step('s2', 'file_delete')] } }),
    { ...ask(`POST ${MCP}`, INITIALIZE) },
  ];
}

/** All that a side and an operator see of it at the end. */
export function lookOf(side: Side, routes: readonly Route[]): Command[] {
  const lists = routes.filter(({ method, path }) => method === 'GET' && !path.includes(':id'));
  const ids = [SESSIONS, APPROVALS, '/v1/runs'].flatMap((place) =>
    references(place)
      .slice(0, 4)
      .map((id) => `GET ${place}/${id}`),
  );
  const tools = `GET ${SESSIONS}/${own(SESSIONS, side)}/tools`;
  const lines = [...lists.map((route) => `GET ${route.path}`), ...ids, tools, `${tools}?mode=classic`];
  const all = ['/v1/audit?limit=1000&', '/v1/approvals?', '/v1/telemetry?'].map((line) => `GET ${line}user=${side}`);
  return [
    ...lines.map((line): Command => ({ side, as: side, line })),
    ...all.map((line): Command => ({ side, as: 'olga', line })),
  ];
}

export function sequencesOf(routes: readonly Route[]): fc.Arbitrary<Command[]> {
  const kinds = [...routes.map(commandOf), mcpCommand, mcpCommand];
  const side = fc.constantFrom<Side>('ann', 'bob', 'bob');
  const command = side.chain((side) =>
    fc.record({ side: fc.constant(side), as: fc.constantFrom<Actor>(...SIDES[side]), what: fc.oneof(...kinds) }),
  );
  return fc
    .array(command, { minLength: 10, maxLength: 30, size: 'max' })
    .map((drawn) => drawn.map(({ what, ...who }): Command => ({ ...who, ...what })));
}
