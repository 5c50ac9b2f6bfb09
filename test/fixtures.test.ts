/** The catalogues and cases that come with the package: an evaluation is worth no more than its gold. */
import { describe, expect, it } from 'vitest';
import { isObject } from '../src/core/catalog/schema/json.js';
import { normaliseArguments } from '../src/core/catalog/schema/normalise.js';
import { createScope, type View } from '../src/core/catalog/scope.js';
import type { Tool } from '../src/core/catalog/tool.js';
import { validatorFor } from '../src/core/catalog/validate.js';
import { checkPlan } from '../src/core/planning/check-plan.js';
import { parseRequest } from '../src/core/request.js';
import {
  type FixtureCase,
  type FixtureName,
  loadCatalogFile,
  loadFixture,
  loadFixtureCases,
  withReferences,
} from './support/fixtures.js';

const LEAST_TOOLS: [FixtureName, number][] = [
  ['hydrology', 32],
  ['coding-agent', 40],
  ['assistant', 40],
];
const LEAST_CASES = 25;
const KINDS = ['single', 'compound', 'followup', 'irrelevant', 'clarification'];

const draftsOf = (one: FixtureCase) =>
  one.expectedSteps.map((step, place) => ({
    id: `s${place + 1}`,
    tool: step.tool,
    arguments: Object(withReferences(step.arguments)),
  }));

describe.each(LEAST_TOOLS)('the catalogue %s', (name, least) => {
  it(`is read without a word and has at least ${least} tools`, async () => {
    const { catalog, issues, failures } = await loadFixture(name);
    expect({ issues, failures }).toEqual({ issues: [], failures: [] });
    expect(catalog.name).toBe(name);
    expect(catalog.tools.length).toBeGreaterThanOrEqual(least);
  });

  it('has tools that are described, with schemas that need no mending', async () => {
    const { catalog } = await loadFixture(name);
    const faults = catalog.tools.flatMap((tool) => {
      const notes = [tool.inputSchema, tool.outputSchema ?? {}].flatMap((schema) =>
        schema.type === 'object' ? normaliseArguments(schema).notes : [],
      );
      return [
        ...notes,
        ...(tool.description === '' ? ['no description'] : []),
        ...(tool.category ? [] : ['no category']),
      ].map((fault) => `${tool.name}: ${fault}`);
    });
    expect(faults).toEqual([]);
    expect(new Set(catalog.tools.map(({ risk }) => risk)).size).toBe(3);
  });

  it('has rules and companions that name tools which exist', async () => {
    const { catalog } = await loadFixture(name);
    const names = new Set(catalog.tools.map((tool) => tool.name));
    const named = [
      ...catalog.rules.flatMap(({ first = [], last = [], include = [] }) => [...first, ...last, ...include]),
      ...catalog.tools.flatMap((tool) => tool.relatedTools),
    ];
    expect(named.filter((one) => !names.has(one))).toEqual([]);
    expect(named.length).toBeGreaterThan(0);
  });
});

describe.each(LEAST_TOOLS)('the cases of %s', (name) => {
  const cases = loadFixtureCases(name);
  const viewsOf = async () => {
    const { catalog } = await loadFixture(name);
    const viewOf = createScope(catalog);
    return (one: FixtureCase): View => viewOf({ user: one.user });
  };

  it(`are at least ${LEAST_CASES}, with ids of their own, of all five kinds`, () => {
    expect(cases.length).toBeGreaterThanOrEqual(LEAST_CASES);
    expect(new Set(cases.map(({ id }) => id)).size).toBe(cases.length);
    const tags = new Set(cases.flatMap((one) => one.tags));
    expect(KINDS.filter((kind) => !tags.has(kind))).toEqual([]);
  });

  it('are requests', () => {
    for (const { query, user, history, entities } of cases) {
      const given = { user, history, entities };
      const said = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
      expect(parseRequest({ message: query, ...said }).message).toBe(query);
    }
  });

  it('expect tools that their user sees', async () => {
    const viewOf = await viewsOf();
    const missing = cases.flatMap((one) => {
      const named = [
        ...one.expectedTools,
        ...one.expectedSteps.map(({ tool }) => tool),
        ...(one.alternatives ?? []).flat(),
      ];
      return named.filter((tool) => !viewOf(one).byName.has(tool)).map((tool) => `${one.id}: ${tool}`);
    });
    expect(missing).toEqual([]);
  });

  it('expect steps that are a valid plan, of just the expected tools', async () => {
    const viewOf = await viewsOf();
    const faults = await Promise.all(cases.map((one) => wrongSteps(one, viewOf(one))));
    expect(faults.flat()).toEqual([]);
  });

  it('expect the edges that the references and effects of their steps make, and no others', async () => {
    const viewOf = await viewsOf();
    const faults = await Promise.all(cases.map((one) => wrongEdges(one, viewOf(one))));
    expect(faults.flat()).toEqual([]);
  });

  it('accept other values only where the tool takes them', async () => {
    const viewOf = await viewsOf();
    const faults = cases.flatMap((one) =>
      one.expectedSteps.flatMap((step) => wrongVariants(one.id, step, viewOf(one).byName.get(step.tool))),
    );
    expect(faults).toEqual([]);
  });

  it.each(['plan', 'clarification', 'unplannable'])(
    'hold some that expect %s, with steps just where it is a plan',
    (kind) => {
      const some = cases.filter(({ expectedKind }) => expectedKind === kind);
      expect(some.length).toBeGreaterThan(5);
      for (const { expectedSteps } of some) expect(expectedSteps.length > 0).toBe(kind === 'plan');
    },
  );
});

