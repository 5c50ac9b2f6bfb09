import { describe, expect, it } from 'vitest';
import { languageOf } from '../../src/core/language.js';
import { createPlanner } from '../../src/core/planner.js';
import type { PlanRequest } from '../../src/core/request.js';
import { createScriptedModel } from '../support/scripted-model.js';
import { makeTool, namesOf, naming, needing, notesOf, plannerOf, planOf, returning, TOOLS } from './selection/setup.js';

const needTools = (what: string) => JSON.stringify({ kind: 'needTools', needTools: what });
const UNPLANNABLE = '{"kind":"unplannable","reason":"there is no way"}';

it.each([
  ['{"model": {}}', /planner\.catalog: is missing.*; planner\.model: is missing/u],
  ['{"catalog": {"tools": []}}', /: planner\.model: is missing: give that of createModel\.$/u],
])('a planner without its parts is refused, and each is named: %s', (parts, message) => {
  expect(() => createPlanner(JSON.parse(parts))).toThrow(message);
});

describe('the path of a request', () => {
  it('is one selection and one planning, and ends in a checked plan', async () => {
    const tools = [
      ...TOOLS,
      makeTool('find_parcel', { inputSchema: needing('name'), outputSchema: returning('parcel_id') }),
      makeTool('parcel_weight', { inputSchema: needing('parcel_id') }),
    ];
    const steps = [
      { id: 's1', tool: 'find_parcel', arguments: { name: 'blue' } },
      { id: 's2', tool: 'parcel_weight', arguments: { parcel_id: '${s1.parcel_id}' } },
    ];
    const model = createScriptedModel({ answers: [naming('parcel_weight'), JSON.stringify({ kind: 'plan', steps })] });
    const result = await plannerOf({ tools, model }).plan({ message: 'How heavy is the blue parcel?' });
    expect(result).toMatchObject({
      kind: 'plan',
      steps: [{ dependsOn: [] }, { dependsOn: ['s1'] }],
      levels: [['s1'], ['s2']],
      selection: { mode: 'selected', tools: [{ name: 'find_parcel', via: 'producer' }, { name: 'parcel_weight' }] },
      usage: { selection: { calls: 1 }, planning: { calls: 1 } },
    });
    expect(result.usage.schemaTokens.loaded).toBeGreaterThan(0);
    expect(result.usage.schemaTokens.loaded).toBeLessThan(result.usage.schemaTokens.all);
    expect(result.trace.map(({ stage }) => stage)).toEqual(['scope', 'summaries', 'selection', 'planning']);
    model.assertDone();
  });

  it('asks no model where there are no tools, and says so', async () => {
    const model = createScriptedModel({ answers: [] });
    const empty = await plannerOf({ tools: [], model }).plan({ message: 'music' });
    expect(empty).toMatchObject({ kind: 'unplannable', reason: expect.stringContaining('There are no tools') });
    const hidden = await plannerOf({ model }).plan({ message: 'music', allow: [] });
    expect(hidden).toMatchObject({ kind: 'unplannable', usage: { planning: { calls: 0 } } });
  });

  it('shows planning the schemas of the chosen tools and of no other', async () => {
    const model = createScriptedModel({ answers: [naming('play_song'), planOf('play_song')] });
    await plannerOf({ model }).plan({ message: 'music' });
    const seen = JSON.stringify(model.calls[1]);
    expect(seen).toContain('Music from the loudspeaker');
    for (const { name } of TOOLS) expect(seen.includes(name)).toBe(name === 'play_song');
  });

  it('tells the session in the first event and with every call of the model, and nowhere else', async () => {
    const model = createScriptedModel({ answers: [naming('play_song'), planOf('play_song')] });
    const { trace } = await plannerOf({ model }).plan({ message: 'music', session: 'chat-7' });
    expect(trace[0]).toMatchObject({ stage: 'scope', session: 'chat-7' });
    expect(model.calls.map(({ about }) => about?.session)).toEqual(['chat-7', 'chat-7']);
    expect(JSON.stringify(model.calls.map(({ prompt }) => prompt))).not.toContain('chat-7');
  });

  it.each<[string, () => void]>([
    [
      'throws',
      () => {
        throw new Error('deaf');
      },
    ],
    ['rejects', () => Promise.reject(new Error('deaf'))],
  ])('goes on where a listener %s, and says so once', async (_, onEvent) => {
    const model = createScriptedModel({ answers: [naming('play_song'), planOf('play_song')] });
    const { kind, trace } = await plannerOf({ model }).plan({ message: 'music' }, { onEvent });
    expect(kind).toBe('plan');
    expect(notesOf(trace, 'listener')).toBe('onEvent failed: deaf');
    expect(trace.map(({ stage }) => stage)).toEqual(expect.arrayContaining(['scope', 'selection', 'planning']));
  });

  it('tells its events as they happen', async () => {
    const model = createScriptedModel({ answers: [naming('play_song'), planOf('play_song')] });
    const told: string[] = [];
    const call = { onEvent: ({ stage }: { stage: string }) => void told.push(`${stage} after ${model.calls.length}`) };
    await plannerOf({ model }).plan({ message: 'music' }, call);
    expect(told).toEqual(['scope after 0', 'summaries after 0', 'selection after 1', 'planning after 1']);
  });

  // Expressions that read a run again from each of its places need minutes for these.
  it.each(['-', '.', 'a-', 'A', ' ', 'id:', 'é', '的'])('takes a long message of nothing but %j', async (run) => {
    const limits = { contextTokens: 1_000_000 };
    const model = createScriptedModel({ answers: [naming('play_song'), planOf('play_song')], limits });
    const message = `${run.repeat(90_000 / run.length)}x`;
    expect(await plannerOf({ model }).plan({ message })).toMatchObject({ kind: 'plan' });
  });

  it.each([
    [
      'a question back',
      '{"kind":"clarification","question":"Which one?","missing":["name"]}',
      { question: 'Which one?' },
    ],
    ['the reason why not', UNPLANNABLE, { reason: 'there is no way' }],
  ])('may end in %s, also when no tool fits', async (_, answer, expected) => {
    for (const chosen of [naming('play_song'), naming()]) {
      const model = createScriptedModel({ answers: [chosen, answer] });
      expect(await plannerOf({ model }).plan({ message: 'x' })).toMatchObject(expected);
      model.assertDone();
    }
  });

  it.each([{}, { message: ' ' }, { message: 'x', maxTools: 0 }, { message: 'x', unknown: 1 }])(
    'refuses the request %j before it asks a model',
    async (request) => {
      const model = createScriptedModel();
      const planner = plannerOf({ model });
      await expect(planner.plan(request as PlanRequest)).rejects.toMatchObject({ code: 'invalid_request' });
      await expect(planner.select(request as PlanRequest)).rejects.toMatchObject({ code: 'invalid_request' });
      model.assertDone();
    },
  );
});

