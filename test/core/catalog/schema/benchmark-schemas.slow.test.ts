/** Schemas of real tools: what holds for small examples must hold for thousands. */
import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, it } from 'vitest';
import { normaliseArguments } from '../../../../src/core/catalog/schema/normalise.js';
import type { JsonSchema, Tool } from '../../../../src/core/catalog/tool.js';
import { validatorFor } from '../../../../src/core/catalog/validate.js';
import { gbnfFromSchema } from '../../../../src/core/model/embedded/gbnf.js';
import {
  benchmarksAreThere,
  loadBenchmarkSteps,
  loadBenchmarkTools,
  whereBenchmarks,
} from '../../../support/benchmarks.js';
import { createGbnfMatcher } from '../../../support/gbnf-matcher.js';

const describeBenchmarks = benchmarksAreThere ? describe : describe.skip;
const SETS = ['realmcp', 'nestful', 'bfcl', 'stabletoolbench', 'acebench_zh', 'restbench'] as const;
/** Compiling takes milliseconds a tool. */
const COMPILED_PER_SET = 150;

interface FittedTool {
  name: string;
  inputSchema: JsonSchema;
  schema: JsonSchema;
}
const fittedSets = new Map<string, FittedTool[]>();

/** Fitted once for all tests of this file. */
function fittedToolsOf(set: string): FittedTool[] {
  const known = fittedSets.get(set);
  if (known) return known;
  const fitted = loadBenchmarkTools(set).map(({ name, inputSchema }) => {
    return { name, inputSchema, schema: normaliseArguments(inputSchema).schema };
  });
  fittedSets.set(set, fitted);
  return fitted;
}

function sampleOf(tools: readonly Tool[]): Tool[] {
  const stride = Math.ceil(tools.length / COMPILED_PER_SET);
  return tools.filter((_, index) => index % stride === 0);
}

describeBenchmarks(`schemas of real tools${whereBenchmarks}`, () => {
  const ajv = new Ajv2020({ strict: false, logger: false });

  it.each(SETS)('of %s are fitted: valid, an object with properties, and finished at once', (set) => {
    const faults: string[] = [];
    for (const { name, schema } of fittedToolsOf(set)) {
      const again = normaliseArguments(schema);
      const remarks = again.notes.filter((note) => !note.includes('the description has'));
      if (!ajv.validateSchema(schema)) faults.push(`${name}: ${ajv.errorsText()}`);
      if (schema.type !== 'object' || typeof schema.properties !== 'object') faults.push(`${name}: no object`);
      if (JSON.stringify(again.schema) !== JSON.stringify(schema)) faults.push(`${name}: changes again`);
      faults.push(...remarks.map((remark) => `${name}: ${remark}`));
    }
    expect(faults).toEqual([]);
  });

  it.each(SETS)('of %s keep the name of every argument', (set) => {
    const lost = fittedToolsOf(set).flatMap(({ name, inputSchema, schema }) => {
      const fitted = new Set(Object.keys(Object(schema.properties)));
      const arguments_ = Object.keys(Object(inputSchema.properties));
      return arguments_.filter((argument) => !fitted.has(argument)).map((argument) => `${name}.${argument}`);
    });
    expect(lost).toEqual([]);
  });

  it.each(SETS)('of %s have a grammar that can be read, and is not larger than the schema by much', (set) => {
    const large: string[] = [];
    for (const { name, schema } of fittedToolsOf(set)) {
      const grammar = gbnfFromSchema(schema);
      createGbnfMatcher(grammar);
      if (grammar.length > 2 * JSON.stringify(schema).length + 2000) large.push(name);
    }
    expect(large).toEqual([]);
  });

  it.each(SETS)('of %s have a validator', (set) => {
    const open = sampleOf(loadBenchmarkTools(set)).filter((tool) => {
      const { properties } = normaliseArguments(tool.inputSchema).schema;
      const typed = Object.entries(Object(properties)).find(([, node]) => Object(node).type === 'string');
      return typed !== undefined && validatorFor(tool)({ [typed[0]]: 7 }).ok;
    });
    expect(open.map(({ name }) => name)).toEqual([]);
  });
});

describeBenchmarks(`gold arguments of benchmarks${whereBenchmarks}`, () => {
  // What is refused was looked at one by one: the gold contradicts its own schema (null for a text, values
  // outside of the enum, numbers as text, missing required arguments).
  it.each([
    ['nestful', 14],
    ['bfcl', 101],
    ['acebench_zh', 0],
  ])('of %s pass, but for %i', (set, contradictions) => {
    const tools = new Map(loadBenchmarkTools(set).map((tool) => [tool.name, tool]));
    const refused = loadBenchmarkSteps(set).flatMap((step) => {
      const tool = tools.get(step.tool);
      const result = tool ? validatorFor(tool)(step.arguments) : { ok: false as const, issues: ['no such tool'] };
      return result.ok ? [] : [`${step.id} ${step.tool}: ${result.issues.join('; ')}`];
    });
    expect(refused).toHaveLength(contradictions);
  });

  it.each(['nestful', 'bfcl', 'acebench_zh'])('of %s that pass are also in the grammar of the tool', (set) => {
    const tools = new Map(loadBenchmarkTools(set).map((tool) => [tool.name, tool]));
    const schemas = new Map(fittedToolsOf(set).map(({ name, schema }) => [name, schema]));
    const outside: string[] = [];
    for (const step of sampleSteps(loadBenchmarkSteps(set))) {
      const tool = tools.get(step.tool);
      const schema = schemas.get(step.tool);
      if (!tool || !schema || !validatorFor(tool)(step.arguments).ok) continue;
      const names = Object.keys(Object(schema.properties));
      if (Object.keys(step.arguments).some((name) => !names.includes(name))) continue;
      const text = JSON.stringify(inOrderOf(schema, step.arguments));
      if (!createGbnfMatcher(gbnfFromSchema(schema)).accepts(text)) outside.push(`${step.id} ${text}`);
    }
    expect(outside).toEqual([]);
  });
});

function sampleSteps<T>(steps: readonly T[]): T[] {
  return steps.filter((_, index) => index % 4 === 0);
}

/** The value with its names in the order in which the schema lists them, at all depths. */
function inOrderOf(schema: unknown, value: unknown): unknown {
  const { properties = {}, items, prefixItems = [] } = Object(schema);
  if (Array.isArray(value)) return value.map((element, index) => inOrderOf(prefixItems[index] ?? items, element));
  if (typeof value !== 'object' || value === null) return value;
  const order = [...new Set([...Object.keys(properties), ...Object.keys(value)])];
  const entries = order
    .filter((name) => name in value)
    .map((name) => [name, inOrderOf(properties[name], Object(value)[name])]);
  return Object.fromEntries(entries);
}