/** Small sets with a purpose of their own; each case names its catalogue, or all have the one of their name. */
const SMALL_SETS = ['exclusions', 'first', 'back-office', 'operations'] as const;
const catalogOf = (name: string, one: FixtureCase) => one.meta?.catalog ?? `fixtures/catalogs/${name}.json`;

describe.each(SMALL_SETS)('the cases of %s', (name) => {
  it('expect valid plans of just the expected tools, with the edges that they make, over catalogues without a fault', async () => {
    const cases = loadFixtureCases(name);
    const faults = await Promise.all(
      cases.map(async (one) => {
        const { catalog, issues, failures } = await loadCatalogFile(catalogOf(name, one));
        const view = createScope(catalog)({});
        const variants = one.expectedSteps.flatMap((step) => wrongVariants(one.id, step, view.byName.get(step.tool)));
        const steps = await wrongSteps(one, view);
        return [...issues, ...failures, ...steps, ...(await wrongEdges(one, view)), ...variants];
      }),
    );
    expect(faults.flat()).toEqual([]);
    expect(new Set(cases.map(({ id }) => id)).size).toBe(cases.length);
  });
});

describe('the cases of exclusions', () => {
  const cases = loadFixtureCases('exclusions');

  it.each(['en', 'de', 'fr', 'es', 'pt', 'ru', 'ja', 'zh'])(
    'hold ten requests in %s, each with something to keep',
    (lang) => {
      const some = cases.filter((one) => one.lang === lang);
      expect(some).toHaveLength(10);
      expect(some.filter(({ excluded = [] }) => excluded.length === 0)).toEqual([]);
    },
  );
});

async function wrongSteps(one: FixtureCase, view: View): Promise<string[]> {
  const drafts = draftsOf(one);
  const checked = drafts.length === 0 ? { ok: true as const, steps: [] } : await checkPlan(drafts, view.byName);
  const used = [...new Set(drafts.map(({ tool }) => tool))].sort();
  const isSame = JSON.stringify(used) === JSON.stringify([...one.expectedTools].sort());
  return [
    ...(checked.ok ? [] : checked.issues),
    ...(isSame ? [] : [`steps use ${used}, expected are ${one.expectedTools}`]),
  ].map((fault) => `${one.id} ${fault}`);
}

async function wrongEdges(one: FixtureCase, view: View): Promise<string[]> {
  const checked = await checkPlan(draftsOf(one), view.byName);
  const steps = checked.ok ? checked.steps : [];
  const made = steps.flatMap(({ dependsOn }, place) => dependsOn.map((id) => `${Number(id.slice(1)) - 1},${place}`));
  const expected = one.expectedEdges.map(String);
  const wrong = [...made, ...expected].filter((edge) => !made.includes(edge) || !expected.includes(edge));
  return wrong.map((edge) => `${one.id} ${edge}`);
}

/** `argumentsAnyOf` lists values that count as right as well; `""` stands for leaving the argument out. */
function wrongVariants(id: string, step: FixtureCase['expectedSteps'][number], tool: Tool | undefined): string[] {
  if (!tool) return [`${id}: no ${step.tool}`];
  const plain = Object.fromEntries(
    Object.entries(step.arguments).filter(([, value]) => !JSON.stringify(value).includes('"$')),
  );
  return Object.entries(step.argumentsAnyOf ?? {}).flatMap(([name, values]) =>
    values
      .filter((value) => value !== '' && !String(value).startsWith('$'))
      .flatMap((value) => {
        const checked = validatorFor(tool)({ ...plain, [name]: firstVariant(value) });
        const issues = checked.ok ? [] : checked.issues.filter((issue) => !issue.includes('is required'));
        return issues.map((issue) => `${id} ${step.tool} ${JSON.stringify(value)}: ${issue}`);
      }),
  );
}

/** Of an object whose fields list their own values, the first of each. */
function firstVariant(value: unknown): unknown {
  if (!isObject(value)) return value;
  const first = (field: unknown) => (Array.isArray(field) ? field.find((one) => one !== '') : field);
  return Object.fromEntries(Object.entries(value).map(([name, field]) => [name, first(field)]));
}