describe('the language of the user', () => {
  const said = (content: string) => ({ role: 'user' as const, content });

  it.each<[string, Partial<PlanRequest>, string]>([
    ['as the caller says', { message: '今天的水位', locale: 'de-CH' }, 'de'],
    ['Chinese', { message: '盘石头水库当前水位' }, 'zh'],
    ['Chinese with names of code', { message: '把 src/planner.ts 里的 createPlanner 重命名' }, 'zh'],
    ['Japanese', { message: '東京の天気を教えてください' }, 'ja'],
    ['Korean', { message: '서울의 水位를 알려줘' }, 'ko'],
    ['Russian', { message: 'Какой сейчас уровень воды?' }, 'ru'],
    ['Arabic', { message: 'ما هو منسوب المياه الآن؟' }, 'ar'],
    ['Persian, whose script Arabic has too', { message: 'سطح آب چقدر است؟' }, 'fa'],
    ['Spanish', { message: '¿Cuál es el nivel del agua ahora?' }, 'es'],
    ['English', { message: 'What is the water level?' }, 'en'],
    ['English in few words', { message: 'commits since Monday' }, 'en'],
    ['Portuguese, though much of it could be English', { message: 'Mostre as vendas em março' }, 'pt'],
    ['English with a Chinese name', { message: 'What is the level at 盘石头水库 now?' }, 'en'],
    ['that of the message before a number', { message: '218', history: [said('客人要两条毛巾')] }, 'zh'],
    ['that of the message before a code in Latin letters', { message: 'M-311', history: [said('谁是客人')] }, 'zh'],
    ['that of the message before a code', { message: 'M-311', history: [said('Qui est le client ?')] }, 'fr'],
    [
      'that of the message before two codes, not of an answer',
      { message: '3', history: [said('两条毛巾'), { role: 'assistant', content: 'Which room?' }, said('218')] },
      'zh',
    ],
    ['told by the message before few words', { message: 'dos', history: [said('Reserva una mesa para hoy')] }, 'es'],
    ['its own, where the words tell it', { message: 'Lösche Rechnung 120', history: [said('Book a table')] }, 'de'],
    ['its own in many words', { message: 'book it for tomorrow', history: [said('Wer hat Zeit?')] }, 'en'],
    ['its own behind another script', { message: '新村呢', history: [said('The level at Xincun')] }, 'zh'],
    ['English, where nothing tells', { message: '218' }, 'en'],
  ])('is known: %s', (_, request, language) => {
    expect(languageOf({ message: 'x', ...request })).toBe(language);
  });

  it.each([
    [{ locale: 'de-CH' }, 'de-CH'],
    [{}, 'that of the request'],
  ])('is told to a model that writes the plan: %j', async (request, language) => {
    const model = createScriptedModel({ answers: [naming('play_song'), planOf('play_song')] });
    await plannerOf({ model }).plan({ message: 'x', ...request });
    expect(model.calls[1]?.prompt.user).toContain(`The user's language is ${language}.`);
  });
});

