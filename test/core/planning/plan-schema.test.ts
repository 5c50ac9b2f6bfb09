/** The schema of a plan, what it lets a model write, and the order of steps. */
import fc from 'fast-check';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { fittedSchemas } from '../../../src/core/catalog/schema/normalise.js';
import { fits, subschemaAt } from '../../../src/core/catalog/schema/paths.js';
import { createScope } from '../../../src/core/catalog/scope.js';
import type { Tool } from '../../../src/core/catalog/tool.js';
import { checkPlan, type DraftStep } from '../../../src/core/planning/check-plan.js';
import { resultFields } from '../../../src/core/planning/decide/sources.js';
import { levelsOf, orderEffects } from '../../../src/core/planning/order-effects.js';
import { planAnswerSchema } from '../../../src/core/planning/plan-schema.js';
import { type Leaf, renderPath, textsIn } from '../../../src/core/planning/references.js';
import { renderToday } from '../../../src/core/planning/times.js';
import type { Step } from '../../../src/core/result.js';
import { compileSchema } from '../../support/compile-schema.js';
import { createTool } from '../../support/create-tool.js';
import { FIXTURES, loadFixture } from '../../support/fixtures.js';
import { REFERENCE_PLACE, valuesOf } from '../../support/schema-values.js';
import { makeTool } from '../selection/setup.js';

