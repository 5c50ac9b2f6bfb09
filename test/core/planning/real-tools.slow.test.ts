/** What planning makes of real tools: what holds for the fixtures must hold for catalogues found in the wild. */
import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, it } from 'vitest';
import { fittedSchemas } from '../../../src/core/catalog/schema/normalise.js';
import type { Tool } from '../../../src/core/catalog/tool.js';
import { gbnfFromSchema } from '../../../src/core/model/embedded/gbnf.js';
import { planAnswerSchema } from '../../../src/core/planning/plan-schema.js';
import { renderTool } from '../../../src/core/planning/render-tool.js';
import { benchmarksAreThere, loadBenchmarkTools, whereBenchmarks } from '../../support/benchmarks.js';
import { createGbnfMatcher } from '../../support/gbnf-matcher.js';

const describeBenchmarks = benchmarksAreThere ? describe : describe.skip;
const SETS = ['realmcp', 'nestful', 'bfcl'] as const;
const GROUP = 8;
/** Compiling a group takes a tenth of a second. */
const COMPILED_GROUPS = 12;

/** Every tool once, in groups of eight far apart from each other, so that no server is alone in a group. */
function groupsOf(tools: readonly Tool[]): Tool[][] {
  const count = Math.ceil(tools.length / GROUP);
  return Array.from({ length: count }, (_, group) => tools.filter((_, index) => index % count === group));
}

const schemaOf = (group: readonly Tool[]) => planAnswerSchema(group, { canNeedTools: true });

describeBenchmarks(`real tools in planning${whereBenchmarks}`, () => {
  it.each(SETS)(
    'of %s are rendered with the name of every argument, in about as many characters as JSON or far fewer',
    (set) => {
      const faults = loadBenchmarkTools(set).flatMap((tool) => {
        const text = renderTool(tool);
        const missing = Object.keys(Object(fittedSchemas(tool).input.properties)).filter(
          (name) => !text.includes(name),
        );
        const json = JSON.stringify([tool.name, tool.description, tool.inputSchema, tool.outputSchema]).length;
        return [
          ...missing.map((name) => `${tool.name}.${name}`),
          ...(text.length > json * 1.05 + 100 ? [`${tool.name}: ${text.length} of ${json}`] : []),
        ];
      });
      expect(faults).toEqual([]);
    },
  );

  it.each(SETS)('of %s give a schema of a plan that is one, in every group of eight', (set) => {
    const ajv = new Ajv2020({ strict: false, logger: false });
    const faults = groupsOf(loadBenchmarkTools(set)).flatMap((group) => {
      const schema = schemaOf(group);
      return ajv.validateSchema(schema) ? [] : [`${group[0]?.name}: ${ajv.errorsText()}`];
    });
    expect(faults).toEqual([]);
  });

  it.each(SETS)('of %s give a schema of a plan that compiles', (set) => {
    const groups = groupsOf(loadBenchmarkTools(set));
    const stride = Math.ceil(groups.length / COMPILED_GROUPS);
    const code = { optimize: false };
    const ajv = new Ajv2020({ strict: false, logger: false, validateFormats: false, inlineRefs: false, code });
    const faults = groups
      .filter((_, index) => index % stride === 0)
      .flatMap((group) => {
        try {
          const validate = ajv.compile(schemaOf(group));
          const [tool] = group;
          const [isPlan, isNone] = [
            { kind: 'plan', steps: [{ id: 's1', tool: 'none of them', arguments: {} }] },
            { kind: 'unplannable', reason: 'x' },
          ].map((answer) => validate(answer));
          return isPlan || !isNone ? [`${tool?.name}: takes ${isPlan}, ${isNone}`] : [];
        } catch (error) {
          return [`${group[0]?.name}: ${error}`];
        }
      });
    expect(faults).toEqual([]);
  });

  it.each(SETS)('of %s give a grammar in which every tool can be called and no other', (set) => {
    const faults = groupsOf(loadBenchmarkTools(set)).flatMap((group) => {
      const matcher = createGbnfMatcher(gbnfFromSchema(schemaOf(group)));
      const taken = (name: string) =>
        matcher.accepts(`{"kind":"plan","steps":[{"id":"s1","tool":${JSON.stringify(name)},"arguments":{}}]}`);
      const free = group.filter((tool) => !hasRequired(tool));
      const missing = free.filter((tool) => !taken(tool.name)).map((tool) => `${tool.name} can't be called`);
      return [...missing, ...(taken('none of them') ? [`${group[0]?.name}: takes another tool`] : [])];
    });
    expect(faults).toEqual([]);
  });
});

function hasRequired(tool: Tool): boolean {
  const { input } = fittedSchemas(tool);
  return (
    (Array.isArray(input.required) && input.required.length > 0) ||
    'anyOf' in input ||
    'oneOf' in input ||
    'minProperties' in input
  );
}