describe('the stable prefix', () => {
  const requests: PlanRequest[] = [
    { message: 'music' },
    {
      message: 'Mail? '.repeat(100),
      intent: 'office',
      entities: { a: 1 },
      history: [{ role: 'user', content: 'hello' }],
      user: 'nobody',
      session: 's',
      maxTools: 3,
      require: ['play_song'],
      today: '2026-11-22',
      locale: 'de',
    },
  ];

  it('is byte for byte the same between two requests, in both stages', async () => {
    const model = createScriptedModel({
      answers: ({ stage }) => (stage === 'planning' ? planOf('play_song') : naming('play_song')),
    });
    const planner = plannerOf({ model });
    for (const request of requests) await planner.plan(request);
    const prefixes = (stage: string) =>
      model.calls.filter((call) => call.stage === stage).map(({ prompt }) => Buffer.from(prompt.system));
    for (const stage of ['selection', 'planning']) {
      const [one, other] = prefixes(stage);
      expect(one?.length).toBeGreaterThan(100);
      expect(other?.equals(one ?? Buffer.alloc(0))).toBe(true);
    }
  });

  it('holds nothing of the request', async () => {
    const model = createScriptedModel({ answers: () => naming('play_song') });
    await plannerOf({ model }).select({ message: 'XYZZY', intent: 'PLUGH', entities: { PLOVER: 1 } });
    expect(model.calls[0]?.prompt.system).not.toMatch(/XYZZY|PLUGH|PLOVER/u);
    expect(model.calls[0]?.prompt.user).toMatch(/PLUGH[\s\S]*PLOVER[\s\S]*XYZZY/u);
  });
});

describe('history', () => {
  const history = Array.from({ length: 30 }, (_, place) => ({ role: 'user' as const, content: `message ${place}.` }));

  it('reaches selection and planning through a bounded window', async () => {
    const model = createScriptedModel({ answers: [naming('play_song'), planOf('play_song')] });
    await plannerOf({ model, options: { historyMessages: 2 } }).plan({ message: 'do it', history });
    for (const { prompt } of model.calls) {
      expect(prompt.user).toContain('message 28.\nuser: message 29.');
      expect(prompt.user).not.toContain('message 27.');
    }
  });
});