describe('the schema of a plan', () => {
  const STATION = {
    type: 'object',
    properties: {
      stcd: { type: 'string' },
      level: { type: 'number' },
      all: { type: 'array', items: { type: 'string' } },
    },
  };
  const find = createTool(
    'find',
    { properties: { name: { type: 'string' } }, required: ['name'], additionalProperties: false },
    STATION,
  );
  const read = createTool(
    'read',
    {
      properties: {
        stcd: { type: 'string', pattern: '^\\d{8}$' },
        hours: { type: 'integer', minimum: 1 },
        codes: { type: 'array', items: { type: 'string', minLength: 2 } },
        flag: { type: 'boolean' },
      },
      required: ['stcd'],
      additionalProperties: false,
    },
    STATION,
  );
  const tree = (name: string) =>
    createTool(name, {
      properties: { root: { $ref: '#/$defs/node' } },
      required: ['root'],
      additionalProperties: false,
      $defs: {
        node: {
          type: 'object',
          properties: { [`${name}_id`]: { type: 'integer' }, next: { $ref: '#/$defs/node' } },
          required: [`${name}_id`],
          additionalProperties: false,
        },
      },
    });

  function acceptor(tools: readonly Tool[], { canNeedTools = false }: { canNeedTools?: boolean } = {}) {
    const validate = compileSchema(planAnswerSchema(tools, { canNeedTools }));
    return (answer: unknown) => validate(answer) === true;
  }
  const plan = (
    ...steps: { tool: string; arguments: Record<string, unknown>; id?: string; dependsOn?: unknown }[]
  ) => ({
    kind: 'plan',
    steps: steps.map((step, place) => ({ id: `s${place + 1}`, ...step })),
  });

  describe('the schema of a plan', () => {
    const accepts = acceptor([find, read]);

    it.each([
      [
        'takes',
        'its own arguments',
        plan({ tool: 'find', arguments: { name: 'a' } }, { tool: 'read', arguments: { stcd: '12345678' } }),
      ],
      ['refuses', "another tool's arguments", plan({ tool: 'find', arguments: { stcd: '12345678' } })],
      ['refuses', 'more than its arguments', plan({ tool: 'find', arguments: { name: 'a', hours: 1 } })],
      ['refuses', 'a required argument left out', plan({ tool: 'read', arguments: {} })],
      ['refuses', 'a value out of its bounds', plan({ tool: 'read', arguments: { stcd: '12345678', hours: 0 } })],
      ['refuses', 'a tool that was not chosen', plan({ tool: 'other', arguments: {} })],
      ['refuses', 'an id of another form', plan({ tool: 'find', arguments: { name: 'a' }, id: 'first' })],
      ['refuses', 'no step', plan()],
      ['refuses', 'words beside the plan', { ...plan({ tool: 'find', arguments: { name: 'a' } }), note: 'x' }],
    ])('%s a step with %s', (word, _, answer) => {
      expect(accepts(answer)).toBe(word === 'takes');
    });

    it.each<[string, string, Record<string, unknown>]>([
      ['takes', 'a text with a pattern', { stcd: '${s1.stcd}' }],
      ['takes', 'a whole number', { stcd: '12345678', hours: '${s1.level}' }],
      ['takes', 'a list', { stcd: '12345678', codes: '${s1.all}' }],
      ['takes', 'a part of a list', { stcd: '12345678', codes: ['ab', '${s1.all[0]}'] }],
      ['takes', 'a truth value', { stcd: '12345678', flag: '${s1.stcd}' }],
      ['refuses', 'a part of a number', { stcd: '12345678', hours: '1${s1.level}' }],
    ])('%s a reference in place of %s', (word, _, values) => {
      expect(accepts(plan({ tool: 'find', arguments: { name: 'a' } }, { tool: 'read', arguments: values }))).toBe(
        word === 'takes',
      );
    });

    it('takes an order that no reference says', () => {
      const [first, second] = [
        { tool: 'find', arguments: { name: 'a' } },
        { tool: 'find', arguments: { name: 'b' } },
      ];
      expect(accepts(plan(first, { ...second, dependsOn: ['s1'] }))).toBe(true);
      expect(accepts(plan(first, { ...second, dependsOn: 's1' }))).toBe(false);
    });

    it('keeps the definitions of each tool apart, also where they have one name', () => {
      const both = acceptor([tree('left'), tree('right')]);
      expect(both(plan({ tool: 'left', arguments: { root: { left_id: 1, next: { left_id: 2 } } } }))).toBe(true);
      expect(both(plan({ tool: 'right', arguments: { root: { right_id: 1, next: { right_id: 2 } } } }))).toBe(true);
      expect(both(plan({ tool: 'right', arguments: { root: { left_id: 1 } } }))).toBe(false);
      expect(both(plan({ tool: 'left', arguments: { root: { left_id: 1, next: { right_id: 2 } } } }))).toBe(false);
    });

    it('keeps an argument that is called like a keyword', () => {
      const odd = createTool('odd', {
        properties: { $ref: { type: 'string' }, type: { type: 'string' }, const: { type: 'integer' } },
        additionalProperties: false,
      });
      expect(acceptor([odd])(plan({ tool: 'odd', arguments: { $ref: 'a', type: 'b', const: 1 } }))).toBe(true);
      expect(acceptor([odd])(plan({ tool: 'odd', arguments: { const: 'a' } }))).toBe(false);
    });
  });

  describe('the ways out of a plan', () => {
    const clarification = { kind: 'clarification', question: 'which?', missing: ['name'] };
    const unplannable = { kind: 'unplannable', reason: 'no tool' };
    const needTools = { kind: 'needTools', needTools: 'one that reads' };

    it.each([
      ['with tools, and one more round', [find], true, [true, true, true]],
      ['with tools, in the last round', [find], false, [true, true, false]],
      ['without a tool', [], true, [true, true, true]],
    ])('%s', (_, tools, canNeedTools, taken) => {
      const accepts = acceptor(tools, { canNeedTools });
      expect([clarification, unplannable, needTools].map(accepts)).toEqual(taken);
    });

    it('leave no room for a plan where there is no tool', () => {
      expect(acceptor([])(plan({ tool: 'find', arguments: { name: 'a' } }))).toBe(false);
    });
  });
});

