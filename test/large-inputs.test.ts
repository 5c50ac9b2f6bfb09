/** The largest inputs that strangers may send: each of these held the server for half a minute or more before it was linear. */

import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { compileGlobs } from '../src/agents/policy/match.js';
import { toArazzo } from '../src/agents/runs/draw-plan.js';
import { findSizeProblem } from '../src/core/catalog/schema/bounds.js';
import { normaliseSchema, withoutNulls } from '../src/core/catalog/schema/normalise.js';
import { subschemaAt } from '../src/core/catalog/schema/paths.js';
import { mapSecrets } from '../src/core/catalog/schema/secrets.js';
import { openApiFormat } from '../src/core/catalog/sources/openapi.js';
import type { JsonSchema } from '../src/core/catalog/tool.js';
import { findSlips } from '../src/core/nearest-name.js';
import { spansOf } from '../src/core/planning/decide/options.js';
import { orderEffects } from '../src/core/planning/order-effects.js';
import { scorePlan } from '../src/eval/plan-scores.js';
import { steps } from './eval/setup.js';
import { temporaryFolder } from './support/temporary-folder.js';

const many = <Value>(count: number, make: (at: number) => Value): Value[] =>
  Array.from({ length: count }, (_, at) => make(at));
const named = <Value>(count: number, make: (at: number) => Value) =>
  Object.fromEntries(many(count, (at) => [`p${at}`, make(at)]));
const large = (): JsonSchema => ({
  type: 'object',
  properties: named(4_000, (at) => ({ description: `the ${at}th of many` })),
});

it('thousands of values under one large schema', () => {
  const values = { list: many(20_000, () => ({ p1: 1 })) };
  expect(withoutNulls(values, { properties: { list: { items: large() } } })).toEqual(values);
});

it('a path of thousands of parts, behind which a schema says nothing', () => {
  const forms = many(200, () => ({ $ref: '#/$defs/n' }));
  const schema = { $defs: { n: { properties: { a: { anyOf: forms } } } }, $ref: '#/$defs/n' };
  const path = many(9_000, () => 'a');
  expect(Object.keys(Object(subschemaAt(schema, path.slice(0, 50))))).toContain('$defs');
  expect(subschemaAt(schema, path)).toEqual({});
});

it('thousands of references with one last name', () => {
  const $defs = named(4_000, () => ({ properties: { x: { type: 'string' } } }));
  const properties = named(4_000, (at) => ({ $ref: `#/$defs/p${at}/properties/x` }));
  const { schema } = normaliseSchema({ $defs, properties });
  expect(Object.keys(Object(schema.$defs))).toHaveLength(4_000);
});

it('a mark in each of thousands of forms, for each of thousands of items', () => {
  const items = { anyOf: many(3_000, () => ({ properties: { a: { 'x-secret': true } } })) };
  const value = many(60_000, () => ({ a: 1 }));
  expect(mapSecrets({ items }, value, () => 'hidden')).toEqual(value.map(() => ({ a: 'hidden' })));
});

it.each([
  ['oneOf', 400],
  ['anyOf', 1_200],
])('alternatives of which a check can not be compiled in time: %s', (keyword, count) => {
  const formsOf = (length: number) => ({
    [keyword]: many(length, (at) => ({ properties: named(1, () => ({ const: at })) })),
  });
  expect(findSizeProblem(formsOf(count))).toContain('nodes');
  expect(findSizeProblem(formsOf(100))).toBeUndefined();
});

it('thousands of unknown keys, of which the first are looked at', () => {
  const known = many(300, (at) => `${'long-name-of-a-key'.repeat(5)}${at}`);
  const written = { ...named(100_000, () => 1), [`${known[0]}x`]: 1 };
  expect(findSlips(written, known, 0.4)).toEqual([]);
});

it('a plan of thousands of steps, each behind many others', () => {
  const plan = many(3_000, (at) => ({
    id: `s${at + 1}`,
    tool: 'a',
    arguments: {},
    purpose: '',
    dependsOn: many(Math.min(at, 60), (back) => `s${at - back}`),
  }));
  expect(orderEffects(plan, new Map())).toEqual(
    plan.map((step) => ({ ...step, dependsOn: step.dependsOn.toReversed() })),
  );
});

it('a text of ten thousand references, as an expression', () => {
  const text = '${s1.a}'.repeat(10_000);
  const plan = {
    goal: 'g',
    steps: [
      { id: 's1', tool: 'a', arguments: {} },
      { id: 's2', tool: 'a', arguments: { text } },
    ],
  };
  const written = JSON.stringify(toArazzo(plan, { name: 'p', version: '1' }));
  expect(written.split('{$steps.s1.outputs.a}')).toHaveLength(10_001);
});

it('a message of words that are all gone', () => {
  const message = '1/2/'.repeat(1_000);
  expect(
    spansOf(
      many(20, () => message),
      many(2_000, (at) => String(at % 2 ? 1 : 2)),
    ),
  ).toContain('1/2');
});

it('an OpenAPI document that leads from each operation to all of its types', async () => {
  const refs = many(40, (at) => ({ $ref: `#/components/schemas/p${at}` }));
  const schemas = named(40, () => ({
    properties: { ...named(100, () => ({ type: 'string' })), all: { anyOf: refs } },
  }));
  const content = { 'application/json': { schema: { $ref: '#/components/schemas/p0' } } };
  const paths = Object.fromEntries(
    many(2_000, (at) => [`/a/${'-'.repeat(at)}`, { get: { responses: { 200: { content } } } }]),
  );
  const path = join(temporaryFolder(), 'large.json');
  await writeFile(path, JSON.stringify({ openapi: '3.1.0', paths, components: { schemas } }));
  const [reading] = await openApiFormat.read(path, { timeoutMs: 1_000 });
  const { entries, issues = [] } = Object(reading);
  expect(entries).toHaveLength(2_000);
  expect(new Set(entries.map(({ name }: { name: string }) => name)).size).toBe(2_000);
  expect(issues[0].message).toContain('result: its schema has more than 2000 nodes; the tool is taken without it');
});

it('an expected plan of hundreds of steps in a chain', () => {
  const plan = many(500, (at): [string, Record<string, unknown>, string[]] => ['a', { at }, at > 0 ? [`s${at}`] : []]);
  const expected = {
    tools: plan.map(([tool]) => tool),
    steps: plan.map(([tool, values]) => ({ tool, arguments: values })),
    edges: many(499, (at): [number, number] => [at, at + 1]),
  };
  expect(scorePlan(expected, steps(...plan), { ignoreCase: false }).fault).toBeUndefined();
});

it('a glob of many stars', () => {
  expect(compileGlobs(['*a*a*a*a*a*a*a*b'])('a'.repeat(256))).toBe(false);
});
