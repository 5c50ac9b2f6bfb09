import { describe, expect, it } from 'vitest';
import type { Risk } from '../../../../src/core/catalog/risk.js';
import type { Tool } from '../../../../src/core/catalog/tool.js';
import { WinnowError } from '../../../../src/core/errors.js';
import type { CallAbout, Prompt } from '../../../../src/core/model/model.js';
import type { OptionsInput } from '../../../../src/core/options.js';
import { createScriptedModel } from '../../../support/scripted-model.js';
import { makeTool, naming, needing, plannerOf, returning, toolOf } from '../../selection/setup.js';
import { type Answer, answering, chooses, decide, type Script, scripted } from './setup.js';

const text = { type: 'string' };
const DAY = { type: 'string', format: 'date' };
const PLACE = { type: 'string', description: 'Name of the place' };
const weather = toolOf('weather', { place: PLACE, day: DAY, units: { enum: ['metric', 'imperial'] } }, ['place']);
const note = toolOf('write_note', { body: text });
const findParcel = makeTool('find_parcel', { inputSchema: needing('name'), outputSchema: returning('parcel_id') });
const weigh = makeTool('parcel_weight', { inputSchema: needing('parcel_id') });
const track = makeTool('parcel_track', { inputSchema: needing('parcel_id') });

const OSLO = 'Weather in Oslo tomorrow';
const single = (message: string, tool: string, more: Record<string, number> = {}): Answer => ({
  [chooses(message, tool)]: 1,
  ...more,
});

const yes = (probability: number): Answer => ({ 'yes"}': probability, 'no"}': 1 - probability });
const same = (probability: number): Answer => ({ 'same call"}': probability, 'other call"}': 1 - probability });

const listOf = (asks: readonly string[]) => `${asks.length}, "asks": ${JSON.stringify(asks)}`.replaceAll('","', '", "');

/** Several things, each with its tool, also where it is read alone. */
const asked = (...asks: [string, string][]) => ({
  asks: listOf(asks.map(([ask]) => ask)),
  tool: (message: string): Answer => {
    const alone = asks.find(([ask]) => ask === message);
    if (alone) return chooses(...alone);
    return asks.map((ask) => chooses(...ask)).join(', {"do": ');
  },
});

/** The values that are called for, and those that are left alone, as the model would list them. */
const sorted = (called: readonly string[], left: readonly string[] = []) =>
  `${called.map((one) => JSON.stringify(one)).join(', ')}], "left alone": ${JSON.stringify(left)}}`;