/** What the schema of a plan lets a model write, the check lets through: a model that decodes under it needs no repair. */
describe('what the schema lets through', () => {
  const GROUP = 4;
  const RUNS = 10;

  describe.each(FIXTURES)('plans over the tools of %s', (name) => {
    it('that the schema takes, with right references, pass the check', async () => {
      const { catalog } = await loadFixture(name);
      const { tools } = createScope(catalog)({ user: 'alice' });
      const seen = { plans: 0, references: 0 };
      const group = fc.uniqueArray(fc.nat(tools.length - 1), { minLength: GROUP, maxLength: GROUP });
      const input = group.chain((places) => {
        const chosen = places.flatMap((place) => tools[place] ?? []);
        const schema = planAnswerSchema(chosen, { canNeedTools: false });
        const steps = fc.array(
          fc.constantFrom(...chosen).chain((tool) => argumentsOf(tool, schema)),
          { minLength: 1, maxLength: 4 },
        );
        return fc.record({ chosen: fc.constant(chosen), schema: fc.constant(schema), steps, seed: fc.nat(1000) });
      });
      await fc.assert(
        fc.asyncProperty(input, async ({ chosen, schema, steps, seed }) => {
          const plan = withRightReferences(steps, new Map(chosen.map((tool) => [tool.name, tool])), seed);
          const validate = compileSchema(schema);
          expect({ taken: validate({ kind: 'plan', steps: plan }), errors: validate.errors }).toMatchObject({
            taken: true,
          });
          expect(await checkPlan(plan, new Map(chosen.map((tool) => [tool.name, tool])))).toMatchObject({ ok: true });
          seen.plans += 1;
          seen.references += JSON.stringify(plan).split('${').length - 1;
        }),
        { numRuns: RUNS, seed: 20261122 },
      );
      // Else the property would hold of nothing.
      expect(seen.plans).toBe(RUNS);
      expect(seen.references).toBeGreaterThan(0);
    });
  });

  type Draft = Pick<DraftStep, 'tool' | 'arguments'>;

  /** A step as the schema of the plan describes it. */
  function argumentsOf(tool: Tool, schema: ReturnType<typeof planAnswerSchema>): fc.Arbitrary<Draft> {
    const steps = subschemaAt(schema, ['steps', 0]);
    const forms = Object(steps).anyOf ?? [steps];
    const own = forms.find(
      (form: { properties: { tool: { const: string } } }) => form.properties.tool.const === tool.name,
    );
    return valuesOf(own.properties.arguments, schema).map((values) => ({ tool: tool.name, arguments: Object(values) }));
  }

  /** Each place of a reference gets one that is right; where no earlier step has one, the step goes. */
  function withRightReferences(drafts: readonly Draft[], tools: ReadonlyMap<string, Tool>, seed: number): DraftStep[] {
    const steps: DraftStep[] = [];
    for (const draft of drafts) {
      const tool = tools.get(draft.tool);
      if (!tool) continue;
      const values = structuredClone(draft.arguments);
      const places = textsIn(values).filter((leaf) => leaf.text === REFERENCE_PLACE);
      const isFilled = places.every((leaf, count) => {
        const fitting = fittingReferences(
          leaf,
          tool,
          steps.map((step) => tools.get(step.tool)),
        );
        const reference = fitting[(seed + count) % Math.max(1, fitting.length)];
        if (reference !== undefined) put(values, leaf.path, reference);
        return reference !== undefined;
      });
      if (isFilled) steps.push({ id: `s${steps.length + 1}`, tool: draft.tool, arguments: values });
      else if (steps.length === 0) fc.pre(false);
    }
    return steps;
  }

  function fittingReferences(leaf: Leaf, tool: Tool, earlier: readonly (Tool | undefined)[]): string[] {
    const wanted = subschemaAt(fittedSchemas(tool).input, leaf.path);
    return earlier.flatMap((producer, place) => {
      const fields = producer ? resultFields(fittedSchemas(producer).output) : [];
      const fitting = fields.filter(({ schema }) => wanted === undefined || fits(schema, wanted));
      return fitting.map(({ path }) => referenceTo(`s${place + 1}`, renderPath(path)));
    });
  }

  function referenceTo(step: string, path: string): string {
    return `\${${step}${path.startsWith('[') ? '' : '.'}${path}}`;
  }

  function put(target: Record<string, unknown>, path: readonly (string | number)[], value: unknown): void {
    const holder = path.slice(0, -1).reduce<unknown>((node, part) => Object(node)[part], target);
    Reflect.set(Object(holder), path.at(-1) ?? '', value);
  }
});

const step = (id: string, ...dependsOn: string[]) => ({ id, dependsOn });

