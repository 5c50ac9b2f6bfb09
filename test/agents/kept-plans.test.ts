/** Plans under a name: checked when they are kept, told apart by a hash, their users' own, run again with other inputs. */
import { describe, expect, it } from 'vitest';
import { createKeptPlans } from '../../src/agents/kept-plans.js';
import { createPolicy, type PolicyInput } from '../../src/agents/policy/policy.js';
import { toArazzo, toMermaid } from '../../src/agents/runs/draw-plan.js';
import type { RunnablePlan } from '../../src/agents/runs/plan-run.js';
import { openStore } from '../../src/agents/store/open-store.js';
import { createCatalog } from '../../src/core/catalog/catalog.js';
import { createTool } from '../support/create-tool.js';
import { watchWork } from '../support/watch-work.js';
import { auditIn } from './store/records.js';

const text = { type: 'string' };
const rooms = { type: 'array', items: { $ref: '#/$defs/room' } };
const room = { type: 'object', properties: { id: { type: 'integer' }, level: { type: 'number' } } };
const TOOLS = [
  createTool('list_rooms', { properties: { city: text } }, { type: 'object', properties: { rooms }, $defs: { room } }),
  createTool(
    'close_room',
    { properties: { room: { type: 'integer' } }, required: ['room'] },
    { type: 'object', properties: { closed: text } },
  ),
  createTool('send_mail', {
    properties: { to: text, body: text, key: { ...text, format: 'password' } },
    required: ['to'],
  }),
  createTool('diary', {}, undefined, { scope: { user: 'bob' } }),
];

const PLAN: RunnablePlan = {
  goal: 'Close what is too high',
  inputs: { city: { description: 'Where to look', value: 'Paris' }, to: {} },
  steps: [
    { id: 's1', tool: 'list_rooms', arguments: { city: '${input.city}' } },
    {
      id: 's2',
      tool: 'close_room',
      arguments: { room: '${item.id}' },
      each: '${s1.rooms}',
      when: { value: '${item.level}', is: 'above', to: 5 },
    },
    { id: 's3', tool: 'send_mail', arguments: { to: '${input.to}', body: 'First: ${s2[0].closed}' } },
  ],
};
const [S1, S2, S3] = PLAN.steps as [
  RunnablePlan['steps'][number],
  RunnablePlan['steps'][number],
  RunnablePlan['steps'][number],
];
const LONG = 'k'.repeat(5_000);
const thirty = <Item>(item: (at: number) => Item) => Array.from({ length: 30 }, (_, at) => item(at));
const withSteps = (...steps: RunnablePlan['steps']): RunnablePlan => ({ ...PLAN, steps });

async function open(policy: PolicyInput = {}) {
  const store = await openStore();
  const catalog = createCatalog(TOOLS);
  const plans = createKeptPlans({
    catalog: () => catalog,
    store: store.plans,
    policy: () => createPolicy(policy),
    clock: () => new Date('2026-11-25T10:00:00Z'),
  });
  const keep = (
    plan: RunnablePlan,
    { user = 'ann', name = 'morning', replaces }: { user?: string; name?: string; replaces?: string } = {},
  ) => plans.keep(user, { name, plan, replaces });
  return { plans, keep, store };
}