describe('a missing tool', () => {
  it('leads to one more selection over the rest', async () => {
    const model = createScriptedModel({
      answers: [
        naming('play_song'),
        needTools('a way to brew'),
        naming('brew_coffee'),
        planOf('play_song', 'brew_coffee'),
      ],
    });
    const result = await plannerOf({ model }).plan({ message: 'music and a drink' });
    expect(result.kind).toBe('plan');
    expect(namesOf(result.selection)).toEqual(['play_song', 'brew_coffee']);
    const second = model.calls[2]?.prompt;
    expect(second?.system).not.toContain('play_song');
    expect(second?.user).toMatch(/music and a drink.*a way to brew/u);
    expect(notesOf(result.trace, 'planning')).toContain('a way to brew');
    expect(result.usage).toMatchObject({ selection: { calls: 2 }, planning: { calls: 2 } });
    model.assertDone();
  });

  it.each([1, 2, 3])('is looked for in %d rounds at most, then it is a plan without it', async (maxRounds) => {
    const rounds = Array.from({ length: maxRounds - 1 }, (_, place) => [
      naming(TOOLS[place]?.name ?? ''),
      needTools('more'),
    ]);
    const last = TOOLS[maxRounds]?.name ?? '';
    const model = createScriptedModel({ answers: [...rounds.flat(), naming(last), planOf(last)] });
    const result = await plannerOf({ model, options: { maxRounds } }).plan({ message: 'x' });
    expect(result.kind).toBe('plan');
    const canAsk = model.calls
      .filter(({ stage }) => stage === 'planning')
      .map((call) => JSON.stringify(call.schema).includes('needTools'));
    expect(canAsk).toEqual([...Array(maxRounds - 1).fill(true), false]);
    model.assertDone();
  });

  it('that stays missing ends unplannable, not in a circle', async () => {
    const answers = [
      naming('play_song'),
      needTools('magic'),
      naming('brew_coffee'),
      needTools('magic'),
      needTools('magic'),
    ];
    const model = createScriptedModel({ answers });
    const result = await plannerOf({ model }).plan({ message: 'x' });
    expect(result).toMatchObject({ kind: 'unplannable', reason: expect.stringContaining('magic') });
    expect(model.calls.length).toBeLessThanOrEqual(answers.length);
  });

  it('does not make a required tool unknown', async () => {
    const answers = [naming('play_song'), needTools('a drink'), naming('brew_coffee'), planOf('read_mail')];
    const model = createScriptedModel({ answers });
    const { selection } = await plannerOf({ model }).plan({ message: 'x', require: ['read_mail'] });
    expect(selection.dropped).toEqual([]);
  });

  it('keeps what the caller requires, also where the model names it, and drops nothing that it has', async () => {
    const three = naming('play_song', 'book_flight', 'brew_coffee');
    const second = [needTools('weather'), naming('weather_report'), planOf('weather_report')];
    const required = await plannerOf({
      model: createScriptedModel({ answers: [three, ...second] }),
      options: { maxTools: 3 },
    }).plan({ message: 'music', require: ['brew_coffee'] });
    expect(required.selection.tools.map(({ name }) => name)).toContain('brew_coffee');
    const again = [needTools('coffee'), naming('brew_coffee'), planOf('play_song', 'brew_coffee')];
    const taken = await plannerOf({
      model: createScriptedModel({ answers: [three, ...again] }),
      options: { maxTools: 2 },
    }).plan({ message: 'music and a drink' });
    expect(taken.selection.tools.map(({ name }) => name)).toContain('brew_coffee');
    expect(taken.selection.dropped.map(({ name }) => name)).not.toContain('brew_coffee');
  });

  it('does not lead past maxTools', async () => {
    const answers = [naming('play_song'), needTools('a drink'), naming('brew_coffee'), planOf('brew_coffee')];
    const model = createScriptedModel({ answers });
    const { selection } = await plannerOf({ model }).plan({ message: 'x', maxTools: 1 });
    expect(selection.tools).toHaveLength(1);
  });

  it('takes the place of what was chosen, never of what is required, and says what gave way', async () => {
    const answers = [
      naming('play_song', 'count_sheep'),
      needTools('a drink'),
      naming('brew_coffee'),
      planOf('read_mail'),
    ];
    const model = createScriptedModel({ answers });
    const result = await plannerOf({ model }).plan({ message: 'x', require: ['read_mail'], maxTools: 3 });
    expect(namesOf(result.selection)).toEqual(expect.arrayContaining(['read_mail', 'play_song', 'brew_coffee']));
    expect(result.selection.tools).toHaveLength(3);
    expect(result.selection.dropped).toEqual([{ name: 'count_sheep', reason: 'cap' }]);
    expect(result.kind).toBe('plan');
  });

  it('cannot be asked for where all places are for what is required', async () => {
    const model = createScriptedModel({ answers: [naming('play_song'), planOf('read_mail')] });
    await plannerOf({ model }).plan({ message: 'x', require: ['read_mail'], maxTools: 1 });
    expect(JSON.stringify(model.calls[1]?.schema)).not.toContain('needTools');
    model.assertDone();
  });

  it.each([
    ['fails', [naming('xyzzy'), naming('plugh')], 'none of', 'fallback'],
    ['finds none', [naming()], 'they fit', 'selected'],
  ])('leaves the story of the first round where the second %s', async (_, second, told, mode) => {
    const answers = [naming('play_song'), needTools('magic'), ...second, planOf('play_song')];
    const model = createScriptedModel({ answers });
    const { selection } = await plannerOf({ model }).plan({ message: 'x' });
    expect(selection).toMatchObject({ mode, reason: expect.stringContaining(told) });
    expect(namesOf(selection)[0]).toBe('play_song');
  });

  it('cannot be asked for when all visible tools are there', async () => {
    const model = createScriptedModel({ answers: [UNPLANNABLE] });
    await plannerOf({ model, options: { passthroughTools: 50 } }).plan({ message: 'x' });
    expect(JSON.stringify(model.calls[0]?.schema)).not.toContain('needTools');
  });

  it('is not asked for where the model saw all tools and found that none fits', async () => {
    const model = createScriptedModel({ answers: [naming(), UNPLANNABLE] });
    await plannerOf({ model }).plan({ message: 'x' });
    expect(JSON.stringify(model.calls[1]?.schema)).not.toContain('needTools');
    model.assertDone();
  });

  it('is looked for among visible tools only', async () => {
    const secret = makeTool('secret_plan', { scope: { user: 'ann' } });
    const model = createScriptedModel({
      answers: [naming('play_song'), needTools('secret_plan'), naming('secret_plan', 'read_mail'), UNPLANNABLE],
    });
    const { selection } = await plannerOf({ tools: [...TOOLS, secret], model }).plan({
      message: 'x',
      deny: ['count_sheep'],
    });
    expect(namesOf(selection)).toEqual(['play_song', 'read_mail']);
    expect(model.calls[2]?.prompt.system).not.toMatch(/secret_plan|count_sheep/u);
  });
});