describe('levelsOf', () => {
  it.each([
    ['no step', [], []],
    [
      'a diamond',
      [step('s1'), step('s2', 's1'), step('s3', 's1'), step('s4', 's2', 's3')],
      [['s1'], ['s2', 's3'], ['s4']],
    ],
  ])('of %s', (_, steps, levels) => {
    expect(levelsOf(steps)).toEqual(levels);
  });

  it('names each step once, as early as its needs allow, for whatever plan', () => {
    const plan = fc
      .array(fc.array(fc.nat(30), { maxLength: 4 }), { minLength: 1, maxLength: 20 })
      .map((needs) =>
        needs.map((list, place) =>
          step(`s${place + 1}`, ...new Set(place === 0 ? [] : list.map((other) => `s${(other % place) + 1}`))),
        ),
      );
    fc.assert(
      fc.property(plan, (steps) => {
        const levels = levelsOf(steps);
        expect(levels.flat().sort()).toEqual(steps.map(({ id }) => id).sort());
        const levelOf = new Map(levels.flatMap((ids, level) => ids.map((id) => [id, level] as const)));
        for (const { id, dependsOn } of steps) {
          const latest = Math.max(-1, ...dependsOn.map((other) => levelOf.get(other) ?? Number.NaN));
          expect(levelOf.get(id)).toBe(latest + 1);
        }
      }),
    );
  });
});

const TOOLS = new Map(
  [makeTool('read', { risk: 'low' }), makeTool('propose', { risk: 'medium' }), makeTool('write', { risk: 'high' })].map(
    (tool) => [tool.name, tool],
  ),
);

type Given = readonly [tool: string, ...dependsOn: string[]];

function ordered(...given: Given[]) {
  const steps = given.map(
    ([tool, ...dependsOn], place): Step => ({ id: `s${place + 1}`, tool, arguments: {}, purpose: '', dependsOn }),
  );
  return orderEffects(steps, TOOLS);
}

const waits = (...given: Given[]) => ordered(...given).map(({ dependsOn }) => dependsOn.join(' '));

describe('steps of high risk', () => {
  it('wait for all before them, and what follows waits for them', () => {
    expect(waits(['read'], ['propose'], ['write'], ['read'], ['read'], ['write'])).toEqual([
      '',
      '',
      's1 s2',
      's3',
      's3',
      's4 s5',
    ]);
    expect(levelsOf(ordered(['read'], ['read'], ['write'], ['read'], ['read']))).toEqual([
      ['s1', 's2'],
      ['s3'],
      ['s4', 's5'],
    ]);
  });

  it('wait one for the other', () => {
    expect(waits(['write'], ['write', 's1'], ['write', 's1'], ['write', 's1'])).toEqual(['', 's1', 's1 s2', 's1 s3']);
  });

  it('need no further wait where another brings it with it', () => {
    expect(waits(['read'], ['propose', 's1'], ['write', 's2'])).toEqual(['', 's1', 's2']);
    expect(waits(['write'], ['read', 's1'], ['read', 's2'])).toEqual(['', 's1', 's2']);
  });

  it('are the only ones that wait without a reference', () => {
    expect(waits(['read'], ['propose'], ['propose'], ['read'])).toEqual(['', '', '', '']);
  });
});

afterEach(() => {
  vi.useRealTimers();
});

describe('the day of the user', () => {
  it.each([
    ['2026-11-22T15:30:00Z', 'Asia/Shanghai', '2026-11-22 (Sunday), time zone Asia/Shanghai'],
    ['2026-11-22T16:30:00Z', 'Asia/Shanghai', '2026-11-23 (Monday), time zone Asia/Shanghai'],
    ['2026-11-22T04:30:00Z', 'America/New_York', '2026-11-21 (Saturday), time zone America/New_York'],
  ])('at %s is that of the clock in %s', (now, timeZone, day) => {
    vi.useFakeTimers({ now: new Date(now) });
    expect(renderToday({ timeZone })).toBe(day);
  });

  it('is the one that the request names, whatever the clock says', () => {
    vi.useFakeTimers({ now: new Date('2030-01-01T00:00:00Z') });
    expect(renderToday({ today: '2024-02-29', timeZone: 'UTC' })).toBe('2024-02-29 (Thursday), time zone UTC');
  });

  it('has the time zone of the machine where the request names none', () => {
    const { timeZone } = new Intl.DateTimeFormat().resolvedOptions();
    expect(renderToday({ today: '2026-11-22' })).toBe(`2026-11-22 (Sunday), time zone ${timeZone}`);
  });
});