describe('what is asked for', () => {
  it('is the message itself where it asks for one thing: four readings make the plan, and two without a request', async () => {
    const { result, prompts } = await decide([weather], OSLO, {
      tool: single(OSLO, 'weather'),
      arguments: { weather: '"place": "Oslo", "day": "2026-11-24"}' },
    });
    const unasked = ['choose-tool', 'check-fit'];
    expect([...prompts].sort()).toEqual(['split-asks', 'fill-arguments', ...unasked, ...unasked].sort());
    expect(result).toMatchObject({
      kind: 'plan',
      goal: OSLO,
      steps: [
        {
          tool: 'weather',
          arguments: { place: 'Oslo', day: '2026-11-24' },
          from: { place: 'request', day: 'computed' },
          purpose: OSLO,
        },
      ],
      unserved: [],
    });
  });

  it('is compared with what an empty request would give; of tools that is read once a model', async () => {
    const model = scripted({ tool: single(OSLO, 'weather'), arguments: { weather: '"place": "Oslo"}' } });
    const planner = plannerOf({ tools: [weather], model, options: { passthroughTools: 50 } });
    const readings = [];
    for (let count = 0; count < 2; count++) {
      await planner.plan({ message: OSLO });
      readings.push(model.readerCalls.length);
    }
    expect(readings).toEqual([6, 10]);
  });

  it('is not compared anew in a process whose model has kept what an empty request gives', async () => {
    const readings = new Map<string, unknown>();
    const kept = {
      get: (key: string) => readings.get(key),
      set: (key: string, value: unknown) => readings.set(key, value),
    };
    const counts = [];
    for (let process = 0; process < 2; process++) {
      const model = scripted({ tool: single(OSLO, 'weather'), arguments: { weather: '"place": "Oslo"}' } });
      const planner = plannerOf({
        tools: [weather],
        model: { ...model, readings: kept },
        options: { passthroughTools: 50 },
      });
      await planner.plan({ message: OSLO });
      counts.push(model.readerCalls.length);
    }
    expect(counts).toEqual([6, 4]);
    expect([...readings.keys()].join()).not.toContain('weather');
  });

  const BOTH = 'Weather in Oslo and Rome';
  const asks = '2, "asks": ["weather in Oslo", "weather in Rome"]}';
  const together = `${chooses('weather in Oslo', 'weather')}, {"do": ${chooses('weather in Rome', 'weather')}]}`;
  const place = (message: string) => `"place": "${message.split(' ').at(-1)}"}`;

  it('is several things, each a step', async () => {
    const { result } = await decide([weather, note], BOTH, {
      asks,
      tool: (message) => (message === BOTH ? together : chooses(message, 'weather')),
      arguments: { weather: '"place": "Oslo"}' },
      sorts: () => sorted(['Oslo', 'Rome']),
    });
    expect(result).toMatchObject({
      steps: [
        { arguments: { place: 'Oslo' }, purpose: BOTH },
        { arguments: { place: 'Rome' }, purpose: 'weather in Rome' },
      ],
      levels: [['s1', 's2']],
    });
  });

  it('is one step where two things come to one call, with the defaults of what neither says', async () => {
    const inUnit = toolOf('weather', { place: text, unit: { enum: ['C', 'F'], default: 'C' } }, ['place']);
    const { result } = await decide([inUnit, note], BOTH, {
      asks,
      tool: (message) => (message === BOTH ? together : chooses(message, 'weather')),
      arguments: { weather: (message) => `"place": "Oslo", "unit": ${message.endsWith('Rome') ? 'null' : '"C"'}}` },
    });
    expect(result).toMatchObject({ steps: [{ arguments: { place: 'Oslo', unit: 'C' } }] });
  });

  describe('for one tool', () => {
    const doubtful = { '1}': 0.9, '2}': 0.1 };
    const towns = (message: string) => ({
      tool: single(message, 'weather'),
      asks: doubtful,
      arguments: { weather: '"place": "Oslo"}' },
    });

    it('is a call for each of its values, however many', async () => {
      const message = 'Weather in Oslo, Rome and Bonn';
      const sorts = (call: string) => (call === 'weather(place)' ? sorted(['Oslo', 'Rome', 'Bonn']) : '');
      const { result, steps } = await decide([weather, note], message, { ...towns(message), sorts });
      expect(steps.map((step) => step.arguments)).toEqual([{ place: 'Oslo' }, { place: 'Rome' }, { place: 'Bonn' }]);
      expect(result).toMatchObject({ steps: [{ from: { place: 'request' } }, { from: { place: 'request' } }, {}] });
    });

    it.each([
      ['what it leaves alone', 'Weather in Oslo, not in Rome', sorted(['Oslo'], ['Rome'])],
      [
        'a value that may be meant',
        'Weather in Oslo or Rome',
        { [sorted(['Oslo', 'Rome'])]: 0.9, [sorted(['Oslo'])]: 0.1 },
      ],
    ])('has no call for %s', async (_, message, answer) => {
      const { steps } = await decide([weather, note], message, { ...towns(message), sorts: () => answer });
      expect(steps.map((step) => step.arguments)).toEqual([{ place: 'Oslo' }]);
    });

    it('has no call for a value of another argument', async () => {
      const message = 'The way from Oslo to Rome';
      const route = makeTool('route', { inputSchema: needing('from', 'to') });
      const { steps } = await decide([route, note], message, {
        tool: single(message, 'route'),
        asks: doubtful,
        arguments: { route: '"from": "Oslo", "to": "Rome"}' },
        sorts: () => sorted(['Oslo', 'Rome']),
      });
      expect(steps.map((step) => step.arguments)).toEqual([{ from: 'Oslo', to: 'Rome' }]);
    });

    it('is a call for a number whose digits are in another one', async () => {
      const message = 'Read pages 70 and 7';
      const { steps } = await decide([toolOf('read_page', { page: { type: 'integer' } }), note], message, {
        tool: single(message, 'read_page'),
        asks: doubtful,
        arguments: { read_page: '"page": 70}' },
        sorts: () => '70, 7], "left alone": []}',
      });
      expect(steps.map((step) => step.arguments)).toEqual([{ page: 70 }, { page: 7 }]);
    });

    it('is not looked at where it is surely one call', async () => {
      const message = 'Weather in Oslo and Rome';
      const { prompts } = await decide([weather, note], message, {
        ...towns(message),
        asks: '1}',
        sorts: () => sorted(['Oslo', 'Rome']),
      });
      expect(prompts).not.toContain('sort-values');
    });

    it.each<[string, Answer, number]>([
      ['once, where its arguments take all that is said', same(0.6), 1],
      ['several times, where they do not', same(0.4), 2],
    ])('and values that are no words of the request is called %s', async (_, joins, count) => {
      const message = 'Weather in Oslo in both units';
      const parts = ['weather in Oslo in C', 'weather in Oslo in F'];
      const inUnit = toolOf('weather', { place: text, unit: { enum: ['celsius', 'fahrenheit'] } });
      const { steps } = await decide([inUnit, note], message, {
        ...asked(...parts.map((part): [string, string] => [part, 'weather'])),
        asks: { '1}': 0.5, [listOf(parts)]: 0.5 },
        joins: () => joins,
        arguments: { weather: (of) => `"place": "Oslo", "unit": "${of.endsWith('F') ? 'fahrenheit' : 'celsius'}"}` },
      });
      const purposes = steps.map(({ purpose }) => purpose);
      expect(purposes).toEqual(count === 1 ? [message] : parts);
    });

    it('is one call where that has a list of them', async () => {
      const message = 'Pens and maps by tomorrow';
      const parts = ['pens by tomorrow', 'maps by tomorrow'];
      const order = toolOf('order', { products: { type: 'array', items: text }, by: DAY }, ['products']);
      const { steps } = await decide([order, note], message, {
        ...asked(...parts.map((part): [string, string] => [part, 'order'])),
        asks: { '1}': 0.4, [listOf(parts)]: 0.6 },
        sorts: () => sorted(['Pens', 'maps']),
        arguments: {
          order: (of) =>
            `"products": ${of === message ? '["Pens", "maps"]' : JSON.stringify([of.split(' ')[0]])}, "by": "2026-11-24"}`,
        },
      });
      expect(steps.map((step) => step.arguments)).toEqual([{ products: ['Pens', 'maps'], by: '2026-11-24' }]);
    });

    it('is one call where its values leave the others alone, however many asks the model wrote', async () => {
      const message = 'Price of K7 to 12, K8 stays at 14';
      const { steps } = await decide(
        [makeTool('set_price', { inputSchema: needing('product', 'price') }), note],
        message,
        {
          ...asked(['price of K7 to 12', 'set_price'], ['K8 stays at 14', 'set_price']),
          arguments: { set_price: '"product": "K7", "price": "12"}' },
          sorts: (call) => (call === 'set_price(product)' ? sorted(['K7'], ['K8']) : sorted(['12'], ['14'])),
        },
      );
      expect(steps.map((step) => step.arguments)).toEqual([{ product: 'K7', price: '12' }]);
    });

    it('is one ask where the model wrote several, and a further call is filled from its own', async () => {
      const message = 'Weather in Oslo in kelvin, and in Rome';
      const parts = ['weather in Oslo in kelvin', 'weather in Rome'];
      const asking = asked(...parts.map((part): [string, string] => [part, 'weather']));
      const { result } = await decide([weather, note], message, {
        ...asking,
        arguments: { weather: '"place": "Oslo"}' },
        sorts: () => sorted(['Oslo', 'Rome']),
      });
      expect(result).toMatchObject({
        steps: [
          { arguments: { place: 'Oslo' }, purpose: message },
          { arguments: { place: 'Rome' }, purpose: 'weather in Rome' },
        ],
      });
    });

    it.each([
      ['wanted', 0.75, 0.92, ['Oslo', 'Rome']],
      ['not wanted where the request surely asks for one thing', 0.96, 0.92, ['Oslo']],
      ['not wanted where the next value is in doubt', 0.3, 0.7, ['Oslo']],
    ])('by two opinions, a further call is %s', async (_, one, next, places) => {
      const message = 'Weather in Oslo and Rome';
      const { steps } = await decide([weather, note], message, {
        tool: single(message, 'weather'),
        asks: { '1}': one, [listOf([message, 'Weather in Oslo'])]: 1 - one },
        arguments: { weather: '"place": "Oslo"}' },
        sorts: () => ({ [sorted(['Oslo', 'Rome'])]: next, [sorted(['Oslo'], ['Rome'])]: 1 - next }),
      });
      expect(steps.map((step) => step.arguments)).toEqual(places.map((place) => ({ place })));
    });

    it('has the value that its own ask means, not the next one of the list', async () => {
      const message = 'Latency of search and cpu of mail';
      const read = toolOf('read_metric', { service: text, metric: text });
      const { steps } = await decide([read, note], message, {
        ...asked(['latency of search', 'read_metric'], ['cpu of mail', 'read_metric']),
        arguments: {
          read_metric: (of) =>
            of === message
              ? '"service": "search", "metric": "Latency"}'
              : { '"service": "mail", "metric": "cpu"}': 0.9, '"service": "cpu", "metric": "cpu"}': 0.1 },
        },
        sorts: () => sorted(['search', 'cpu']),
      });
      expect(steps.map((step) => step.arguments)).toEqual([
        { service: 'search', metric: 'Latency' },
        { service: 'mail', metric: 'cpu' },
      ]);
    });

    it('has what the request says once in each of its calls', async () => {
      const message = 'Weather in Oslo and Rome in fahrenheit';
      const inUnit = toolOf('weather', { place: text, unit: text }, ['place']);
      const { steps } = await decide([inUnit, note], message, {
        ...towns(message),
        arguments: {
          weather: { '"place": "Oslo", "unit": "fahrenheit"}': 0.5, '"place": "Rome", "unit": null}': 0.5 },
        },
        unasked: { arguments: '"place": "Oslo", "unit": null}' },
        sorts: (call) => (call === 'weather(place)' ? sorted(['Oslo', 'Rome']) : sorted(['fahrenheit'])),
      });
      expect(steps.map((step) => step.arguments)).toEqual([
        { place: 'Oslo', unit: 'fahrenheit' },
        { place: 'Rome', unit: 'fahrenheit' },
      ]);
    });

    const LEVELS = {
      gauge: { enum: ['A', 'B'] },
      high: { type: 'integer' },
      top: { type: 'integer' },
      grade: { enum: ['high', 'low'] },
      kind: { enum: ['high', 'low'] },
    };
    const setLevels = async (message: string, first: string, second: string) => {
      const { steps } = await decide([toolOf('set_levels', LEVELS, ['gauge']), note], message, {
        tool: single(message, 'set_levels'),
        asks: doubtful,
        arguments: { set_levels: { [`"gauge": "A", ${first}}`]: 0.5, [`"gauge": "B", ${second}}`]: 0.5 } },
        unasked: { arguments: '"gauge": "A", "high": null, "top": null, "grade": null, "kind": null}' },
        sorts: (call) => sorted(call === 'set_levels(gauge)' ? ['A', 'B'] : ['63']),
      });
      return steps.map((step) => step.arguments);
    };

    it.each([
      [
        'has a value that stands once for itself, not for an argument of the call before',
        'Set A to 63, B to 58',
        ['"high": 63, "top": 58', '"high": 58, "top": null'],
        [{ high: 63 }, { high: 58 }],
      ],
      [
        'shares a value that stands twice, in digits',
        'Set A to 63 and 58, B to 58',
        ['"high": 63, "top": 58', '"high": 58, "top": null'],
        [
          { high: 63, top: 58 },
          { high: 58, top: 58 },
        ],
      ],
      [
        'shares a value that stands twice, once in a word',
        'Set A to 63 and two, B to 2',
        ['"high": 63, "top": 2', '"high": 2, "top": null'],
        [
          { high: 63, top: 2 },
          { high: 2, top: 2 },
        ],
      ],
      [
        'shares a word that stands twice, in whatever case',
        'Give A grade low and kind High, B grade high',
        ['"grade": "low", "kind": "high"', '"grade": "high", "kind": null'],
        [
          { grade: 'low', kind: 'high' },
          { grade: 'high', kind: 'high' },
        ],
      ],
      [
        'leaves the call before the value with which it goes on, where it has one of its own',
        'Raise A from 10 to 63, B on to 80',
        ['"high": 10, "top": 63', '"high": 63, "top": 80'],
        [
          { high: 10, top: 63 },
          { high: 63, top: 80 },
        ],
      ],
    ] as const)('%s', async (_, message, [first, second], [a, b]) => {
      expect(await setLevels(message, first, second)).toEqual([
        { gauge: 'A', ...a },
        { gauge: 'B', ...b },
      ]);
    });

    it('has a day that stands once for itself', async () => {
      const message = 'Flights A-1 on December 3 and A-2 on December 10';
      const flights = toolOf('flights', { route: text, day: DAY, back: DAY }, ['route', 'day']);
      const { steps } = await decide([flights, note], message, {
        tool: single(message, 'flights'),
        asks: doubtful,
        arguments: {
          flights: {
            '"route": "A-1", "day": "2026-12-03", "back": "2026-12-10"}': 0.5,
            '"route": "A-2", "day": "2026-12-10", "back": null}': 0.5,
          },
        },
        unasked: { arguments: '"route": "A-1", "day": "2026-12-03", "back": null}' },
        sorts: (call) => sorted(call === 'flights(route)' ? ['A-1', 'A-2'] : []),
      });
      expect(steps.map((step) => step.arguments)).toEqual([
        { route: 'A-1', day: '2026-12-03' },
        { route: 'A-2', day: '2026-12-10' },
      ]);
    });

    it.each([
      ['two days are two calls', 'Rain in Oslo on Saturday and Sunday', ['2026-11-28', '2026-11-29']],
      ['both ends of a window are one', 'Rain in Oslo from Saturday to Sunday', ['2026-11-28']],
    ])('has the next value that is worked out: %s', async (_, message, days) => {
      const rain = toolOf('rain', { place: text, day: DAY });
      const { steps } = await decide([rain, note], message, {
        tool: single(message, 'rain'),
        asks: doubtful,
        arguments: {
          rain: { '"place": "Oslo", "day": "2026-11-28"}': 0.5, '"day": "2026-11-29", "place": "Oslo"}': 0.5 },
        },
        sorts: (call) => sorted(call === 'rain(day)' ? ['2026-11-28', '2026-11-29'] : ['Oslo']),
      });
      expect(steps.map((step) => step.arguments)).toEqual(days.map((day) => ({ place: 'Oslo', day })));
    });

    it('has the words of the message in place of those before it', async () => {
      const message = 'and in Rome?';
      const { steps } = await decide(
        [weather, note],
        { message, history: [{ role: 'user', content: 'Weather in Oslo' }] },
        {
          asks: { [`1, "asks": ["${message}"]}`]: 0.9, '2}': 0.1 },
          tool: chooses(message, 'weather'),
          arguments: { weather: '"place": "Oslo"}' },
          sorts: () => sorted(['Oslo', 'Rome']),
        },
      );
      expect(steps.map((step) => step.arguments)).toEqual([{ place: 'Rome' }]);
    });

    it('keeps a day of the message beside another one of it', async () => {
      const message = 'and in Rome on Saturday and Sunday?';
      const rain = toolOf('rain', { place: text, day: DAY });
      const { steps } = await decide(
        [rain, note],
        { message, history: [{ role: 'user', content: 'Rain in Oslo' }] },
        {
          asks: { [`1, "asks": ["${message}"]}`]: 0.9, '2}': 0.1 },
          tool: chooses(message, 'rain'),
          arguments: {
            rain: { '"place": "Rome", "day": "2026-11-28"}': 0.5, '"day": "2026-11-29", "place": "Rome"}': 0.5 },
          },
          sorts: (call) => sorted(call === 'rain(day)' ? ['2026-11-28', '2026-11-29'] : ['Rome']),
        },
      );
      expect(steps.map((step) => Object(step.arguments).day)).toEqual(['2026-11-28', '2026-11-29']);
    });

    it('takes a list in words apart', async () => {
      const message = 'Weather in Oslo, Rome und Bern';
      const { steps } = await decide([weather, note], message, {
        ...towns(message),
        arguments: { weather: '"place": "Oslo, Rome und Bern"}' },
        sorts: () => sorted(['Oslo', 'Rome', 'Bern']),
      });
      expect(steps.map((step) => step.arguments)).toEqual([{ place: 'Oslo' }, { place: 'Rome' }, { place: 'Bern' }]);
    });

    it('does not take apart what stands in quotation marks', async () => {
      const message = 'Note "Oslo, Rome" and then nothing else';
      const { steps } = await decide([toolOf('write_note', { body: text }, ['body'])], message, {
        tool: single(message, 'write_note'),
        asks: doubtful,
        arguments: { write_note: '"body": "Oslo, Rome"}' },
        sorts: () => sorted(['Oslo', 'Rome']),
      });
      expect(steps.map((step) => step.arguments)).toEqual([{ body: 'Oslo, Rome' }]);
    });

    it('does not take a path apart', async () => {
      const message = 'Delete tmp/a.log and tmp/b.log';
      const { steps } = await decide([toolOf('delete_file', { path: text }), note], message, {
        tool: single(message, 'delete_file'),
        asks: doubtful,
        arguments: { delete_file: '"path": "tmp/a.log"}' },
        sorts: () => ({ [sorted(['a.log', 'tmp'])]: 0.6, [sorted(['tmp/a.log', 'tmp/b.log'])]: 0.4 }),
      });
      expect(steps.map((step) => step.arguments)).toEqual([{ path: 'tmp/a.log' }, { path: 'tmp/b.log' }]);
    });

    it('is filled with its own value before the others, which go with it', async () => {
      const message = 'Set Oslo to 21 and Rome to 16';
      const set = toolOf('set_heating', { place: text, degrees: { type: 'integer' } });
      const { steps } = await decide([set, note], message, {
        tool: single(message, 'set_heating'),
        asks: doubtful,
        arguments: {
          set_heating: { '"place": "Oslo", "degrees": 21}': 0.5, '"degrees": 16, "place": "Rome"}': 0.5 },
        },
        sorts: (call) => (call === 'set_heating(degrees)' ? '21, 16], "left alone": []}' : sorted(['Oslo'])),
      });
      expect(steps.map((step) => step.arguments)).toEqual([
        { place: 'Oslo', degrees: 21 },
        { place: 'Rome', degrees: 16 },
      ]);
      expect(Object.keys(steps[1]?.arguments ?? {})).toEqual(['place', 'degrees']);
    });

    it('is looked for in the whole request, also behind a call with an ask of its own', async () => {
      const message = 'Set Oslo, Rome, Bern and Paris';
      const places = ['Oslo', 'Rome', 'Bern', 'Paris'];
      const set = toolOf('set_heating', { place: text });
      const { steps, model } = await decide([set, note], message, {
        ...asked(...places.map((place): [string, string] => [`Set ${place}`, 'set_heating'])),
        arguments: {
          set_heating: (ask) => `"place": "${places.find((place) => ask === `Set ${place}`) ?? 'Oslo'}"}`,
        },
        sorts: () => sorted(places),
      });
      expect(steps.map((step) => step.arguments)).toEqual(places.map((place) => ({ place })));
      const read = model.readerCalls.filter(({ about }) => about?.promptName === 'sort-values');
      expect(new Set(read.map(({ about }) => about?.variables?.message))).toEqual(new Set([message]));
    });

    it('has further numbers that are identifiers, though nothing before them says so', async () => {
      const message = 'Оплати 702 и 704';
      const pay = toolOf('pay', { invoice_id: { type: 'integer' } }, ['invoice_id']);
      const { steps } = await decide([pay, note], message, {
        tool: single(message, 'pay'),
        asks: doubtful,
        arguments: { pay: '"invoice_id": 702}' },
        sorts: () => '702, 704], "left alone": []}',
      });
      expect(steps.map((step) => step.arguments)).toEqual([{ invoice_id: 702 }, { invoice_id: 704 }]);
    });

    it('has the further values that the schema lists and the request names', async () => {
      const message = 'Rain in Weihe, Qihe; nothing else';
      const rain = toolOf('rain', { area: { enum: ['Weihe', 'Qihe', 'Anyang'] } });
      const { steps } = await decide([rain, note], message, {
        tool: single(message, 'rain'),
        asks: doubtful,
        arguments: { rain: '"area": "Weihe"}' },
        sorts: (call) => (call === 'rain(area)' ? sorted(['Weihe', 'Qihe', 'Anyang']) : {}),
      });
      expect(steps.map((step) => step.arguments)).toEqual([{ area: 'Weihe' }, { area: 'Qihe' }]);
    });

    it('is looked for in a text behind a lookup that takes a value of the schema', async () => {
      const message = 'Book economy to Oslo and to Rome';
      const fare = makeTool('find_fare', {
        inputSchema: { type: 'object', properties: { cabin: { enum: ['economy', 'first'] } }, required: ['cabin'] },
        outputSchema: returning('fare_id'),
      });
      const book = toolOf('book_fare', { fare_id: text, place: text }, ['fare_id', 'place']);
      const { steps } = await decide([fare, book], message, {
        tool: single(message, 'book_fare'),
        asks: doubtful,
        arguments: {
          find_fare: '"cabin": "economy"}',
          book_fare: '"fare_id": "${s1.fare_id}", "place": "Oslo"}',
        },
        sorts: (call) => (call === 'book_fare(place)' ? sorted(['Oslo', 'Rome']) : {}),
      });
      expect(steps.filter(({ tool }) => tool === 'book_fare').map((step) => Object(step.arguments).place)).toEqual([
        'Oslo',
        'Rome',
      ]);
    });

    it('is not looked for where the request names one value of the schema alone', async () => {
      const message = 'Rain in Weihe';
      const rain = toolOf('rain', { area: { enum: ['Weihe', 'Qihe'] } });
      const { called, prompts } = await decide([rain, note], message, {
        tool: single(message, 'rain'),
        asks: doubtful,
        arguments: { rain: '"area": "Weihe"}' },
      });
      expect(called).toEqual(['rain']);
      expect(prompts).not.toContain('sort-values');
    });

    it('repeats the producer of a call, too', async () => {
      const message = 'Level of Oslo and Rome';
      const find = makeTool('find_station', {
        inputSchema: needing('name'),
        outputSchema: returning('station_id'),
      });
      const level = makeTool('level', { inputSchema: needing('station_id') });
      const { result } = await decide([find, level], message, {
        tool: single(message, 'level'),
        asks: doubtful,
        arguments: { find_station: '"name": "Oslo"}', level: '"station_id": "Oslo"}' },
        sorts: () => sorted(['Oslo', 'Rome']),
      });
      expect(result).toMatchObject({
        steps: [
          { tool: 'find_station', arguments: { name: 'Oslo' } },
          { tool: 'level', arguments: { station_id: '${s1.station_id}' } },
          { tool: 'find_station', arguments: { name: 'Rome' } },
          { tool: 'level', arguments: { station_id: '${s3.station_id}' } },
        ],
      });
    });
  });

  describe('that the call for an earlier one does', () => {
    const parts: [string, string][] = [
      ['weather in Oslo', 'weather'],
      ['in celsius', 'keep_note'],
      ['put it down', 'write_note'],
    ];
    const plan = async (one: number, count: number, joins: Answer) => {
      const said = parts.slice(0, count);
      const list = listOf(said.map(([part]) => part));
      const message = `${said.map(([part]) => part).join(', ')}, please`;
      const { prompts, steps } = await decide([weather, note, makeTool('keep_note')], message, {
        ...asked(...said),
        asks: { '1}': one, [list]: 1 - one },
        joins: (ask) => (ask === 'in celsius' ? joins : 'other call"}'),
        fits: { weather: (of) => (of === 'in celsius' ? 'no"}' : 'yes"}') },
        arguments: { weather: '"place": "Oslo"}', write_note: '"body": "Oslo"}' },
      });
      return { steps: steps.map(({ tool, purpose }) => [tool, purpose]), prompts, message };
    };

    it('is a part of that one', async () => {
      const { steps, message } = await plan(0.6, 2, same(0.5));
      expect(steps).toEqual([['weather', message]]);
    });

    it('leaves a further thing as it is', async () => {
      const { steps } = await plan(0.6, 3, 'same call"}');
      expect(steps).toEqual([
        ['weather', 'weather in Oslo; in celsius'],
        ['write_note', 'put it down'],
      ]);
    });

    it.each<[string, number, Answer]>([
      ['another call is likelier', 0.5, same(0.4)],
      ['the model is sure of several things', 0.2, 'same call"}'],
    ])('is a thing of its own where %s', async (_, one, joins) => {
      const { steps, prompts } = await plan(one, 2, joins);
      expect(steps).toEqual([
        ['weather', 'weather in Oslo'],
        ['keep_note', 'in celsius'],
      ]);
      expect(prompts.includes('same-call')).toBe(one === 0.5);
    });
  });

  it.each([
    ['several where each has a tool of its own', ['write_note'], ['weather', 'write_note']],
    ['one where one tool does all', ['weather'], ['weather']],
    ['one where no tool does a part', ['none'], ['weather']],
    ['one where two tools may do a part', ['keep_note', 'write_note'], ['weather']],
  ])('that is in doubt is %s', async (_, seconds, expected) => {
    const message = 'Weather in Oslo and put it down';
    const [first, last] = ['weather in Oslo', 'put it down'];
    const evenly = (texts: readonly string[]) => Object.fromEntries(texts.map((one) => [one, 1 / texts.length]));
    const both = seconds.map((second) => `${chooses(first, 'weather')}, {"do": ${chooses(last, second)}]}`);
    const fitting = (name: string) => (of: string) => (of === last && seconds.includes(name) ? 'yes"}' : 'no"}');
    const { result, called } = await decide([weather, note, makeTool('keep_note')], message, {
      asks: { '1}': 0.8, [`2, "asks": ["${first}", "${last}"]}`]: 0.2 },
      tool: (of) => {
        if (of === message) return evenly([...both, chooses(message, 'weather')]);
        return of === last ? evenly(seconds.map((second) => chooses(of, second))) : chooses(of, 'weather');
      },
      fits: {
        write_note: fitting('write_note'),
        keep_note: fitting('keep_note'),
        weather: (of) => (of === last ? 'no"}' : 'yes"}'),
      },
      arguments: { weather: '"place": "Oslo"}', write_note: '"body": "Oslo"}' },
    });
    expect(called).toEqual(expected);
    if (expected.length === 1) expect(result).toMatchObject({ steps: [{ purpose: message }], unserved: [] });
  });

  it.each([
    [
      ['weather in Oslo', 'put it down', 'gently'],
      ['weather in Oslo', 'put it down; gently'],
    ],
    [
      ['if you can', 'weather in Oslo', 'put it down'],
      ['if you can; weather in Oslo', 'put it down'],
    ],
  ])('that is in doubt, and that no tool confirms, is a part of another one: %j', async (asks, purposes) => {
    const tools = new Map([
      ['weather in Oslo', 'weather'],
      ['put it down', 'write_note'],
    ]);
    const toolOfAsk = (ask: string) => tools.get(ask) ?? 'none';
    const doing = (name: string) => (ask: string) => (toolOfAsk(ask) === name ? 'yes"}' : 'no"}');
    const message = asks.join(', ');
    const { steps } = await decide([weather, note], message, {
      asks: { '1}': 0.8, [listOf(asks)]: 0.2 },
      tool: (of) => {
        if (of !== message) return chooses(of, toolOfAsk(of));
        return asks.map((ask) => chooses(ask, toolOfAsk(ask))).join(', {"do": ');
      },
      fits: { weather: doing('weather'), write_note: doing('write_note') },
      arguments: { weather: '"place": "Oslo"}', write_note: '"body": "Oslo"}' },
    });
    expect(steps.map(({ purpose }) => purpose)).toEqual(purposes);
  });

  it('is done again behind an effect, and is not lost where there are many', async () => {
    const list = makeTool('list_files', { description: 'Lists.' });
    const remove = makeTool('remove_file', { risk: 'high', inputSchema: needing('path') });
    const { called } = await decide([list, remove], 'Three things', {
      ...asked(
        ['show the files', 'list_files'],
        ['delete a.txt', 'remove_file'],
        ['list what is there again', 'list_files'],
      ),
      arguments: { remove_file: '"path": "a.txt"}' },
    });
    expect(called).toEqual(['list_files', 'remove_file', 'list_files']);
    const towns = ['Oslo', 'Rome', 'Bonn', 'Lima', 'Cork', 'Bari', 'Kiel', 'Lyon', 'Pisa', 'York'];
    const many = asked(...towns.map((town): [string, string] => [`weather in ${town}`, 'weather']));
    const each = await decide([weather], `Weather in ${towns.join(', ')}`, {
      ...many,
      // The count ends at eight; the list goes on.
      asks: many.asks.replace(/^10/u, '8'),
      arguments: { weather: '"place": "Oslo"}' },
      sorts: () => sorted(towns),
    });
    expect(each.steps).toHaveLength(10);
  });

  it('is complete with what was said before', async () => {
    const { result } = await decide(
      [weather],
      { message: 'and in Rome?', history: [{ role: 'user', content: 'Weather in Oslo' }] },
      {
        asks: '1, "asks": ["weather in Rome"]}',
        tool: chooses('weather in Rome', 'weather'),
        arguments: { weather: place },
      },
    );
    expect(result).toMatchObject({ steps: [{ purpose: 'weather in Rome', arguments: { place: 'Rome' } }] });
  });

  it('is looked at where selection finds no tool for words that only earlier messages complete', async () => {
    const script = {
      options: { passthroughTools: 0 },
      selects: { 'none"]}': 0.7, 'weather"]}': 0.3 },
      asks: '1, "asks": ["weather in Rome"]}',
      tool: chooses('weather in Rome', 'weather'),
      arguments: { weather: place },
    };
    const history = [{ role: 'user' as const, content: 'Weather in Oslo' }];
    const { result } = await decide([weather, note], { message: 'and in Rome?', history }, script);
    expect(result).toMatchObject({ kind: 'plan', steps: [{ tool: 'weather', arguments: { place: 'Rome' } }] });
    for (const [request, none] of [
      [{ message: 'and in Rome?' }, 0.7],
      [{ message: 'thanks', history }, 0.8],
    ] as const) {
      const selects = { 'none"]}': none, 'weather"]}': 1 - none };
      const unfit = await decide([weather, note], request, { ...script, selects });
      expect(unfit.result).toMatchObject({ kind: 'unplannable', selection: { mode: 'none' } });
    }
  });

  const listed = (texts: readonly string[]) => `[${texts.map((text) => JSON.stringify(text)).join(', ')}]`;
  it.each([
    ['which was asked for before', ['Weather in Oslo', 'weather in Rome']],
    ['which another one says more fully', ['rome', 'weather in Rome', 'Weather in Rome']],
  ])('is none %s', async (_, written) => {
    const { result } = await decide(
      [weather],
      { message: 'the same for Rome', history: [{ role: 'user', content: 'weather in Oslo' }] },
      {
        asks: `${written.length}, "asks": ${listed(written)}}`,
        tool: (message) => chooses(message === 'the same for Rome' ? 'weather in Rome' : message, 'weather'),
        arguments: { weather: place },
      },
    );
    expect(result).toMatchObject({ steps: [{ purpose: 'weather in Rome', arguments: { place: 'Rome' } }] });
  });

  it('is followed by another one if there are several, also where the model would end the list', async () => {
    const { steps } = await decide([weather, note], BOTH, {
      asks: { '2, "asks": ["weather in Oslo"]}': 0.9, '2, "asks": ["weather in Oslo", "a note"]}': 0.1 },
      tool: (message) => chooses(message, message === 'a note' ? 'write_note' : 'weather'),
      arguments: { weather: '"place": "Oslo"}', write_note: '"body": "Rome"}' },
    });
    expect(steps.map(({ purpose }) => purpose)).toEqual(['weather in Oslo', 'a note']);
  });

  it.each([
    ['12 and 120', ['read issue 12', 'read issue 120']],
    ['two of one beginning', ['weather in Oslo', 'weather in Osloby']],
  ])('is another one where only the letters are in it: %s', async (_, written) => {
    const [first = '', second = ''] = written;
    const { steps } = await decide([weather, note], BOTH, {
      asks: `2, "asks": ${listed(written)}}`,
      tool: (message) =>
        message === BOTH
          ? `${chooses(first, 'weather')}, {"do": ${chooses(second, 'write_note')}`
          : chooses(message, message === first ? 'weather' : 'write_note'),
      arguments: { weather: '"place": "Oslo"}', write_note: '"body": "Rome"}' },
    });
    expect(steps).toHaveLength(2);
  });

  it.each<[string, Answer | ((message: string) => Answer), object]>([
    ['the plan', place, { kind: 'plan', steps: [{ arguments: { place: 'Oslo' } }] }],
    ['a question back', '"place": null}', { kind: 'clarification', missing: ['place'] }],
  ])('stays without a step where no tool serves it, and %s tells', async (_, oslo, expected) => {
    const { result } = await decide([weather], BOTH, {
      asks,
      tool: (message) =>
        message === BOTH
          ? together.replace('weather"}]', 'none"}]')
          : chooses(message, message.includes('Rome') ? 'none' : 'weather'),
      fits: { weather: (message) => (message.includes('Rome') ? 'no"}' : 'yes"}') },
      arguments: { weather: oslo },
    });
    expect(result).toMatchObject({ ...expected, unserved: ['weather in Rome'] });
  });

  it.each([
    ['en', 'Who wrote Faust, and when was it?', 'None of the tools'],
    ['de', 'Wer hat den Faust geschrieben und wann war das?', 'Keines der Werkzeuge'],
    ['zh', '谁写了浮士德', '没有工具'],
  ])('has no plan where no tool serves anything, told in %s', async (_, message, reason) => {
    const fits = { weather: 'no"}', write_note: 'no"}' };
    const { result } = await decide([weather, note], message, { tool: single(message, 'none'), fits });
    expect(result).toMatchObject({ kind: 'unplannable', reason: expect.stringContaining(reason) });
  });

  it('is not read where the selection found that no tool fits', async () => {
    const model = createScriptedModel({ answers: [naming('none')], readers: [] });
    const planner = plannerOf({ tools: [weather, note], model, options: { answer: 'list', planning: 'decide' } });
    const result = await planner.plan({ message: 'Who wrote Faust?' });
    expect(result).toMatchObject({ kind: 'unplannable', selection: { tools: [] } });
    model.assertDone();
  });

  it('is for the tool that does it, where the model would sooner name another one', async () => {
    const { result } = await decide([weather, note], OSLO, {
      tool: { [chooses(OSLO, 'write_note')]: 0.7, [chooses(OSLO, 'weather')]: 0.3 },
      fits: { write_note: yes(0.2) },
      arguments: { weather: '"place": "Oslo"}' },
    });
    expect(result).toMatchObject({ steps: [{ tool: 'weather' }] });
  });

  it.each([
    ['a tool that it would name for anything', { [chooses('', 'write_note')]: 0.9, [chooses('', 'none')]: 0.1 }, {}],
    ['a tool that it says "yes" to for anything', undefined, { write_note: yes(0.9) }],
  ])('is not for %s', async (_, tool, fits) => {
    const { result } = await decide([weather, note], OSLO, {
      tool: { [chooses(OSLO, 'write_note')]: 0.6, [chooses(OSLO, 'weather')]: 0.4 },
      fits: { write_note: yes(0.8), weather: yes(0.7) },
      unasked: { tool, fits },
      arguments: { weather: '"place": "Oslo"}' },
    });
    expect(result).toMatchObject({ steps: [{ tool: 'weather' }] });
  });

  it.each<[string, number, Risk, object]>([
    ['is', 0.78, 'medium', { steps: [{ tool: 'add_contact' }] }],
    ['is not, since it fits less,', 0.7, 'medium', { missing: ['table'] }],
    ['is not, since much is at risk,', 0.78, 'high', { missing: ['table'] }],
  ])('%s for a second tool, where what the best one requires is missing', async (_, fits, risk, expected) => {
    const message = 'New client: Harbour Bakery';
    const [record, contact] = [toolOf('add_record', { table: text }), toolOf('add_contact', { name: text })];
    const tools = [record, contact].map((tool) => ({ ...tool, risk }));
    const { result } = await decide(tools, message, {
      tool: (read) =>
        read === message
          ? single(message, 'add_record', { [chooses(message, 'add_contact')]: 1 })
          : chooses(read, 'none'),
      fits: { add_record: yes(0.8), add_contact: yes(fits) },
      arguments: { add_record: '"table": null}', add_contact: '"name": "Harbour Bakery"}' },
    });
    expect(result).toMatchObject(expected);
  });

  it('is for a tool that the model does not name, where none of those that it names does it', async () => {
    const { result } = await decide([weather, note], OSLO, {
      tool: single(OSLO, 'write_note'),
      fits: { write_note: 'no"}' },
      arguments: { weather: '"place": "Oslo"}' },
    });
    expect(result).toMatchObject({ steps: [{ tool: 'weather' }] });
  });

  describe('by the form of a code', () => {
    const like = (name: string, example: string, more: Parameters<typeof makeTool>[1] = {}) => {
      const number = { type: 'string', description: `Number, e.g. ${example}` };
      const properties = { number: { ...number } };
      return makeTool(name, { inputSchema: { type: 'object', properties, required: ['number'] }, ...more });
    };
    const table = like('cancel_table', 'T-12');
    const visit = like('cancel_visit', 'A-310');
    const others = ['a_tool', 'c_tool', 'd_tool', 'e_tool'].map((name) => makeTool(name));
    const planned = async (message: string, script: Partial<Script> & { options?: OptionsInput } = {}) => {
      const { called, model } = await decide([table, visit, ...others], message, {
        tool: { [chooses(message, 'cancel_table')]: 0.6, [chooses(message, 'cancel_visit')]: 0.4 },
        fits: Object.fromEntries(others.map(({ name }) => [name, yes(0.1)])),
        arguments: Object.fromEntries(
          ['cancel_table', 'cancel_visit'].map((name) => [name, `"number": "${message.split(' ')[1]}"}`]),
        ),
        ...script,
      });
      const asked = model.readerCalls.flatMap(({ about }) =>
        about?.promptName === 'check-fit' && about.variables?.message ? [String(about.variables.tool)] : [],
      );
      return { called, asked: asked.map((tool) => tool.split('(')[0]) };
    };

    it.each([
      ['a tool whose schema shows such a code', 'annule A-510', 'cancel_visit'],
      ['a tool of another form', 'annule T-510', 'cancel_table', 0.4],
      ['the likeliest of all, if no schema shows it', 'annule X-510', 'cancel_table'],
    ])('is for %s', async (_, message, tool, table = 0.6) => {
      const names = { [chooses(message, 'cancel_table')]: table, [chooses(message, 'cancel_visit')]: 1 - table };
      expect((await planned(message, { tool: names })).called).toEqual([tool]);
    });

    it.each([
      ['annule A-510', 'cancel_visit'],
      ['annule X-510', 'cancel_table'],
    ])('counts beside the fits: %s', async (message, tool) => {
      const { called } = await planned(message, {
        options: { passthroughTools: 0 },
        selects: { 'cancel_table"]}': 0.5, 'cancel_visit"]}': 0.3 },
        fits: {
          cancel_table: yes(0.8),
          cancel_visit: yes(0.6),
          ...Object.fromEntries(others.map(({ name }) => [name, yes(0.1)])),
        },
      });
      expect(called).toEqual([tool]);
    });

    it('leaves the first tool of selection among those that are read, if it takes a text', async () => {
      const message = 'tell the team that A-510 is late';
      const visits = ['b', 'c', 'd', 'e'].map((letter) => like(`${letter}_visit`, 'A-310'));
      const tell = makeTool('tell_team', { inputSchema: needing('body') });
      const { called } = await decide([tell, ...visits], message, {
        options: { passthroughTools: 0 },
        selects: { 'tell_team"]}': 0.9, 'b_visit"]}': 0.05, 'c_visit"]}': 0.05 },
        tool: single(message, 'tell_team'),
        fits: { tell_team: yes(0.9), ...Object.fromEntries(visits.map(({ name }) => [name, yes(0.4)])) },
        arguments: { tell_team: '"body": "A-510 is late"}' },
      });
      expect(called).toEqual(['tell_team']);
    });

    it('puts the tool among those whose fit is read, though the model would not name it', async () => {
      const message = 'annule A-510';
      const { called, asked } = await planned(message, {
        options: { passthroughTools: 0 },
        selects: Object.fromEntries([...others, table].map(({ name }, place) => [`${name}"]}`, 0.25 - 0.02 * place])),
        tool: single(message, 'cancel_visit'),
      });
      expect(asked[0]).toBe('cancel_visit');
      expect(called).toEqual(['cancel_visit']);
    });

    it('may stand in what the model completes from earlier messages, though selection does not have the tool', async () => {
      const history = [{ role: 'user' as const, content: 'move A-510' }];
      const { result } = await decide(
        [visit, ...others],
        { message: 'rather drop the whole appointment', history },
        {
          options: { passthroughTools: 0, maxTools: 2 },
          asks: listOf(['drop A-510']),
          selects: Object.fromEntries(others.map(({ name }, place) => [`${name}"]}`, 0.25 - 0.02 * place])),
          tool: (message) => chooses(message, 'cancel_visit'),
          fits: Object.fromEntries(others.map(({ name }) => [name, yes(0.1)])),
          arguments: { cancel_visit: '"number": "A-510"}' },
        },
      );
      expect(result).toMatchObject({ steps: [{ tool: 'cancel_visit', arguments: { number: 'A-510' } }] });
      expect(Object(result).selection.tools).toContainEqual({
        name: 'cancel_visit',
        via: 'model',
        serves: 'drop A-510',
      });
    });

    it('counts for the tool that waits for the one whose schema shows it', async () => {
      const message = 'parcels of SO-12';
      const order_number = { type: 'string', description: 'Number, e.g. SO-1' };
      const order = makeTool('get_order', {
        inputSchema: { type: 'object', properties: { order_number }, required: ['order_number'] },
        outputSchema: returning('order_id', 'order_number'),
      });
      const parcels = makeTool('list_parcels', { inputSchema: needing('order_id') });
      const { called } = await decide([order, parcels, visit], message, {
        tool: { [chooses(message, 'list_parcels')]: 0.5, [chooses(message, 'cancel_visit')]: 0.5 },
        arguments: { get_order: '"order_number": "SO-12"}', cancel_visit: '"number": "SO-12"}' },
      });
      expect(called).toEqual(['get_order', 'list_parcels']);
    });
  });

  describe('where selection ordered the tools', () => {
    const FIRST = ['a_tool', 'c_tool', 'd_tool', 'weather'];
    const tools = [...FIRST.filter((name) => name !== 'weather'), 'e_tool', 'f_tool'].map((name) => makeTool(name));
    const no = yes(0.1);
    const ordered = async (script: Partial<Script>) => {
      const { result, model } = await decide([...tools, weather], OSLO, {
        options: { passthroughTools: 0 },
        selects: Object.fromEntries(FIRST.map((name, place) => [`${name}"]}`, 0.28 - 0.02 * place])),
        tool: single(OSLO, 'weather'),
        fits: { a_tool: no, c_tool: no, d_tool: no, e_tool: no, f_tool: no },
        arguments: { weather: '"place": "Oslo"}' },
        ...script,
      });
      const shown = (prompt: string) =>
        model.readerCalls.flatMap(({ about }) =>
          about?.promptName === prompt && about.variables?.message ? [about.variables] : [],
        );
      const asked = shown('check-fit').map(({ tool }) => String(tool).split('(')[0]);
      const named = String(shown('choose-tool')[0]?.tools)
        .split('\n')
        .map((line) => line.replace(/^- |\(.*$/gu, ''));
      return { result, asked, named, order: Object(result).selection.tools.map(({ name }: { name: string }) => name) };
    };

    it('is compared with the first four of them, and the names of those that fit best', async () => {
      const surely = yes(0.9);
      const fits = { a_tool: no, weather: surely, c_tool: yes(0.88), d_tool: no };
      const { result, asked, named, order } = await ordered({ fits });
      expect([...asked].sort()).toEqual(FIRST);
      expect(asked).toEqual(order.slice(0, 4));
      expect(named).toEqual(['c_tool', 'weather']);
      expect(result).toMatchObject({ kind: 'plan', steps: [{ tool: 'weather' }] });
    });

    it('is for the one that fits, also where the model would name none of so few', async () => {
      const { result, named } = await ordered({ tool: single(OSLO, 'none') });
      expect(named).toEqual(['weather']);
      expect(result).toMatchObject({ kind: 'plan', steps: [{ tool: 'weather' }] });
    });

    it('is for none behind earlier messages, where any tool seems to fit, if the model names none', async () => {
      const history = [{ role: 'user' as const, content: OSLO }];
      const thanks = async (named: string) => {
        const { result } = await decide(
          [...tools, weather],
          { message: 'thank you', history },
          {
            options: { passthroughTools: 0 },
            asks: '1, "asks": ["thank you"]}',
            selects: Object.fromEntries(FIRST.map((name, place) => [`${name}"]}`, 0.28 - 0.02 * place])),
            tool: (message) => chooses(message, named),
            fits: { ...Object.fromEntries(tools.map(({ name }) => [name, no])), weather: yes(0.7) },
            unasked: { tool: { [chooses('', 'none')]: 0.5, [chooses('', 'weather')]: 0.5 } },
            arguments: { weather: '"place": "Oslo"}' },
          },
        );
        return result.kind;
      };
      expect([await thanks('none'), await thanks('weather')]).toEqual(['unplannable', 'plan']);
    });

    it.each([
      ['its name is likelier than no tool', 'weather'],
      ['a tool that fits better stays', 'a_tool', 'none'],
    ])('is for the first of them, though another one fits better: %s', async (_, chosen, named = chosen) => {
      const fits = { a_tool: yes(0.55), weather: yes(0.3), c_tool: no, d_tool: no };
      const { result, order } = await ordered({ fits, tool: single(OSLO, named) });
      expect(order[0]).toBe('weather');
      expect(result).toMatchObject({ kind: 'plan', steps: [{ tool: chosen }] });
    });

    it('is for none of them where none fits, and the model names none', async () => {
      const { result, asked } = await ordered({
        tool: single(OSLO, 'none'),
        fits: Object.fromEntries([...tools.map(({ name }) => name), 'weather'].map((name) => [name, no])),
      });
      expect(result.kind).toBe('unplannable');
      expect(asked.sort()).toEqual(FIRST);
    });

    it.each(['find_code', 'list_codes', 'none'])(
      'has the producer from equal ones that the model names: %s',
      async (named) => {
        const producers = ['find_code', 'list_codes'].map((name) =>
          makeTool(name, { outputSchema: returning('station_id') }),
        );
        const level = makeTool('level', { inputSchema: needing('station_id') });
        const { result } = await decide([...producers, ...tools, level], 'the level', {
          options: { passthroughTools: 0 },
          selects: { 'level"]}': 0.6, 'list_codes"]}': 0.2, 'a_tool"]}': 0.1 },
          tool: (read) => chooses(read, read === 'the level' ? 'level' : named),
          fits: Object.fromEntries([...producers, ...tools].map(({ name }) => [name, no])),
          arguments: { level: '"station_id": "${s1.station_id}"}' },
        });
        // Without a name, selection orders them.
        const first = named === 'none' ? 'list_codes' : named;
        expect(result).toMatchObject({ kind: 'plan', steps: [{ tool: first }, { tool: 'level' }] });
      },
    );

    describe('for an ask of several', () => {
      const WRITE = 'write it down';
      const both = async (selects: (about: string) => Answer, options: OptionsInput) => {
        const { result, model } = await decide([...tools, weather, note], `${OSLO}, then ${WRITE}`, {
          options: { passthroughTools: 0, ...options },
          ...asked([OSLO, 'weather'], [WRITE, 'write_note']),
          selects,
          arguments: { weather: '"place": "Oslo"}', write_note: '"body": "it"}' },
        });
        expect(result).toMatchObject({ kind: 'plan', steps: [{ tool: 'weather' }, { tool: 'write_note' }] });
        return { ...Object(result), calls: model.readerCalls };
      };

      it('has the asks before it as earlier messages where its tool is looked for, and not where its fit is read', async () => {
        const { calls } = await both(() => ({ 'weather"]}': 0.6, 'write_note"]}': 0.4 }), {});
        const shownFor = (message: string) =>
          calls
            .filter(({ about }: { about?: CallAbout }) => about?.variables?.message === message)
            .map(({ about, prompt }: { about?: CallAbout; prompt: Prompt }) => [
              about?.promptName,
              prompt.user.includes(`Earlier messages:\nuser: ${OSLO}\n`),
            ]);
        expect(Object.fromEntries(shownFor(WRITE))).toMatchObject({
          'select-tools': true,
          'choose-tool': true,
          'check-fit': false,
        });
        expect(shownFor(OSLO)).not.toContainEqual([expect.any(String), true]);
      });

      it('is one that selection finds for it alone, and adds to those for the whole request', async () => {
        const { selection } = await both((about) => (about === WRITE ? 'write_note"]}' : 'weather"]}'), {
          maxTools: 2,
        });
        expect(selection.tools.at(-1)).toEqual({ name: 'write_note', via: 'model', serves: WRITE });
      });

      it.each([
        ['the tool of another ask, which selection lacks for this one', 'Rome', 'weather'],
        ['its own tool, where that fits better', 'rain in Rome', 'a_tool'],
      ])('has %s', async (_, place, chosen) => {
        const { steps } = await decide([...tools, weather], `${OSLO}; ${place}`, {
          options: { passthroughTools: 0, maxTools: 2, fillTokens: 0 },
          ...asked([OSLO, 'weather'], [place, 'a_tool']),
          selects: (about) => (about === place ? 'a_tool"]}' : 'weather"]}'),
          fits: {
            a_tool: yes(chosen === 'a_tool' ? 0.95 : 0.6),
            weather: (about) => yes(about === place ? 0.9 : 1),
            ...Object.fromEntries(['c_tool', 'd_tool', 'e_tool', 'f_tool'].map((name) => [name, no])),
          },
          sorts: () => sorted(chosen === 'weather' ? ['Oslo', 'Rome'] : ['Oslo'], ['Rome']),
          arguments: { weather: { '"place": "Oslo"}': 0.6, '"place": "Rome"}': 0.4 } },
        });
        expect(steps.map(({ tool }) => tool)).toEqual(['weather', chosen]);
      });

      it('looks at no other tool where it surely has one', async () => {
        const { calls } = await both((about) => (about === WRITE ? 'write_note"]}' : 'weather"]}'), {
          maxTools: 1,
          fillTokens: 0,
        });
        const fits = calls.flatMap(({ about }: { about?: CallAbout }) =>
          about?.promptName === 'check-fit' && about.variables?.message ? [about.variables.tool] : [],
        );
        expect(fits).toHaveLength(3);
      });

      it('has a tool that selection puts first for the whole request, and not for the ask', async () => {
        const { steps } = await decide([...tools, weather, note], `${OSLO}, then ${WRITE}`, {
          options: { passthroughTools: 0 },
          ...asked([OSLO, 'weather'], [WRITE, 'a_tool']),
          selects: (about) =>
            about === WRITE
              ? { 'a_tool"]}': 0.4, 'c_tool"]}': 0.3, 'd_tool"]}': 0.2, 'e_tool"]}': 0.1 }
              : 'write_note"]}',
          fits: {
            ...Object.fromEntries(tools.map(({ name }) => [name, yes(0.02)])),
            weather: (about) => yes(about === WRITE ? 0.02 : 1),
            write_note: yes(0.9),
          },
          arguments: { weather: '"place": "Oslo"}', write_note: '"body": "it"}' },
        });
        expect(steps.map(({ tool }) => tool)).toEqual(['weather', 'write_note']);
      });

      it('is one of those for the whole request where selection for it fails', async () => {
        const { trace } = await both((about) => {
          if (about === WRITE) throw new WinnowError('model_failed', 'no model');
          return { 'weather"]}': 0.6, 'write_note"]}': 0.4 };
        }, {});
        expect(trace).toContainEqual(expect.objectContaining({ stage: 'fallback' }));
      });
    });
  });

  it('is chosen by what the catalogue says of each tool: what it takes, what it does, its keywords', async () => {
    const level = makeTool('river_level', {
      description: 'Water level',
      inputSchema: needing('place'),
      keywords: ['stage', '水位'],
    });
    const { model } = await decide([level, note], OSLO, {
      tool: single(OSLO, 'river_level'),
      arguments: { river_level: '"place": "Oslo"}' },
    });
    const line = 'river_level(place): Water level';
    const shownBy = (name: string) => model.readerCalls.find(({ about }) => about?.promptName === name)?.prompt.user;
    expect(shownBy('choose-tool')).toContain(`- ${line} (stage, 水位)\n`);
    expect(shownBy('check-fit')).toContain(`Tool: ${line}`);
  });

  const HOME = 'Get me onto the cheapest train home';
  const search = makeTool('train_search', { outputSchema: returning('train_id') });
  const book = makeTool('train_book', { inputSchema: needing('train_id'), risk: 'high' });

  it('is not joined by one that acts on what it reads, though that fits, too', async () => {
    const { called } = await decide([search, book], HOME, {
      tool: single(HOME, 'train_search'),
      fits: { train_search: yes(0.9), train_book: yes(0.7) },
    });
    expect(called).toEqual(['train_search']);
  });

  it('is given the tool on which the readings with and without the other asks agree', async () => {
    const sure = (ask: string): Answer => ({ [chooses(ask, 'weather')]: 0.9, [chooses(ask, 'write_note')]: 0.1 });
    const { result } = await decide([weather, note], BOTH, {
      asks,
      tool: (message) =>
        message === BOTH
          ? { [together.replace('"weather"}]', '"write_note"}]')]: 0.6, [together]: 0.4 }
          : sure(message),
      arguments: { weather: '"place": "Oslo"}' },
      sorts: () => sorted(['Oslo', 'Rome']),
    });
    expect(result).toMatchObject({ steps: [{ tool: 'weather' }, { tool: 'weather' }] });
  });
});

describe('steps on the way', () => {
  const HEAVY = 'How heavy is the blue parcel?';
  const named = { find_parcel: '"name": "blue"}', parcel_weight: '"parcel_id": "blue"}' };

  it('are added before what waits for them, with a reference to the right field', async () => {
    const { result } = await decide([findParcel, weigh], HEAVY, {
      tool: single(HEAVY, 'parcel_weight'),
      arguments: named,
    });
    expect(result).toMatchObject({
      steps: [
        { tool: 'find_parcel', arguments: { name: 'blue' }, from: { name: 'request' } },
        {
          tool: 'parcel_weight',
          arguments: { parcel_id: '${s1.parcel_id}' },
          from: { parcel_id: 'step' },
          dependsOn: ['s1'],
        },
      ],
      levels: [['s1'], ['s2']],
    });
  });

  it('refer to the first of a list, also behind a $ref', async () => {
    const listed = makeTool('find_parcel', {
      inputSchema: needing('name'),
      outputSchema: {
        type: 'array',
        items: { $ref: '#/$defs/parcel' },
        $defs: { parcel: returning('parcel_id') },
      },
    });
    const { result } = await decide([listed, weigh], HEAVY, { tool: single(HEAVY, 'parcel_weight'), arguments: named });
    expect(result).toMatchObject({ steps: [{}, { arguments: { parcel_id: '${s1[0].parcel_id}' } }] });
  });

  it('count for the tool that waits for them, where the model names the first step', async () => {
    const { result } = await decide([findParcel, weigh], HEAVY, {
      tool: { [chooses(HEAVY, 'find_parcel')]: 0.6, [chooses(HEAVY, 'parcel_weight')]: 0.4 },
      arguments: named,
    });
    expect(result).toMatchObject({ steps: [{ tool: 'find_parcel' }, { tool: 'parcel_weight' }] });
    expect(Object(result).confidence).toBeGreaterThan(0.9);
  });

  it('come from a tool that reads, sooner than from one with an effect that nobody asked for', async () => {
    const report = { type: 'object', properties: { report_id: text } };
    const found = { type: 'object', properties: { id: text, title: text } };
    const reports = { type: 'object', properties: { reports: { type: 'array', items: found } } };
    const { called } = await decide(
      [
        makeTool('create_report', { risk: 'medium', outputSchema: report }),
        makeTool('search_reports', { outputSchema: reports }),
        makeTool('close_report', { risk: 'medium', inputSchema: needing('report_id') }),
      ],
      'Close the one about the roof',
      {
        tool: single('Close the one about the roof', 'close_report'),
        fits: { create_report: 'no"}', search_reports: 'no"}' },
      },
    );
    expect(called).toEqual(['search_reports', 'close_report']);
  });

  it.each([
    ['an effect is not on the way to another', 'high', ['make_copy']],
    ['an effect may be on the way to what it shows', 'low', ['make_copy', 'use_copy']],
  ] as const)('count for the tool that waits for them, where %s', async (_, risk, expected) => {
    const make = makeTool('make_copy', { risk: 'medium', outputSchema: returning('copy_id') });
    const use = makeTool('use_copy', { risk, inputSchema: needing('copy_id') });
    const { called } = await decide([make, use], 'Copy it', {
      tool: { [chooses('Copy it', 'make_copy')]: 0.75, [chooses('Copy it', 'use_copy')]: 0.25 },
      fits: { make_copy: yes(0.65), use_copy: yes(0.67) },
    });
    expect(called).toEqual(expected);
  });

  const blue = (message: string) => `"name": "${message.includes('red') ? 'red' : 'blue'}"}`;

  it('serve all that need the same value', async () => {
    const { result, steps } = await decide([findParcel, weigh, track], 'Weight and track of the blue parcel', {
      ...asked(['weight of the blue parcel', 'parcel_weight'], ['track of the blue parcel', 'parcel_track']),
      arguments: { find_parcel: blue, parcel_weight: '"parcel_id": "blue"}', parcel_track: '"parcel_id": "blue"}' },
    });
    expect(result).toMatchObject({
      steps: [
        { tool: 'find_parcel' },
        { tool: 'parcel_weight', arguments: { parcel_id: '${s1.parcel_id}' } },
        { tool: 'parcel_track', arguments: { parcel_id: '${s1.parcel_id}' } },
      ],
    });
    expect(steps).toHaveLength(3);
  });

  it.each([
    ['come from a tool with a value of that format', 'email', { steps: [{ tool: 'find_person' }, { tool: 'invite' }] }],
    ['but no day comes from another thing', 'date', { kind: 'clarification', missing: ['at'] }],
  ])('%s', async (_, format, expected) => {
    const message = 'Invite the boss of Ann, please';
    const at = { type: 'string', format };
    const person = { type: 'object', properties: { value: at } };
    const find = makeTool('find_person', { inputSchema: needing('name'), outputSchema: person });
    const { result } = await decide([find, toolOf('invite', { at })], message, {
      tool: single(message, 'invite'),
      arguments: { find_person: '"name": "the boss of Ann"}', invite: '"at": "${s1.value}"}' },
    });
    expect(result).toMatchObject(expected);
  });

  it.each([
    ['are no effect that nobody asked for', text, { kind: 'clarification', missing: ['reason'] }],
    ['find no day', DAY, { kind: 'clarification', missing: ['reason'] }],
  ])('that the model names for what is missing %s', async (_, reason, expected) => {
    const message = 'Close it';
    const { result } = await decide(
      [makeTool('open_door', { risk: 'medium' }), makeTool('list_doors', {}), toolOf('close', { reason })],
      message,
      {
        tool: (asked) =>
          asked === message
            ? chooses(message, 'close')
            : { [chooses(asked, 'open_door')]: 0.7, [chooses(asked, 'none')]: 0.3 },
        arguments: { close: '"reason": null}', open_door: '}', list_doors: '}' },
      },
    );
    expect(result).toMatchObject(expected);
  });

  it('find what an optional identifier has in words, beside the code of another one', async () => {
    const message = 'please put T-12 to Ann Hill';
    const find = makeTool('find_user', { inputSchema: needing('name'), outputSchema: returning('user_id') });
    const update = toolOf(
      'update_ticket',
      { ticket_id: text, assignee_id: { type: 'string', description: 'Id of the user who gets it' } },
      ['ticket_id'],
    );
    const { result } = await decide([find, update], message, {
      tool: single(message, 'update_ticket'),
      arguments: { find_user: '"name": "Ann Hill"}', update_ticket: '"ticket_id": "T-12", "assignee_id": "Ann Hill"}' },
    });
    expect(result).toMatchObject({
      steps: [
        { tool: 'find_user', arguments: { name: 'Ann Hill' } },
        {
          tool: 'update_ticket',
          arguments: { ticket_id: 'T-12', assignee_id: '${s1.user_id}' },
          from: { assignee_id: 'step' },
        },
      ],
    });
  });

  it('come from a tool that finds its result by an identifier of the request, sooner than from a list', async () => {
    const order = { type: 'object', properties: { order_id: { type: 'integer' }, order_number: text } };
    const orders = { type: 'object', properties: { orders: { type: 'array', items: order } } };
    const list = makeTool('list_orders', { outputSchema: orders });
    const get = makeTool('get_order', { inputSchema: needing('order_number'), outputSchema: order });
    const cancel = makeTool('cancel_order', {
      risk: 'high',
      inputSchema: { type: 'object', properties: { order_id: { type: 'integer' } }, required: ['order_id'] },
    });
    const called = async (message: string) => {
      const found = await decide([list, get, cancel], message, {
        tool: single(message, 'cancel_order', { [chooses(message, 'list_orders')]: 0.6 }),
        arguments: { get_order: '"order_number": "SO-20377"}' },
      });
      return found.called;
    };
    expect(await called('Cancel order SO-20377')).toEqual(['get_order', 'cancel_order']);
    expect(await called('Cancel the last order')).toEqual(['list_orders', 'cancel_order']);
  });

  describe('for an optional identifier', () => {
    const customer = makeTool('find_customer', {
      inputSchema: needing('name'),
      outputSchema: returning('customer_id'),
    });
    const invoices = makeTool('list_invoices', { inputSchema: returning('customer_id') });
    const message = 'Invoices of Hill Ltd';
    const value = (probability: number): Answer => ({
      '"customer_id": 12}': probability,
      '"customer_id": null}': 1 - probability,
    });
    const listed = (asking: Pick<Script, 'unasked' | 'arguments'>) =>
      decide([customer, invoices], message, { tool: single(message, 'list_invoices'), ...asking });
    const byName = { find_customer: '"name": "Hill Ltd"}', list_invoices: value(0.1) };

    it('are added where the model would make a value up for this request, and not for any', async () => {
      const { result } = await listed({ arguments: byName, unasked: { arguments: value(0.01) } });
      expect(result).toMatchObject({
        steps: [
          { tool: 'find_customer', arguments: { name: 'Hill Ltd' } },
          { tool: 'list_invoices', arguments: { customer_id: '${s1.customer_id}' }, from: { customer_id: 'step' } },
        ],
      });
      const usual = await listed({ arguments: byName, unasked: { arguments: value(0.05) } });
      expect(usual.steps).toMatchObject([{ tool: 'list_invoices', arguments: {} }]);
    });

    it('are left out where the request does not say what to look up', async () => {
      const { result } = await listed({
        arguments: { ...byName, find_customer: '"name": null}' },
        unasked: { arguments: value(0.01) },
      });
      expect(result).toMatchObject({ kind: 'plan', steps: [{ tool: 'list_invoices', arguments: {} }] });
    });
  });

  it('are chosen by the model where several were asked for', async () => {
    const { steps } = await decide(
      [
        makeTool('find_person', { inputSchema: needing('name'), outputSchema: returning('person_id') }),
        makeTool('ring', { risk: 'high', inputSchema: needing('person_id') }),
      ],
      'All three',
      {
        ...asked(['find Ann', 'find_person'], ['find Bob', 'find_person'], ['ring Bob', 'ring']),
        arguments: {
          find_person: (message) => `"name": "${message.split(' ').at(-1)}"}`,
          ring: { '"person_id": "${s2.person_id}"}': 0.98, '"person_id": "${s1.person_id}"}': 0.02 },
        },
      },
    );
    expect(steps[2]).toMatchObject({ tool: 'ring', arguments: { person_id: '${s2.person_id}' } });
  });

  it('looks up the words that the call means, whatever the lookup would take', async () => {
    const { steps } = await decide([findParcel, weigh], HEAVY, {
      tool: single(HEAVY, 'parcel_weight'),
      arguments: { find_parcel: '"name": "heavy parcel, blue"}', parcel_weight: '"parcel_id": "blue parcel"}' },
    });
    expect(steps.map((step) => step.arguments)).toEqual([{ name: 'blue parcel' }, { parcel_id: '${s1.parcel_id}' }]);
  });

  it('asks what to look up where the call means nothing', async () => {
    const { result } = await decide([findParcel, weigh], 'How heavy is it?', {
      tool: single('How heavy is it?', 'parcel_weight'),
      arguments: { find_parcel: '"name": null}', parcel_weight: '"parcel_id": null}' },
    });
    expect(result).toMatchObject({ kind: 'clarification', missing: ['name'] });
  });

  it('are looked up for each thing that needs one, also where a result may hold anything', async () => {
    const both = asked(['ring Ann', 'ring'], ['ring Bob', 'ring']);
    const { steps } = await decide(
      [
        makeTool('find_person', { inputSchema: needing('name') }),
        makeTool('ring', {
          risk: 'high',
          inputSchema: {
            type: 'object',
            required: ['handle'],
            properties: { handle: { type: 'string', format: 'uuid' } },
          },
        }),
      ],
      'Ring Ann and Bob',
      {
        ...both,
        tool: (message) => (message.startsWith('handle') ? chooses(message, 'find_person') : both.tool(message)),
        arguments: {
          find_person: '"name": "Ann"}',
          ring: { '"handle": null}': 0.9, '"handle": "${s1.id}"}': 0.05, '"handle": "${s3.id}"}': 0.05 },
        },
        sorts: () => sorted(['Ann', 'Bob']),
      },
    );
    expect(steps.map((step) => step.arguments)).toEqual([
      { name: 'Ann' },
      { handle: '${s1.id}' },
      { name: 'Bob' },
      { handle: '${s3.id}' },
    ]);
  });

  it('serve all that need it, also where one of them says more of it', async () => {
    const findIn = makeTool('find_parcel', {
      inputSchema: { type: 'object', properties: { name: text, kind: { enum: ['box', 'bag'] } }, required: ['name'] },
      outputSchema: returning('parcel_id'),
    });
    const { steps } = await decide([findIn, weigh, track], 'Weight and track of the blue parcel', {
      ...asked(['weight of the blue parcel', 'parcel_weight'], ['track of the blue parcel', 'parcel_track']),
      arguments: {
        find_parcel: (message) => `"name": "blue", "kind": ${message.startsWith('track') ? '"bag"' : 'null'}}`,
      },
    });
    expect(steps.map((step) => step.arguments)).toEqual([
      { name: 'blue' },
      { parcel_id: '${s1.parcel_id}' },
      { parcel_id: '${s1.parcel_id}' },
    ]);
  });

  const flights = makeTool('book_trip', {
    inputSchema: needing('from_town_id', 'to_town_id'),
    outputSchema: returning('ticket'),
  });
  const findTown = makeTool('find_town', { inputSchema: needing('name'), outputSchema: returning('town_id') });

  it.each([
    ['that says what its result is', findTown, ['${s1.town_id}', '${s2.town_id}']],
    [
      'that does not',
      makeTool('find_town', { inputSchema: needing('name') }),
      ['${s1.from_town_id}', '${s2.to_town_id}'],
    ],
  ])(
    'are one for each of two things that one tool finds, %s: the call that needs both says who is who',
    async (_, find, [from, to]) => {
      const message = 'A trip to Basel, from Bern';
      const { model, steps } = await decide([find, flights], message, {
        tool: single(message, 'book_trip'),
        arguments: {
          book_trip: '"from_town_id": "Bern", "to_town_id": "Basel"}',
          find_town: (words) => `"name": ${JSON.stringify(words)}}`,
        },
      });
      expect(steps.map((step) => step.arguments)).toEqual([
        { name: 'Bern' },
        { name: 'Basel' },
        { from_town_id: from, to_town_id: to },
      ]);
      // What a lookup is for is known, so that the model is not asked again.
      const read = model.readerCalls.map(({ about }) => String(Object(about?.variables).tool));
      expect(read.filter((tool) => tool.startsWith('find_town({'))).toEqual([]);
    },
  );

  const findPerson = makeTool('find_person', { inputSchema: needing('name'), outputSchema: returning('person_id') });
  const people = { type: 'array', items: text, description: 'person_id of each' };
  const invite = makeTool('invite', {
    risk: 'high',
    inputSchema: { type: 'object', required: ['guest_ids'], properties: { guest_ids: people, day: DAY } },
  });

  it('are one for each thing of a list', async () => {
    const message = 'Invite Ann, Bob and Eve';
    const { steps } = await decide([findPerson, invite], message, {
      tool: single(message, 'invite'),
      asks: { '1}': 0.9, '2}': 0.1 },
      arguments: { invite: '"guest_ids": ["Ann", "Bob", "Eve"]}' },
      sorts: () => sorted(['Ann', 'Bob', 'Eve']),
    });
    expect(steps.map((step) => step.arguments)).toEqual([
      { name: 'Ann' },
      { name: 'Bob' },
      { name: 'Eve' },
      { guest_ids: ['${s1.person_id}', '${s2.person_id}', '${s3.person_id}'] },
    ]);
  });

  it('are one for each thing of a list, also where no result says what it has', async () => {
    const message = 'Invite Ann and Bob';
    const find = makeTool('find_person', { inputSchema: needing('name') });
    const { steps } = await decide([find, invite], message, {
      tool: single(message, 'invite'),
      arguments: {
        invite: { '"guest_ids": ["Ann", "Bob"]}': 0.5, '"guest_ids": ["${s1.id}", "${s2.id}"]}': 0.5 },
      },
    });
    expect(steps.at(-1)).toMatchObject({
      arguments: { guest_ids: ['${s1.id}', '${s2.id}'] },
      from: { guest_ids: 'step' },
      dependsOn: ['s1', 's2'],
    });
  });

  const findTeam = makeTool('find_team', {
    inputSchema: { type: 'object', required: ['query'], properties: { query: text, open: { type: 'boolean' } } },
    outputSchema: returning('team_id'),
  });
  const move = makeTool('move_person', { risk: 'high', inputSchema: needing('person_id', 'team_id') });

  it.each([
    ['', '"query": "Platform", "open": null}'],
    [', which the model would leave out', '"query": null, "open": null}'],
    [', on which the model would go on', '"query": "Platform Nine", "open": null}'],
  ])('look up the words that the call means, and no others%s', async (_, query) => {
    const message = 'Move Ann to Platform';
    const { result, steps } = await decide([findPerson, findTeam, move], message, {
      tool: single(message, 'move_person'),
      arguments: { move_person: '"person_id": "Ann", "team_id": "Platform"}', find_team: query },
    });
    expect(steps.map((step) => step.arguments)).toEqual([
      { name: 'Ann' },
      { query: 'Platform' },
      { person_id: '${s1.person_id}', team_id: '${s2.team_id}' },
    ]);
    expect(result.trace).toContainEqual(
      expect.objectContaining({ note: 'what each argument looks up', person_id: ['Ann'], team_id: ['Platform'] }),
    );
  });

  it('look up what earlier messages name', async () => {
    const message = 'Move her to Platform';
    const { steps } = await decide(
      [findTeam, findPerson, move],
      { message, history: [{ role: 'user', content: 'Who is Ann Hill?' }] },
      {
        asks: listOf([message]),
        tool: single(message, 'move_person'),
        arguments: {
          move_person: '"person_id": "Ann Hill", "team_id": "Platform"}',
          find_team: '"query": "Platform", "open": null}',
        },
      },
    );
    expect(steps.map((step) => step.arguments).slice(0, 2)).toEqual([{ name: 'Ann Hill' }, { query: 'Platform' }]);
  });

  it('look up what is likeliest for all of them together', async () => {
    const message = 'Move the new colleague to Platform';
    const { steps } = await decide([findTeam, findPerson, move], message, {
      tool: single(message, 'move_person'),
      arguments: {
        // By itself, the first argument would be "Platform".
        move_person: {
          '"person_id": "Platform", "team_id": "colleague"}': 0.3,
          '"person_id": "Platform", "team_id": null}': 0.3,
          '"person_id": "new colleague", "team_id": "Platform"}': 0.4,
        },
        find_team: '"query": "Platform", "open": null}',
      },
    });
    expect(steps.map((step) => step.arguments)).toEqual([
      { name: 'new colleague' },
      { query: 'Platform' },
      { person_id: '${s1.person_id}', team_id: '${s2.team_id}' },
    ]);
  });

  it('have words of their own only where they are not found within what another one finds', async () => {
    const findMail = makeTool('find_mail', { inputSchema: needing('words'), outputSchema: returning('mail_id') });
    const readMail = makeTool('read_mail', { inputSchema: needing('mail_id'), outputSchema: returning('file_id') });
    const save = makeTool('save_file', { inputSchema: needing('mail_id', 'file_id') });
    const message = 'Save the file of the mail of Ann Hill';
    const { result } = await decide([findMail, readMail, save], message, {
      tool: chooses(message, 'save_file'),
      arguments: {
        save_file: { '"mail_id": "Ann", "file_id": "Hill"}': 0.45, '"mail_id": "Ann Hill"}': 0.55 },
        find_mail: { '"words": "Ann Hill"}': 0.9, '"words": "Ann"}': 0.1 },
        read_mail: '"mail_id": "${s1.mail_id}"}',
      },
    });
    expect(result).toMatchObject({
      steps: [
        { tool: 'find_mail', arguments: { words: 'Ann Hill' } },
        { tool: 'read_mail', arguments: { mail_id: '${s1.mail_id}' } },
        { tool: 'save_file', arguments: { mail_id: '${s1.mail_id}', file_id: '${s2.file_id}' } },
      ],
    });
  });

  it('do not take a name apart', async () => {
    const message = 'Invite Ann Hill and Bob';
    const { steps } = await decide([findPerson, invite], message, {
      tool: single(message, 'invite'),
      asks: { '1}': 0.9, '2}': 0.1 },
      arguments: { invite: '"guest_ids": ["Ann Hill", "Bob"]}' },
      sorts: () => sorted(['Ann', 'Hill', 'Bob']),
    });
    expect(steps.map((step) => step.tool)).toEqual(['find_person', 'find_person', 'invite']);
  });

  it('do not make words of the call a further call', async () => {
    const message = 'Tell Ann and Bob: road closed, take the ferry';
    const tell = makeTool('tell', {
      risk: 'medium',
      inputSchema: {
        type: 'object',
        required: ['person_ids', 'words'],
        properties: { person_ids: people, words: text },
      },
    });
    const { steps } = await decide([findPerson, tell], message, {
      tool: single(message, 'tell'),
      asks: { '1}': 0.9, '2}': 0.1 },
      arguments: {
        tell: {
          '"person_ids": ["Ann", "Bob"], "words": "road closed, take the ferry"}': 0.5,
          '"person_ids": ["${s1.person_id}", "${s2.person_id}"], "words": "road closed, take the ferry"}': 0.5,
        },
      },
      sorts: (call) => sorted(call === 'tell(words)' ? ['road closed', 'take the ferry'] : ['Ann', 'Bob']),
    });
    expect(steps.map((step) => step.tool)).toEqual(['find_person', 'find_person', 'tell']);
  });

  it('are one for two fields of one result', async () => {
    const message = 'Send the blue parcel back';
    const find = makeTool('find_parcel', {
      inputSchema: needing('name'),
      outputSchema: { type: 'object', properties: { parcel_id: text, parcel_ref: text } },
    });
    const { steps } = await decide(
      [find, makeTool('return_parcel', { inputSchema: needing('parcel_id', 'parcel_ref') })],
      message,
      {
        tool: single(message, 'return_parcel'),
        arguments: { find_parcel: '"name": "blue"}', return_parcel: '"parcel_id": "blue"}' },
      },
    );
    expect(steps.map((step) => step.arguments)).toEqual([
      { name: 'blue' },
      { parcel_id: '${s1.parcel_id}', parcel_ref: '${s1.parcel_ref}' },
    ]);
  });

  describe('of a code in the request', () => {
    const findOrder = makeTool('find_order', { inputSchema: needing('customer'), outputSchema: returning('order_id') });
    const cancel = makeTool('cancel_order', { risk: 'high', inputSchema: needing('order_id') });
    const planned = async (message: string, orderId: string, others: Parameters<typeof decide>[0] = []) => {
      const { steps } = await decide([findOrder, cancel, ...others], message, {
        tool: single(message, 'cancel_order'),
        arguments: { find_order: '"customer": "Sony O-7"}', cancel_order: `"order_id": ${orderId}}` },
      });
      return steps.map(({ tool, arguments: values }) => [tool, values]);
    };
    const given = [['cancel_order', { order_id: 'O-7' }]];
    const lookedUp = [
      ['find_order', { customer: 'Sony O-7' }],
      ['cancel_order', { order_id: '${s1.order_id}' }],
    ];

    it('is none where the model means it, though a capitalised word stands before it', async () => {
      expect(await planned('Storniere Bestellung O-7', '"O-7"')).toEqual(given);
    });

    it.each(['"Sony O-7"', 'null'])('is one where the model means %s', async (orderId) => {
      expect(await planned('Cancel that of Sony O-7', orderId)).toEqual(lookedUp);
    });

    it('is none for a number, which no capitalised word makes a part of a name', async () => {
      const find = makeTool('find_ticket', { inputSchema: needing('title'), outputSchema: returning('ticket_id') });
      const close = toolOf('close_ticket', { ticket_id: { type: 'integer' } });
      const { steps } = await decide([find, close], 'Schließe Vorgang 45120', {
        tool: single('Schließe Vorgang 45120', 'close_ticket'),
        arguments: { find_ticket: '"title": "Vorgang"}', close_ticket: '"ticket_id": 45120}' },
      });
      expect(steps.map((step) => step.arguments)).toEqual([{ ticket_id: 45120 }]);
    });

    it('is none in a list, which begins with a bracket', async () => {
      const ids = { type: 'array', items: text };
      const cancelAll = makeTool('cancel_orders', {
        inputSchema: { type: 'object', properties: { order_ids: ids }, required: ['order_ids'] },
      });
      const { steps } = await decide([findOrder, cancelAll], 'Storniere Bestellung O-7', {
        tool: single('Storniere Bestellung O-7', 'cancel_orders'),
        arguments: { find_order: '"customer": "Bestellung"}', cancel_orders: '"order_ids": ["O-7"]}' },
      });
      expect(steps.map((step) => step.arguments)).toEqual([{ order_ids: ['O-7'] }]);
    });

    it('is none where a further call has the code', async () => {
      const message = 'Cancel O-7 and O-8';
      const { steps } = await decide([findOrder, cancel], message, {
        tool: single(message, 'cancel_order'),
        asks: { '1}': 0.5, '2}': 0.5 },
        arguments: { find_order: '"customer": "Cancel"}', cancel_order: '"order_id": "O-7"}' },
        sorts: () => sorted(['O-7', 'O-8']),
      });
      expect(steps.map((step) => step.arguments)).toEqual([{ order_id: 'O-7' }, { order_id: 'O-8' }]);
    });

    it('is none behind a word that another tool has for an argument', async () => {
      const others = [makeTool('switch_light', { inputSchema: needing('on') })];
      expect(await planned('Cancel what is due on O-7', '"O-7"', others)).toEqual(given);
    });
  });

  it('are added where the code of the request is another identifier of the call', async () => {
    const items = {
      type: 'array',
      items: toolOf('item', { product_id: text, quantity: { type: 'integer' } }, ['product_id', 'quantity'])
        .inputSchema,
    };
    const create = toolOf('create_order', { customer_id: text, items }, ['customer_id', 'items']);
    const find = makeTool('find_customer', { inputSchema: needing('name'), outputSchema: returning('customer_id') });
    const message = 'Order two P-100 and one P-205 for Ann Berg';
    const written = '[{"product_id": "P-100", "quantity": 2}, {"product_id": "P-205", "quantity": 1}]';
    const { steps } = await decide([find, create], message, {
      tool: single(message, 'create_order'),
      arguments: {
        find_customer: '"name": "Ann Berg"}',
        create_order: {
          '"customer_id": "Ann Berg"}': 0.5,
          [`"customer_id": "\${s1.customer_id}", "items": ${written}}`]: 0.5,
        },
      },
    });
    expect(steps.map((step) => step.arguments)).toEqual([
      { name: 'Ann Berg' },
      {
        customer_id: '${s1.customer_id}',
        items: [
          { product_id: 'P-100', quantity: 2 },
          { product_id: 'P-205', quantity: 1 },
        ],
      },
    ]);
  });

  it('are added for what identifiers in a list of objects have in words, once for the same words', async () => {
    const properties = { product_id: text, color: text };
    const items = { type: 'array', items: toolOf('item', properties, ['product_id', 'color']).inputSchema };
    const order = toolOf('create_order', { items }, ['items']);
    const find = makeTool('find_product', { inputSchema: needing('name'), outputSchema: returning('product_id') });
    const message = 'Order the chair in red, the chair in blue, the lamp in grey and P-7 in green';
    const written = ['chair red', 'chair blue', 'lamp grey', 'P-7 green'].map((one) => {
      const [product, color] = one.split(' ');
      return `{"product_id": "${product}", "color": "${color}"}`;
    });
    const { steps } = await decide([find, order], message, {
      tool: single(message, 'create_order'),
      arguments: { find_product: '"name": ', create_order: `"items": [${written.join(', ')}]}` },
    });
    expect(steps.map((step) => step.arguments)).toEqual([
      { name: 'chair' },
      { name: 'lamp' },
      {
        items: [
          { product_id: '${s1.product_id}', color: 'red' },
          { product_id: '${s1.product_id}', color: 'blue' },
          { product_id: '${s2.product_id}', color: 'grey' },
          { product_id: 'P-7', color: 'green' },
        ],
      },
    ]);
  });

  it('serve each call of a tool with several codes', async () => {
    const message = 'Assign tickets T-12 and T-13 to Ann';
    const { steps } = await decide(
      [findPerson, makeTool('assign', { risk: 'medium', inputSchema: needing('ticket_id', 'person_id') })],
      message,
      {
        tool: single(message, 'assign'),
        asks: { '1}': 0.9, '2}': 0.1 },
        arguments: { find_person: '"name": "Ann"}', assign: '"ticket_id": "T-12", "person_id": "${s1.person_id}"}' },
        sorts: (call) => (call === 'assign(ticket_id)' ? sorted(['T-12', 'T-13']) : sorted(['Ann'])),
      },
    );
    expect(steps.map((step) => step.arguments)).toEqual([
      { name: 'Ann' },
      { ticket_id: 'T-12', person_id: '${s1.person_id}' },
      { ticket_id: 'T-13', person_id: '${s1.person_id}' },
    ]);
  });

  it('are found by the model where neither the request nor the graph has a value', async () => {
    const people = makeTool('people_nearby', { inputSchema: needing('town'), outputSchema: returning('stylist_name') });
    const book = makeTool('book_haircut', { inputSchema: needing('stylist_name') });
    const message = 'A haircut in Basel';
    const { result } = await decide([people, book], message, {
      tool: (about) => chooses(about, about === message ? 'book_haircut' : 'people_nearby'),
      arguments: {
        people_nearby: '"town": "Basel"}',
        book_haircut: { '"stylist_name": null}': 0.9, '"stylist_name": "${s1.stylist_name}"}': 0.1 },
      },
    });
    expect(result).toMatchObject({
      steps: [
        { tool: 'people_nearby', arguments: { town: 'Basel' } },
        { tool: 'book_haircut', arguments: { stylist_name: '${s1.stylist_name}' }, from: { stylist_name: 'step' } },
      ],
    });
  });

  it('are found by the model also where their result has the value under another name', async () => {
    const listed = { type: 'array', items: { type: 'object', properties: { number: { type: 'integer' } } } };
    const list = makeTool('list_pull_requests', {
      inputSchema: needing('author'),
      outputSchema: { type: 'object', properties: { pull_requests: listed } },
    });
    const close = toolOf('close_pull_request', { pull_number: { type: 'integer' } });
    const message = 'Close the PR of Hana';
    const number = '${s1.pull_requests[0].number}';
    const { steps } = await decide([list, close], message, {
      tool: (about) => chooses(about, about === message ? 'close_pull_request' : 'list_pull_requests'),
      arguments: {
        list_pull_requests: '"author": "Hana"}',
        close_pull_request: { '"pull_number": null}': 0.9, [`"pull_number": "${number}"}`]: 0.1 },
      },
    });
    expect(steps.map((step) => step.arguments)).toEqual([{ author: 'Hana' }, { pull_number: number }]);
  });

  it.each<[string, string, object]>([
    ['the same server', 'crm', { steps: [{ tool: 'make_note' }, { tool: 'comment' }] }],
    ['another server', 'mail', { kind: 'clarification', missing: ['base_id'] }],
  ])('without a described result provide an identifier for a tool of %s alone', async (_, origin, expected) => {
    const comment = makeTool('comment', { origin: 'crm', inputSchema: needing('base_id') });
    const message = 'Comment on the base of Ann';
    const { result } = await decide([makeTool('make_note', { origin }), comment], message, {
      tool: (about) => chooses(about, about === message ? 'comment' : 'make_note'),
      arguments: { comment: { '"base_id": null}': 0.9, '"base_id": "${s1.id}"}': 0.1 } },
    });
    expect(result).toMatchObject(expected);
  });

  it('without a described result are referred to by a field that the model names', async () => {
    const lyrics = makeTool('find_lyrics', { inputSchema: needing('song') });
    const translate = makeTool('translate', { inputSchema: needing('text') });
    const { result } = await decide([lyrics, translate], 'Lyrics of Yesterday, translated', {
      ...asked(['lyrics of Yesterday', 'find_lyrics'], ['translated lyrics', 'translate']),
      arguments: { find_lyrics: '"song": "Yesterday"}', translate: '"text": "${s1.lyrics}"}' },
    });
    expect(result).toMatchObject({ steps: [{}, { arguments: { text: '${s1.lyrics}' }, dependsOn: ['s1'] }] });
  });

  it('are shown when the argument that they were added for is decided anew', async () => {
    const find = toolOf('find_lyrics', {});
    const translate = makeTool('translate', { inputSchema: needing('text') });
    const message = 'Translate the lyrics';
    const { model } = await decide([find, translate], message, {
      tool: (about) => chooses(about, about === message ? 'translate' : 'find_lyrics'),
      arguments: { translate: { '"text": null}': 0.95, '"text": "${s1.lyrics}"}': 0.05 } },
    });
    const shown = model.readerCalls.filter(({ about }) => about?.promptName === 'fill-arguments');
    expect(shown.at(-1)?.prompt.user).toContain('Earlier: s1 = find_lyrics()');
  });

  it.each([
    ['no argument is left for', {}, false],
    ['an argument may take', { title: { type: 'string' } }, true],
    ['an object may take a part of', { note: { type: 'object', properties: { of: { type: 'string' } } } }, true],
    ['no argument can take', { count: { type: 'integer' } }, false],
  ])('are described only if their result is one that %s', async (_, others, isDescribed) => {
    const find = makeTool('find_person', { inputSchema: needing('name'), outputSchema: returning('person_id') });
    const tell = toolOf('tell', { person_id: { type: 'string' }, ...others, why: { type: 'string' } }, [
      'person_id',
      ...Object.keys(others),
    ]);
    const { model } = await decide([find, tell], 'Tell Ann Hill 3', { tool: 'tell' });
    const shown = model.readerCalls.filter(({ about }) => about?.promptName === 'fill-arguments');
    const after = shown.map(({ prompt }) => prompt.user).find((user) => user.includes('Earlier: s1 = find_person('));
    expect(after).toContain(`)${isDescribed ? ' returns {person_id: string}' : ''}\nRequest`);
  });

  it('take the words that found a thing away from what is done with it', async () => {
    const find = makeTool('find_person', { inputSchema: needing('name'), outputSchema: returning('person_id') });
    const tell = makeTool('tell', { inputSchema: needing('person_id', 'text') });
    const message = 'Tell Ann that the lift works';
    const { result } = await decide([find, tell], message, {
      tool: single(message, 'tell'),
      arguments: {
        find_person: '"name": "Ann"}',
        tell: {
          'x"text": "Ann that the lift works"}': 0.6,
          '"person_id": "${s1.person_id}", "text": "that the lift works"}': 0.4,
        },
      },
    });
    expect(result).toMatchObject({ steps: [{}, { arguments: { text: 'that the lift works' } }] });
  });

  it('leave a number to the argument of the same name', async () => {
    const count = { type: 'integer', minimum: 1 };
    const search = makeTool('search_rooms', {
      inputSchema: { type: 'object', properties: { guests: count }, required: ['guests'] },
      outputSchema: returning('room_id'),
    });
    const book = toolOf('book_room', { room_id: text, guests: count, beds: count }, ['room_id']);
    const message = 'Book the nicest room for 3';
    const { result, steps } = await decide([search, book], message, {
      tool: single(message, 'book_room'),
      arguments: {
        search_rooms: '"guests": 3}',
        book_room: { '"room_id": "${s1.room_id}", "guests": 3, "beds": 3}': 0.9, '"guests": null, "beds": null}': 0.1 },
      },
    });
    expect(result).toMatchObject({ steps: [{ arguments: { guests: 3 } }, { tool: 'book_room' }] });
    expect(steps[1]?.arguments).toEqual({ room_id: '${s1.room_id}', guests: 3 });
  });

  it.each([
    ['is that number', 'Supprime la facture 3301 de Dupont', 0.02, ['delete_bill']],
    ['may be something else', 'Supprime la facture 3301 de Dupont', 0.3, ['find_bill', 'delete_bill']],
    ['is a word', 'Delete the open one of the bills', 0.02, ['find_bill', 'delete_bill']],
  ])('are not needed where a number of the request names the thing: it %s', async (_, message, unsaid, tools) => {
    const integer = { type: 'integer' };
    const find = makeTool('find_bill', {
      inputSchema: needing('customer'),
      outputSchema: { type: 'object', properties: { bill_id: integer } },
    });
    const drop = toolOf('delete_bill', { bill_id: integer });
    const { called } = await decide([find, drop], message, {
      tool: single(message, 'delete_bill'),
      arguments: {
        find_bill: { '"customer": "Dupont"}': 1, '"customer": "open"}': 1 },
        delete_bill: {
          '"bill_id": 3301}': 1 - unsaid,
          '"bill_id": 1}': 1 - unsaid,
          '"bill_id": null}': unsaid,
          '"bill_id": "${s1.bill_id}"}': 1,
        },
      },
    });
    expect(called).toEqual(tools);
  });

  it('are one a value', async () => {
    const { steps } = await decide([findParcel, weigh, track], 'Weight of the blue parcel and of the red parcel', {
      ...asked(['weight of the blue parcel', 'parcel_weight'], ['weight of the red parcel', 'parcel_weight']),
      arguments: { find_parcel: '"name": "blue"}', parcel_weight: '"parcel_id": "blue"}' },
      sorts: () => sorted(['blue', 'red']),
    });
    expect(steps.map((step) => [step.tool, step.arguments])).toEqual([
      ['find_parcel', { name: 'blue' }],
      ['parcel_weight', { parcel_id: '${s1.parcel_id}' }],
      ['find_parcel', { name: 'red' }],
      ['parcel_weight', { parcel_id: '${s3.parcel_id}' }],
    ]);
  });
});

describe('an argument', () => {
  const fill = (tool: ReturnType<typeof makeTool>, message: string, answer: Answer) =>
    decide([tool], message, {
      tool: single(message, tool.name),
      arguments: { [tool.name]: answer },
      sorts: () => sorted(['Ann', 'Bob']),
    });
  const taking = (schema: unknown, isRequired = true) =>
    makeTool('take', {
      inputSchema: { type: 'object', properties: { value: schema }, ...(isRequired ? { required: ['value'] } : {}) },
    });

  const GERMAN_DAY = { type: 'string', description: 'as DD.MM.YYYY' };
  it.each<[string, unknown, string, unknown, string]>([
    ['words as they stand there, with their rare characters', text, '请查一下䴙䴘站的水情', '䴙䴘站', 'request'],
    ['a number that is said', { type: 'integer' }, 'Turn it down to 40 percent', 40, 'request'],
    ['a number in words', { type: 'integer' }, 'A table for four people', 4, 'request'],
    ['a value of the schema', { enum: ['low', 'high'] }, 'It is urgent', 'high', 'enum'],
    ['a day, worked out', DAY, 'Rain tomorrow', '2026-11-24', 'computed'],
    ['a day in the form of the schema', GERMAN_DAY, 'Rain tomorrow', '24.11.2026', 'computed'],
    ['a list of words', { type: 'array', items: text }, 'Invite Ann and Bob', ['Ann', 'Bob'], 'request'],
  ])('is %s', async (_, schema, message, value, from) => {
    const answer = `"value": ${JSON.stringify(value).replaceAll('","', '", "')}}`;
    const { result } = await fill(taking(schema), message, answer);
    expect(result).toMatchObject({ kind: 'plan', steps: [{ arguments: { value }, from: { value: from } }] });
  });

  it('takes a value of a closed list that another ask names only where its own ask means it', async () => {
    const lamp = taking({ enum: ['light', 'lock'] });
    const { result } = await decide([lamp, note], 'Dim the lamp and write down that the lock is stuck', {
      ...asked(['dim the lamp', 'take'], ['write down that the lock is stuck', 'write_note']),
      arguments: {
        take: { '"value": "light"}': 0.9, '"value": "lock"}': 0.1 },
        write_note: '"body": "the lock is stuck"}',
      },
    });
    expect(result).toMatchObject({ steps: [{ arguments: { value: 'light' } }, { tool: 'write_note' }] });
  });

  it('is worked out in the zone of the request', async () => {
    const { result } = await decide(
      [taking({ type: 'string', format: 'date-time' })],
      { message: 'Wake me tomorrow at 7:00', timeZone: 'Asia/Shanghai' },
      {
        tool: single('Wake me tomorrow at 7:00', 'take'),
        arguments: { take: '"value": "2026-11-24T07:00:00+08:00"}' },
      },
    );
    expect(result).toMatchObject({ steps: [{ arguments: { value: '2026-11-24T07:00:00+08:00' } }] });
  });

  it('is read with the lengths of time that its ask names, in the units of the arguments that take one', async () => {
    const rain = toolOf('rain', { hours: { type: 'integer', default: 24 }, count: { type: 'integer' } }, ['hours']);
    const message = 'Rain of the past two days';
    const { result, model } = await decide(
      [rain],
      { message, history: [{ role: 'user', content: 'Wait for 9 hours' }] },
      { asks: listOf([message]), tool: single(message, 'rain'), arguments: { rain: '"hours": 48}' } },
    );
    expect(result).toMatchObject({ steps: [{ arguments: { hours: 48 }, from: { hours: 'computed' } }] });
    const filled = model.readerCalls.find(({ about }) => about?.promptName === 'fill-arguments');
    expect(filled?.prompt.user).toContain('; "past two days" is hours 48\n');
    expect(filled?.prompt.user).not.toContain('is hours 9');
  });

  it.each<[string, Answer, object]>([
    [
      'which the model writes ahead of the text',
      { '"item": "two breads", "count": null}': 0.3, '"count": 2, "item": "breads"}': 0.7 },
      { item: 'breads', count: 2 },
    ],
    [
      'unless it is a part of the name',
      { '"item": "two breads", "count": null}': 0.6, '"count": null, "item": "two breads"}': 0.4 },
      { item: 'two breads' },
    ],
  ])('that is a number in the words of another one is decided first, %s', async (_, answer, expected) => {
    const add = toolOf('add_item', { item: text, count: { type: 'integer' } }, ['item']);
    const { result } = await fill(add, 'Please add two breads', answer);
    expect(result).toMatchObject({ steps: [{ arguments: expected }] });
    expect(Object.keys(Object(result).steps[0].arguments)).toEqual(Object.keys(expected));
  });

  it('has the time of day that the request names in place of that of a message before it', async () => {
    const ask = 'move E-31 to Friday at 11';
    const { result } = await decide(
      [toolOf('move', { start: { type: 'string', format: 'date-time' } })],
      {
        message: 'no, better at 11',
        timeZone: 'UTC',
        history: [{ role: 'user', content: 'Move E-31 to Friday at 10' }],
      },
      {
        asks: `1, "asks": ["${ask}"]}`,
        tool: chooses(ask, 'move'),
        arguments: { move: '"start": "2026-11-27T10:00:00Z"}' },
      },
    );
    expect(result).toMatchObject({ steps: [{ arguments: { start: '2026-11-27T11:00:00Z' } }] });
  });

  it.each<[string, Record<string, unknown>, string, Answer, object]>([
    [
      'is the one whose words it would write',
      { start: { type: 'string', format: 'date-time' } },
      'The lift works again at 3 pm',
      '"start": "3 pm"}',
      { steps: [{ arguments: { start: '2026-11-23T15:00:00Z' }, from: { start: 'computed' } }] },
    ],
    ['is asked for', { count: { type: 'integer' } }, 'Wait for 9 hours', '"count": 48}', { missing: ['count'] }],
    [
      'takes the words of another one that it means',
      { from: text, to: text },
      'The way from Oslo',
      '"from": "Oslo", "to": "Oslo"}',
      { steps: [{ arguments: { from: 'Oslo', to: 'Oslo' } }] },
    ],
    [
      'is in the letters of the request',
      { body: text },
      'Tell all 9 that the lift works',
      '"body": "The lift works."}',
      { steps: [{ arguments: { body: 'the lift works' }, from: { body: 'request' } }] },
    ],
  ])('of whose candidates the model means none %s', async (_, properties, message, answer, expected) => {
    const { result } = await fill(toolOf('take', properties), message, answer);
    expect(result).toMatchObject(expected);
  });

  it('may be the own words of the model, which is told', async () => {
    const { result } = await fill(note, 'Write a polite note', '"body": "All the best to you"}');
    expect(result).toMatchObject({
      steps: [{ arguments: { body: 'All the best to you' }, from: { body: 'composed' } }],
    });
  });

  it.each([
    [
      'the schema, where the request makes it likelier',
      0.3,
      { team: 'payments' },
      'composed',
      'Team, e.g. payments',
      '',
    ],
    ['the schema, not where any request gets it', 0.95, { team: 'platform' }, 'request', 'Team, e.g. payments', ''],
    ['the tool, not where any request gets it', 0.95, { team: 'platform' }, 'request', 'Team', 'Who of payments is up'],
  ])('may be in words of %s', async (_, unasked, values, from, ofTeam, ofTool) => {
    const team = { type: 'string', description: ofTeam };
    const onCall = makeTool('on_call', {
      description: ofTool,
      inputSchema: { type: 'object', properties: { team }, required: ['team'] },
    });
    const message = 'Who is on call for the platform team?';
    const { result } = await decide([onCall], message, {
      tool: single(message, 'on_call'),
      arguments: { on_call: { '"team": "payments"}': 0.55, '"team": "platform"}': 0.45 } },
      unasked: { arguments: { '"team": "payments"}': unasked, '"team": "sales"}': 1 - unasked } },
    });
    expect(result).toMatchObject({ steps: [{ arguments: values, from: { team: from } }] });
  });

  it('is no example that begins like words of the request, nor its beginning', async () => {
    const flip = toolOf('flip', { flag: { type: 'string', description: 'The flag, e.g. new-checkout' } }, ['flag']);
    const { result } = await decide([flip], 'Flip the new search', {
      tool: single('Flip the new search', 'flip'),
      arguments: { flip: { '"flag": "new-checkout"}': 0.8, '"flag": "search"}': 0.2 } },
      unasked: { arguments: { '"flag": "new-checkout"}': 0.9, '"flag": "dark-mode"}': 0.1 } },
    });
    expect(result).toMatchObject({ steps: [{ arguments: { flag: 'new search' }, from: { flag: 'request' } }] });
  });

  it('is what another ask names, before a tool is looked up for it', async () => {
    const [review, merge] = [toolOf('review', { repo: text, body: text }), toolOf('merge', { repo: text, body: text })];
    const message = 'Review acme/shop with "fine", then merge it as "done"';
    const { steps } = await decide([review, merge, makeTool('list_repos')], message, {
      ...asked(['review acme/shop with "fine"', 'review'], ['merge it as "done"', 'merge']),
      arguments: {
        review: '"repo": "acme/shop", "body": "fine"}',
        merge: (read) => (read === message ? '"body": "done", "repo": "acme/shop"}' : '"repo": null, "body": "done"}'),
      },
    });
    expect(steps).toMatchObject([
      { tool: 'review' },
      { tool: 'merge', arguments: { repo: 'acme/shop', body: 'done' } },
    ]);
  });

  it('is no word of another ask, which the model would copy', async () => {
    const [measure, encrypt] = [toolOf('measure', { weight: text }), toolOf('encrypt', { key: text, data: text })];
    const { steps } = await decide([measure, encrypt], 'Measure 75 kg, then encrypt the index with abc', {
      ...asked(['Measure 75 kg', 'measure'], ['encrypt the index with abc', 'encrypt']),
      arguments: {
        measure: '"weight": "75 kg"}',
        encrypt: { '"key": "abc", "data": "75"}': 0.9, '"key": "abc", "data": "${s1.index}"}': 0.1 },
      },
    });
    expect(steps[1]).toMatchObject({ arguments: { key: 'abc', data: '${s1.index}' } });
  });

  it.each([
    ['measure', '${s1.index}', 'step'],
    ['none', '75', 'request'],
  ])('is no word of another ask where the result of %s has it', async (provider, data, from) => {
    const measure = { ...toolOf('measure', { weight: text }), risk: 'high' as const };
    const encrypt = toolOf('encrypt', { key: text, data: text });
    const message = 'Measure 75 kg, then encrypt the index with abc';
    const { steps } = await decide([measure, encrypt], message, {
      asks: listOf(['Measure 75 kg', 'encrypt the index with abc']),
      tool: (read) => {
        if (read === message)
          return `${chooses('Measure 75 kg', 'measure')}, {"do": ${chooses('encrypt the index with abc', 'encrypt')}]}`;
        return chooses(read, read.startsWith('data: ') ? provider : (read.split(' ')[0] ?? '').toLowerCase());
      },
      arguments: {
        measure: '"weight": "75 kg"}',
        encrypt: (read) =>
          read === message
            ? '"key": "abc", "data": "75"}'
            : { '"key": "abc", "data": null}': 0.9, '"key": "abc", "data": "${s1.index}"}': 0.1 },
      },
    });
    expect(steps[1]).toMatchObject({ tool: 'encrypt', arguments: { key: 'abc', data }, from: { data: from } });
  });

  it.each([
    ['has a result of', '${s1.total}', 'sum'],
    ['has no result of', 1000, 'note'],
  ])('is no number that another one needs where it %s an earlier step', async (_, revenue, before) => {
    const integer = { type: 'integer' };
    const earlier = toolOf(before, { of: text });
    const output = { type: 'object', properties: { total: before === 'sum' ? integer : text } };
    const profit = toolOf('profit', { revenue: integer, expenses: integer });
    const message = 'Sum up the sales, then tell the profit with 1000 spent';
    const { steps } = await decide([{ ...earlier, outputSchema: output }, profit], message, {
      ...asked(['sum up the sales', before], ['tell the profit with 1000 spent', 'profit']),
      arguments: {
        [before]: '"of": "the sales"}',
        profit: {
          '"revenue": 1000, "expenses": 1000}': 0.9,
          '"revenue": "${s1.total}", "expenses": 1000}': 0.1,
        },
      },
    });
    expect(steps[1]).toMatchObject({ tool: 'profit', arguments: { revenue, expenses: 1000 } });
  });

  it('is no second value of a result without a schema', async () => {
    const integer = { type: 'integer' };
    const find = toolOf('find', { seats: integer });
    const book = toolOf('book', { name: text, seats: integer });
    const message = 'Find a place for 4, then book it';
    const { steps } = await decide([find, book], message, {
      ...asked(['find a place for 4', 'find'], ['book it', 'book']),
      arguments: {
        find: '"seats": 4}',
        book: (read) =>
          read === message
            ? { '"name": "${s1.name}", "seats": 4}': 0.3, '"name": "${s1.name}", "seats": "${s1.seats}"}': 0.7 }
            : '"name": "${s1.name}", "seats": null}',
      },
    });
    expect(steps[1]).toMatchObject({ tool: 'book', arguments: { name: '${s1.name}', seats: 4 } });
  });

  describe('that the request hands over', () => {
    const translate = toolOf('translate', { text, to: text }, ['text', 'to']);
    const mail = toolOf('mail', { subject: text, body: text }, ['subject', 'body']);
    const oneLineOf = (message: string) => message.replace(/\s+/gu, ' ');
    /** The model would rather write its own words than the text. */
    const translated = (shown: string): Answer => ({
      '"text": "Mot", "to": "French"}': 0.9,
      [`"text": ${JSON.stringify(shown)}, "to": "French"}`]: 0.1,
    });
    const write = (tool: Tool, message: string, answer: Answer) =>
      decide([tool], message, { tool: single(oneLineOf(message), tool.name), arguments: { [tool.name]: answer } });

    it.each([
      ['behind a colon', 'Into French: where is the station?', 'where is the station?'],
      ['behind a colon of full width', '翻译成法语：车站在哪里', '车站在哪里'],
      ['in quotation marks', 'Put „Wo ist der Bahnhof?“ into French', 'Wo ist der Bahnhof?'],
      ['in lines of its own', 'Into French please\n\nDear all,\nthe train is late.', 'Dear all,\nthe train is late.'],
      ['in a fence', 'Into French\n```\nDear all,\nso long\n```\nthanks', 'Dear all,\nso long'],
    ])('is passed on as it stands, though the model would translate it: %s', async (_, message, value) => {
      const { steps, result } = await write(translate, message, translated(oneLineOf(value)));
      expect(steps).toMatchObject([{ arguments: { text: value } }]);
      expect(result).toMatchObject({ steps: [{ from: { text: 'request' } }] });
    });

    it('goes to the argument whose text the model would rather begin so', async () => {
      const message = 'Write to the team: train late, start without me';
      const { steps } = await write(mail, message, {
        '"subject": "Delay", "body": "I am sorry"}': 0.8,
        '"subject": "Delay", "body": "train late, start without me"}': 0.1,
        '"subject": "train late, start without me", "body": "I am sorry"}': 0.01,
      });
      expect(steps).toMatchObject([{ arguments: { subject: 'Delay', body: 'train late, start without me' } }]);
    });

    it('is no value where an argument has some of its words', async () => {
      const message = 'Write to the team: train late, start without me';
      const { steps } = await write(mail, message, '"subject": "train late", "body": "Please start"}');
      expect(steps).toMatchObject([{ arguments: { subject: 'train late', body: 'Please start' } }]);
    });

    it('is no value that is too long for the schema', async () => {
      const short = toolOf('translate', { text: { ...text, maxLength: 12 }, to: text }, ['text', 'to']);
      const { steps } = await write(short, 'Into French: where is the station?', '"text": "Où est", "to": "French"}');
      expect(steps).toMatchObject([{ arguments: { text: 'Où est' } }]);
    });

    it('has no words of the line before it', async () => {
      const save = toolOf('save', { folder: text }, ['folder']);
      const { steps } = await write(save, 'Save in the folder Plot:\nPresent: Olu and Beth', {
        '"folder": "Plot: Present"}': 0.9,
        '"folder": "Plot"}': 0.1,
      });
      expect(steps).toMatchObject([{ arguments: { folder: 'Plot' } }]);
    });

    const readIn = (model: { readerCalls: readonly { about?: unknown }[] }, prompt: string) =>
      model.readerCalls.flatMap(({ about }) => {
        const { promptName, variables } = Object(about);
        return promptName === prompt && variables.message !== '' ? [variables.message] : [];
      });

    it('shows its words only to the arguments where it is long', async () => {
      const pasted = 'We met on Monday. Ann books the hall, Bo orders the cake. '.repeat(8).trim();
      const { steps, model } = await decide([translate], `Into French:\n${pasted}`, {
        tool: (message) => chooses(message, 'translate'),
        arguments: { translate: translated(`${pasted.slice(0, 400)}…`) },
      });
      expect(steps).toMatchObject([{ arguments: { text: pasted } }]);
      expect(readIn(model, 'split-asks')).toEqual(['Into French: …']);
      expect(readIn(model, 'choose-tool')).toEqual(['Into French: …']);
      expect(new Set(readIn(model, 'fill-arguments'))).toEqual(new Set([`Into French: ${pasted}`]));
    });

    it('is read with the request where the plan without it takes none of its words', async () => {
      const wishes = 'I would like to know the weather in Bergen on Monday. '.repeat(8).trim();
      const message = `A few things:\n${wishes}`;
      const { steps } = await decide([translate, weather], message, {
        tool: (asked) => chooses(asked, asked.endsWith('…') ? 'translate' : 'weather'),
        arguments: { translate: '"text": "A few", "to": "things"}', weather: '"place": "Bergen"}' },
      });
      expect(steps).toMatchObject([{ tool: 'weather', arguments: { place: 'Bergen' } }]);
    });

    it('is left out where nothing serves the request otherwise', async () => {
      const message = 'Into French: may I bring my dog?';
      const { steps, result } = await decide([translate], message, {
        tool: (asked) => chooses(asked, asked === message ? 'none' : 'translate'),
        fits: { translate: (asked) => (asked === message ? 'no"}' : 'yes"}') },
        arguments: { translate: translated('may I bring my dog?') },
      });
      expect(steps).toMatchObject([{ arguments: { text: 'may I bring my dog?', to: 'French' } }]);
      expect(result).toMatchObject({ goal: message });
    });

    it('may be left out without a plan: the first result stands', async () => {
      const { result } = await decide([translate], 'Fun fact: dogs dream', {
        tool: (asked) => {
          if (asked.endsWith('…')) throw new WinnowError('model_failed', 'The server is gone.');
          return chooses(asked, 'none');
        },
        fits: { translate: 'no"}' },
      });
      expect(result).toMatchObject({ kind: 'unplannable' });
      expect(result.trace.map(({ note }) => note)).toContain('that failed: model_failed');
    });

    it('makes no request of what nothing serves', async () => {
      const { result, model } = await decide([translate], 'Fun fact: dogs dream', {
        tool: (asked) => chooses(asked, 'none'),
        fits: { translate: 'no"}' },
      });
      expect(result).toMatchObject({ kind: 'unplannable' });
      expect(readIn(model, 'split-asks')).toEqual(['Fun fact: dogs dream', 'Fun fact: …']);
    });

    it('is whole, however long it is', async () => {
      const pasted = Array.from({ length: 300 }, (_, place) => `word${place}`).join(' ');
      const { steps } = await write(translate, `Into French:\n${pasted}`, translated(`${pasted.slice(0, 400)}…`));
      expect(steps).toMatchObject([{ arguments: { text: pasted } }]);
    });
  });

  it('that is an identifier has no words around it', async () => {
    const message = 'Add a section to the project Garden 1203344556677889';
    const add = toolOf('add_section', { project_id: text });
    const { result } = await decide([add], message, {
      tool: single(message, 'add_section'),
      arguments: {
        add_section: { '"project_id": "Garden 1203344556677889"}': 0.9, '"project_id": "1203344556677889"}': 0.1 },
      },
    });
    expect(result).toMatchObject({ steps: [{ arguments: { project_id: '1203344556677889' } }] });
  });

  it('that is an identifier in its form is meant, though the model hardly foresees it', async () => {
    const message = 'Add a section to 1203344556677889';
    const { result } = await decide([toolOf('add_section', { project_id: text })], message, {
      tool: single(message, 'add_section'),
      arguments: { add_section: { '"project_id": "12"}': 0.99, '"project_id": "1203344556677889"}': 0.01 } },
    });
    expect(result).toMatchObject({ steps: [{ arguments: { project_id: '1203344556677889' } }] });
  });

  it('that is an identifier is never composed', async () => {
    const { result } = await fill(weigh, 'Weigh it', '"parcel_id": "prc-1"}');
    expect(JSON.stringify(result)).not.toContain('prc-1');
  });

  it.each([
    ['en', 'What will the weather be like, please?', 'Please tell me: Name of the place (place)'],
    ['de', 'Wie wird denn das Wetter bitte?', 'Bitte gib an: Name of the place (place)'],
    ['zh', '天气怎么样', '请补充：Name of the place (place)'],
  ])('that is required and not said is asked back in %s, as its schema tells of it', async (_, message, question) => {
    const { result } = await fill(weather, message, '"place": null}');
    expect(result).toMatchObject({ kind: 'clarification', question, missing: ['place'] });
  });

  it('that is an object has the least sure source of its parts, defaults among them', async () => {
    const letter = (properties: object, required: string[]) =>
      toolOf('mail', { letter: { type: 'object', required, properties } });
    const own = await decide([letter({ to: text, text }, ['to', 'text'])], 'Tell Ann the news', {
      tool: chooses('Tell Ann the news', 'mail'),
      arguments: { mail: '"letter": {"to": "Ann", "text": "Your flat is gone, pay now"}}' },
    });
    expect(own.result).toMatchObject({ steps: [{ from: { letter: 'composed' } }] });
    const filled = await decide(
      [letter({ to: text, copy: { type: 'string', default: 'archive@corp.example' } }, ['to'])],
      'Tell Ann',
      { tool: chooses('Tell Ann', 'mail'), arguments: { mail: '"letter": {"to": "Ann", "copy": null}}' } },
    );
    expect(filled.result).toMatchObject({
      steps: [{ arguments: { letter: { copy: 'archive@corp.example' } }, from: { letter: 'default' } }],
    });
  });

  it('that is a list leaves out what the request leaves out', async () => {
    const message = 'Invite ann@hill.org and bo@hill.org, not cy@hill.org';
    const people = toolOf('invite', { people: { type: 'array', items: text } });
    const { result } = await decide([people], message, {
      tool: single(message, 'invite'),
      arguments: { invite: '"people": ["ann@hill.org", "bo@hill.org", "cy@hill.org"]}' },
      sorts: () => sorted(['ann@hill.org', 'bo@hill.org'], ['cy@hill.org']),
    });
    expect(result).toMatchObject({ steps: [{ arguments: { people: ['ann@hill.org', 'bo@hill.org'] } }] });
  });

  it.each<[string, Answer, string[]]>([
    ['keeps a first item that may be missing', { '"labels": ["bug"]}': 0.7, '"labels": [null]}': 0.3 }, ['bug']],
    ['ends at a further one', { '"labels": ["bug", "crash"]}': 0.7, '"labels": ["bug", null]}': 0.3 }, ['bug']],
    ['takes one that is surely there', '"labels": ["bug", "crash"]}', ['bug', 'crash']],
  ])('that is an optional list %s', async (_, labels, expected) => {
    const message = 'File it as bug and crash';
    const file = toolOf('file_issue', { labels: { type: 'array', items: text } }, []);
    const { result } = await decide([file], message, {
      tool: single(message, 'file_issue'),
      arguments: { file_issue: labels },
      sorts: () => sorted(['bug', 'crash']),
      unasked: { arguments: '"labels": null}' },
    });
    expect(result).toMatchObject({ steps: [{ arguments: { labels: expected } }] });
  });

  it('that was taken once leaves other words of its letters', async () => {
    const mail = makeTool('mail', { inputSchema: needing('subject', 'body') });
    const message = "Write that the contract is signed, with 'Contract' as the subject";
    const { result } = await fill(mail, message, '"subject": "Contract", "body": "the contract is signed"}');
    expect(result).toMatchObject({ steps: [{ arguments: { subject: 'Contract', body: 'the contract is signed' } }] });
  });

  it('of which the request has no word in its form is written by the model, if it fits', async () => {
    const translate = toolOf('translate', { to: { type: 'string', pattern: '^[a-z]{2}$' } });
    const { result } = await fill(translate, '翻译成英文', '"to": "en"}');
    expect(result).toMatchObject({ steps: [{ arguments: { to: 'en' }, from: { to: 'composed' } }] });
    const { result: other } = await fill(translate, '翻译成英文', '"to": "English"}');
    expect(other).toMatchObject({ kind: 'clarification', missing: ['to'] });
  });

  const saying = (metric: number): Answer => ({
    '"place": "Oslo", "units": "metric"}': metric,
    '"place": "Oslo", "units": null}': 1 - metric,
  });

  it.each([
    ['left out', 'it would get whatever is asked for', { asked: 0.7, unasked: 0.9 }, { place: 'Oslo' }],
    ['left out', 'the request makes hardly likelier', { asked: 0.9, unasked: 0.7 }, { place: 'Oslo' }],
    ['left out', 'the model may leave out, too', { asked: 0.7, unasked: 0.02 }, { place: 'Oslo' }],
    ['given', 'the request makes likelier', { asked: 0.9, unasked: 0.5 }, { place: 'Oslo', units: 'metric' }],
  ])('that is optional is %s where it has a value that %s', async (_, __, { asked, unasked }, expected) => {
    const { steps } = await decide([weather], 'Weather in Oslo', {
      tool: single('Weather in Oslo', 'weather'),
      arguments: { weather: saying(asked) },
      unasked: { arguments: saying(unasked) },
    });
    expect(steps[0]?.arguments).toEqual(expected);
  });

  const keeping = (kept: number, unsaid = 0.02): Answer => ({
    '"keep": true}': kept,
    '"keep": false}': 1 - kept - unsaid,
    '"keep": null}': unsaid,
  });

  it.each([
    ['less likely than its default, but far likelier than without the request', keeping(0.4), { keep: true }],
    ['likelier than without a request, but not by much', keeping(0.2), { keep: false }],
    ['hardly likelier than nothing', keeping(0.4, 0.4), { keep: false }],
    ['what it is anyway', keeping(0.01), { keep: false }],
  ])('a switch is set where the other value is %s', async (_, values, expected) => {
    const merge = makeTool('merge', {
      inputSchema: { type: 'object', properties: { keep: { type: 'boolean', default: false } } },
    });
    const { steps } = await decide([merge], 'Merge, but keep the branch', {
      tool: single('Merge, but keep the branch', 'merge'),
      arguments: { merge: values },
      unasked: { arguments: keeping(0.04) },
    });
    expect(steps[0]?.arguments).toEqual(expected);
  });

  it.each([
    ['is left out', 'brings about', { asked: [0.9, 0.05], implied: [0.95, 0.01] }, { query: 'printer' }],
    [
      'is the next likely one',
      'brings about',
      { asked: [0.6, 0.38], implied: [0.95, 0.01] },
      { query: 'printer', status: 'open' },
    ],
    [
      'is given',
      'hardly names',
      { asked: [0.9, 0.05], implied: [0.5, 0.01] },
      { query: 'printer', status: 'resolved' },
    ],
  ])('of a lookup %s where it has a value that the tool that waits for it %s', async (_, __, readings, expected) => {
    const search = makeTool('search_incidents', {
      inputSchema: {
        type: 'object',
        properties: { query: text, status: { enum: ['open', 'resolved'] } },
        required: ['query'],
      },
      outputSchema: returning('incident_id'),
    });
    const effect = 'Resolves an incident';
    const resolve = makeTool('resolve_incident', { description: effect, inputSchema: needing('incident_id') });
    const message = 'Resolve the open incident of the printer';
    const values = ([resolved = 0, open = 0]: readonly number[]): Answer => ({
      '"query": "printer", "status": "resolved"}': resolved,
      '"query": "printer", "status": "open"}': open,
      '"query": "printer", "status": null}': 1 - resolved - open,
    });
    const { steps } = await decide([search, resolve], message, {
      tool: single(message, 'resolve_incident'),
      arguments: { search_incidents: (said) => values(said === effect ? readings.implied : readings.asked) },
      unasked: { arguments: values([0.01, 0.01]) },
    });
    expect(steps.map((step) => step.arguments)).toEqual([expected, { incident_id: '${s1.incident_id}' }]);
  });

  it('that the model would write first gets its words first, not the first one of the schema', async () => {
    const properties = { item: text, max_price: { type: 'number' }, quantity: { type: 'integer' } };
    const order = toolOf('order', properties, ['item']);
    const message = 'Order batteries, two of them';
    const { steps } = await decide([order], message, {
      tool: single(message, 'order'),
      arguments: { order: { '"item": "batteries", "quantity": 2}': 0.7, '"item": "batteries", "max_price": 2}': 0.3 } },
      unasked: { arguments: '"item": "batteries", "quantity": null}' },
    });
    expect(steps[0]?.arguments).toEqual({ item: 'batteries', quantity: 2 });
  });

  it('takes a length of time in the form that its schema shows, and no other argument takes that, too', async () => {
    const properties = {
      service: text,
      window: { ...text, description: 'How far back, e.g. 30m, 2h' },
      step_seconds: { type: 'integer' },
    };
    const logs = toolOf('read_logs', properties, ['service']);
    const message = 'Logs of mail of the last two hours';
    const { steps } = await decide([logs], message, {
      tool: single(message, 'read_logs'),
      arguments: {
        read_logs: {
          '"service": "mail", "window": "2h"}': 0.6,
          '"service": "mail", "window": "2h", "step_seconds": 7200}': 0.4,
        },
      },
      unasked: { arguments: '"service": "mail", "window": null}' },
    });
    expect(steps[0]?.arguments).toEqual({ service: 'mail', window: '2h' });
  });

  it('that takes a length of time takes it before another number does', async () => {
    const window = { ...text, description: 'How far back, e.g. 30m, 2h' };
    const logs = toolOf('read_logs', { lines: { type: 'integer' }, window }, []);
    const message = 'Logs of the last 15 minutes';
    const { steps } = await decide([logs], message, {
      tool: single(message, 'read_logs'),
      arguments: { read_logs: { '"lines": 15, "window": "15m"}': 0.6, '"window": "15m", "lines": null}': 0.4 } },
      unasked: { arguments: '"window": null, "lines": null}' },
    });
    expect(steps[0]?.arguments).toEqual({ window: '15m' });
  });

  it('may be another number that is said like a length, beside one', async () => {
    const integer = { type: 'integer' };
    const trainer = toolOf('find_trainer', { age: integer, minutes: integer }, []);
    const message = 'A trainer for a 12 year old for 30 minutes';
    const { steps } = await decide([trainer], message, {
      tool: single(message, 'find_trainer'),
      arguments: { find_trainer: { '"age": 12, "minutes": 30}': 0.6, '"minutes": 30, "age": 12}': 0.4 } },
      unasked: { arguments: '"minutes": null, "age": null}' },
    });
    expect(steps[0]?.arguments).toEqual({ age: 12, minutes: 30 });
  });

  it('keeps a day that the request says, though any request would get one', async () => {
    const list = toolOf('list_orders', { customer: text, from: DAY }, ['customer']);
    const message = 'Orders of Hill since 2026-10-01';
    const written: Answer = {
      '"customer": "Hill", "from": "2026-10-01"}': 0.8,
      '"customer": "Hill", "from": null}': 0.2,
    };
    const { steps } = await decide([list], message, {
      tool: single(message, 'list_orders'),
      arguments: { list_orders: written },
      unasked: { arguments: written },
    });
    expect(steps[0]?.arguments).toEqual({ customer: 'Hill', from: '2026-10-01' });
  });

  it('takes an address that stands in another one', async () => {
    const properties = { title: text, attendees: { type: 'array', items: { type: 'string', format: 'email' } } };
    const book = toolOf('book', properties, ['title']);
    const message = 'Lunch with bo@acme.io';
    const { steps } = await decide([book], message, {
      tool: single(message, 'book'),
      arguments: { book: '"title": "Lunch with bo@acme.io", "attendees": ["bo@acme.io"]}' },
      unasked: { arguments: '"title": "Lunch with bo@acme.io", "attendees": null}' },
    });
    expect(steps[0]?.arguments).toEqual({ title: 'Lunch with bo@acme.io', attendees: ['bo@acme.io'] });
  });

  it('that is optional is left out where no source has it', async () => {
    const { result, steps } = await fill(weather, 'Weather in Oslo', '"place": "Oslo", "day": "2026-11-24"}');
    expect(result).toMatchObject({ steps: [{ arguments: { place: 'Oslo' } }] });
    expect(steps[0]?.arguments).not.toHaveProperty('day');
  });

  it.each([
    ['is left out', 'null', { place: 'Oslo' }],
    ['is given', '"metric"', { place: 'Oslo', units: 'metric' }],
  ])('that is optional %s as the model says', async (_, units, expected) => {
    const { steps } = await fill(weather, 'Weather in Oslo', `"place": "Oslo", "units": ${units}}`);
    expect(steps[0]?.arguments).toEqual(expected);
  });
});

describe('a decided plan', () => {
  const unsure: Answer = { [chooses(OSLO, 'weather')]: 0.6, [chooses(OSLO, 'write_note')]: 0.4 };
  const given = { tool: unsure, arguments: { weather: '"place": "Oslo"}' } };

  it('is as sure as its least sure decision', async () => {
    const { result } = await decide([weather, note], OSLO, given);
    expect(result).toMatchObject({ kind: 'plan', confidence: expect.closeTo(0.54, 1) });
  });

  it('is asked back below clarifyBelow', async () => {
    const { result } = await decide([weather, note], OSLO, { ...given, options: { clarifyBelow: 0.8 } });
    expect(result).toMatchObject({
      kind: 'clarification',
      question: 'Do you mean one of these: weather?',
      missing: [],
      unserved: [],
    });
  });

  it('that does not pass its check is an error with what there is', async () => {
    const odd = toolOf('odd', { value: { type: 'integer', multipleOf: 7 } });
    const failed = decide([odd], 'Take 40', { tool: single('Take 40', 'odd'), arguments: { odd: '"value": 40}' } });
    await expect(failed).rejects.toMatchObject({
      code: 'plan_invalid',
      issues: [expect.stringContaining('s1.arguments.value')],
      details: {
        steps: [{ tool: 'odd', arguments: { value: 40 } }],
        usage: { planning: { calls: expect.any(Number) } },
      },
    });
  });

  it.each(['split-asks', 'choose-tool', 'check-fit', 'fill-arguments'])(
    'ends with the request at the reading %s',
    async (prompt) => {
      const controller = new AbortController();
      const whole = scripted(given);
      const model = {
        ...whole,
        openReader: (request: Parameters<NonNullable<typeof whole.openReader>>[0]) => {
          if (request.about?.promptName === prompt) controller.abort();
          return whole.openReader?.(request) ?? Promise.reject(new Error('no reader'));
        },
      };
      const planner = plannerOf({ tools: [weather, note], model, options: { passthroughTools: 50 } });
      await expect(planner.plan({ message: OSLO }, { signal: controller.signal })).rejects.toMatchObject({
        code: 'cancelled',
      });
      whole.assertDone();
    },
  );

  it('counts what was read where a reading fails', async () => {
    const model = createScriptedModel({
      readers: (_, index) => (index === 0 ? { probabilities: answering('1}') } : new Error('broken')),
    });
    const told: unknown[] = [];
    const planner = plannerOf({ tools: [weather, note], model, options: { passthroughTools: 50 } });
    await planner.plan({ message: OSLO }).catch((error) => told.push(error));
    expect(told).toMatchObject([{ message: 'broken' }]);
    model.assertDone();
  });
});