describe('a kept plan', () => {
  it('is found again by its user alone, and has the hash of what it says', async () => {
    const { plans, keep, store } = await open();
    const kept = await keep(PLAN);
    expect(kept).toMatchObject({ name: 'morning', updatedAt: '2026-11-25T10:00:00.000Z' });
    expect(await plans.get('ann', 'morning')).toEqual(kept);
    const { plan: _, ...listed } = kept;
    const tools = ['list_rooms', 'close_room', 'send_mail'];
    expect(await plans.list('ann')).toEqual([{ ...listed, goal: PLAN.goal, tools }]);
    expect((await keep(PLAN, { name: 'again' })).hash).toBe(kept.hash);
    expect((await keep({ ...PLAN, goal: 'other' }, { name: 'other' })).hash).not.toBe(kept.hash);
    for (const stranger of ['bob', '']) {
      await expect(plans.get(stranger, 'morning')).rejects.toThrow('You keep no plan "morning".');
      await expect(plans.remove(stranger, 'morning')).rejects.toMatchObject({ code: 'not_found' });
      expect(await plans.list(stranger)).toEqual([]);
    }
    await plans.remove('ann', 'morning');
    await expect(plans.get('ann', 'morning')).rejects.toMatchObject({ code: 'not_found' });
    const audit = await auditIn(store);
    expect(audit).toMatchObject([
      { event: 'plan_kept', reason: `morning ${kept.hash}` },
      { event: 'plan_kept', reason: `again ${kept.hash}` },
      { event: 'plan_kept' },
      { event: 'plan_removed' },
    ]);
    expect(audit.at(-1)).toEqual({ event: 'plan_removed', outcome: 'allowed', user: 'ann', reason: 'morning' });
  });

  it('is listed without the plan, by a goal and names that are short, also if an earlier Winnow kept it', async () => {
    const { plans, keep, store } = await open();
    const inputs = { text: { value: 'x'.repeat(200_000) } };
    const steps = Array.from({ length: 60 }, (_, at) => ({ id: `s${at + 1}`, tool: 'list_rooms', arguments: {} }));
    const { plan, ...kept } = await keep({ goal: 'g'.repeat(50_000), inputs, steps });
    await keep(plan, { name: 'other' });
    await keep(plan, { name: 'third' });
    const { result, parsed } = await watchWork(() => plans.list('ann'));
    const listed = { ...kept, goal: `${'g'.repeat(500)}…`, tools: Array(50).fill('list_rooms') };
    expect(result).toEqual([listed, { ...listed, name: 'other' }, { ...listed, name: 'third' }]);
    expect(parsed).toBeLessThan(10_000);
    await store.plans.put({ owner: 'ann', name: 'morning', content: plan, updatedAt: kept.updatedAt });
    expect((await plans.list('ann'))[0]).toEqual(listed);
    expect((await store.plans.summaries('ann'))[0]).toHaveProperty('summary');
    expect(await plans.get('ann', 'morning')).toEqual({ ...kept, plan });
  });

  it('is changed only by who has read it as it is', async () => {
    const { plans, keep } = await open();
    const first = await keep(PLAN);
    await expect(keep(PLAN)).rejects.toMatchObject({ code: 'conflict' });
    const second = await keep({ ...PLAN, goal: 'second' }, { replaces: first.hash });
    await expect(keep({ ...PLAN, goal: 'third' }, { replaces: first.hash })).rejects.toThrow(
      'A plan "morning" is kept with another hash. Read it again, and give its hash as "replaces".',
    );
    expect((await plans.get('ann', 'morning')).hash).toBe(second.hash);
    await plans.remove('ann', 'morning');
    await expect(keep(PLAN, { replaces: second.hash })).rejects.toThrow('No plan "morning" is kept any more.');
  });

  it.each<[string, RunnablePlan['steps']]>([
    ['tools that are not there', thirty((at) => ({ id: `s${at}`, tool: LONG, arguments: {} }))],
    ['secrets', thirty((at) => ({ ...S3, id: `s${at + 1}`, arguments: { to: 'x', key: 'hunter-22' } }))],
    ['wrong arguments', [{ ...S1, arguments: { [LONG]: thirty(() => '${s1 x}') } }]],
    ['steps that are not there', [{ ...S1, dependsOn: thirty((at) => `${'x'.repeat(60)}${at}`) }]],
  ])('is refused with as much text as is read: %s', async (_, steps) => {
    const { keep } = await open();
    const refused = await keep(withSteps(...steps)).catch((error) => error);
    expect(refused.issues).toHaveLength(21);
    expect(refused.message.length).toBeLessThan(11_000);
  });

  it('goes to one of two who change it at the same moment', async () => {
    const { keep } = await open();
    const { hash: replaces } = await keep(PLAN);
    const both = await Promise.allSettled(['a', 'b'].map((goal) => keep({ ...PLAN, goal }, { replaces })));
    expect(both.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
  });

  it.each<[string, RunnablePlan, unknown]>([
    [
      'a tool that is not there',
      withSteps({ ...S1, tool: 'list_room' }),
      ['s1.tool: there is no tool "list_room"; near: list_rooms, close_room'],
    ],
    [
      'a tool of another user',
      withSteps({ id: 's1', tool: 'diary', arguments: {} }),
      ['s1.tool: there is no tool "diary"'],
    ],
    [
      'a wrong argument',
      withSteps(S1, { ...S2, arguments: { room: 'north' } }),
      ['s2.arguments.room: must be integer, not string'],
    ],
    [
      'an item field that is not there',
      withSteps(S1, { ...S2, arguments: { room: '${item.number}' } }),
      ['s2.arguments.room: "${item.number}": an item has no field number'],
    ],
    [
      'an item of the wrong type',
      withSteps(S1, { ...S3, id: 's2', each: '${s1.rooms}', arguments: { to: '${item.id}' } }),
      ['s2.arguments.to: "${item.id}" is integer, and string is asked for'],
    ],
    [
      'a loop over no list',
      withSteps(S1, { ...S2, each: '${s1}' }),
      expect.arrayContaining(['s2.each: "${s1}" is object, and array is asked for']),
    ],
    [
      'a condition on nothing',
      withSteps(S1, { ...S2, when: { value: '${s1.mood}', is: 'filled' } }),
      ['s2.when.value: "${s1.mood}": the result of list_rooms has no field mood; it has rooms'],
    ],
    [
      'a loop taken for one result',
      withSteps(S1, S2, { ...S3, arguments: { to: '${s2.closed}' } }),
      ['s3.arguments.to: "${s2.closed}": the result of close_room has no field closed; it has [0].closed'],
    ],
    [
      'an input that is not declared',
      withSteps({ ...S1, arguments: { city: '${input.town}' } }),
      ['s1: "${input.town}" is no input of the plan; it has city, to'],
    ],
    [
      'a secret',
      withSteps({ ...S3, id: 's1', arguments: { to: 'a', key: 'hunter-22' } }),
      ['s1.arguments.key: is secret and not kept; make it an input, "${input.NAME}"'],
    ],
    [
      'a secret as an input',
      {
        ...withSteps({ ...S3, id: 's1', arguments: { to: 'a', key: '${input.pin}' } }),
        inputs: { pin: { value: 'hunter-22' } },
      },
      ['inputs.pin.value: is secret and not kept; leave it out'],
    ],
  ])('is refused with %s', async (_, plan, issues) => {
    const { plans, keep } = await open();
    await expect(keep(plan)).rejects.toMatchObject({ code: 'invalid_request', issues });
    expect(await plans.list('ann')).toEqual([]);
  });

  it('says of a tool that policy hides no more than of one that is not there', async () => {
    const { plans } = await open({ rules: [{ name: 'shut', match: { tool: 'close_room' }, decision: 'deny' }] });
    for (const tool of ['close_room', 'close_rom'])
      await expect(
        plans.keep('ann', { name: 'x', plan: withSteps({ id: 's1', tool, arguments: { zz: 1 } }) }),
      ).rejects.toMatchObject({
        issues: [expect.stringMatching(`^s1.tool: there is no tool "${tool}"(?:; near: list_rooms)?$`)],
      });
  });

  it('may take a secret as an input of each run', async () => {
    const { keep } = await open();
    const plan = {
      ...withSteps({ ...S3, id: 's1', arguments: { to: 'a', key: '${input.pin}' } }),
      inputs: { pin: {} },
    };
    expect((await keep(plan)).plan.steps[0]?.arguments).toEqual({ to: 'a', key: '${input.pin}' });
  });

  it('has a place for 200 plans of a user, also where many come at once, and for no plan of a megabyte', async () => {
    const { keep } = await open();
    await expect(keep({ ...PLAN, goal: 'x'.repeat(2 ** 20) })).rejects.toThrow('262144 are kept at most');
    for (let number = 3; number < 200; number++) await keep(PLAN, { name: `plan-${number}` });
    const atOnce = await Promise.allSettled(['a', 'b', 'c', 'd', 'e'].map((name) => keep(PLAN, { name })));
    expect(atOnce.filter(({ status }) => status === 'fulfilled')).toHaveLength(3);
    await expect(keep(PLAN, { name: 'one-more' })).rejects.toThrow('you keep 200 plans');
    await keep(PLAN, { name: 'one-more', user: 'bob' });
  });
});

describe('a plan in the forms of others', () => {
  it('is a flowchart of Mermaid, in which no text of a plan is markup', () => {
    expect(toMermaid(PLAN).split('\n')).toEqual([
      'flowchart TD',
      '  n1["s1: list_rooms"]',
      '  n2["s2: close_room<br/>for each $#123;s1.rooms#125;<br/>when $#123;item.level#125; is above 5"]',
      '  n1 -- "rooms" --> n2',
      '  n3["s3: send_mail"]',
      '  n2 -- "#91;0#93;.closed" --> n3',
    ]);
    const hostile = {
      steps: [
        { id: 's1', tool: '"]; click n1 "javascript:alert(1)', arguments: {} },
        { id: 's2', tool: '<b>`end`', arguments: {}, dependsOn: ['s1'] },
      ],
    };
    expect(toMermaid(hostile)).not.toMatch(/<b>|`|\(|"\]; |click n1 "/u);
    expect(toMermaid(hostile)).toContain('n1 -.-> n2');
  });

  const FLAT: RunnablePlan = {
    goal: 'Tell Ann',
    inputs: PLAN.inputs,
    steps: [
      {
        id: 's2',
        tool: 'send_mail',
        arguments: { to: '${input.to}', body: 'First: ${s1.rooms[0].id} of ${s1["a b"]}' },
      },
      { id: 's1', tool: 'list_rooms', arguments: { city: '${input.city}' }, purpose: 'Rooms' },
    ],
  };

  it('is an Arazzo workflow over the calls of a session, in an order that works', () => {
    const document = toArazzo(FLAT, { name: 'tell-ann', version: '7' });
    expect(document).toMatchObject({
      arazzo: '1.1.0',
      info: { title: 'Tell Ann', version: '7' },
      sourceDescriptions: [{ type: 'openapi' }],
    });
    expect(document.workflows[0]).toMatchObject({
      workflowId: 'tell-ann',
      inputs: { required: ['session', 'to'], properties: { city: { description: 'Where to look', default: 'Paris' } } },
      steps: [
        {
          stepId: 's1',
          description: 'Rooms',
          operationId: 'callTool',
          parameters: [{ name: 'id', in: 'path', value: '$inputs.session' }],
          requestBody: { payload: { tool: 'list_rooms', arguments: { city: '$inputs.city' } } },
          outputs: { result: '$response.body#/output', 'rooms_5b_0_5d_-id': '$response.body#/output/rooms/0/id' },
        },
        {
          stepId: 's2',
          requestBody: {
            payload: {
              arguments: {
                to: '$inputs.to',
                body: expect.stringContaining('First: {$steps.s1.outputs.rooms_5b_0_5d_-id} of {$steps.s1.outputs.'),
              },
            },
          },
        },
      ],
    });
  });

  it.each<[RunnablePlan, string]>([
    [PLAN, 's2: Arazzo has no loop or condition'],
    [
      withSteps({ ...S3, id: 's1', arguments: { to: '$inputs.session' } }),
      's1.arguments.to: Arazzo would read it as an expression',
    ],
    [
      withSteps({ ...S3, id: 's1', arguments: { to: 'a {$steps.s1.outputs.x}' } }),
      's1.arguments.to: Arazzo would read it as an expression',
    ],
    ...['$self', '$message.body', '{$self}'].map((to): [RunnablePlan, string] => [
      withSteps({ ...S3, id: 's1', arguments: { to } }),
      's1.arguments.to: Arazzo would read it as an expression',
    ]),
    [
      withSteps({ ...S3, id: 's1', tool: '{$inputs.session}', arguments: {} }),
      's1.tool: Arazzo would read it as an expression',
    ],
    [{ ...FLAT, inputs: { ...FLAT.inputs, session: {} } }, 'inputs: "session" is the input for the session'],
  ])('is refused where Arazzo has no words for it: %#', (plan, issue) => {
    expect(() => toArazzo(plan, { name: 'x', version: '1' })).toThrow(issue);
  });

  it('is refused with as much text as is read, however long its names are', () => {
    const plan = withSteps({ ...S1, arguments: { [LONG]: Array(30).fill('$url') } });
    expect(() => toArazzo(plan, { name: 'x', version: '1' })).toThrow(
      /^.{100,5000} and more: 10 are not shown or not looked at\.$/u,
    );
  });
});
