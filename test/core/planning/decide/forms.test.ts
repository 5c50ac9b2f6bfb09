/** Days and times in the form of a schema, and runs of words. */
import { describe, expect, it } from 'vitest';
import { noUsage, type Token } from '../../../../src/core/model/model.js';
import { writeChoice } from '../../../../src/core/planning/decide/choice.js';
import {
  createJsonWriter,
  writeField,
  writeOn,
  writeOwnWords,
} from '../../../../src/core/planning/decide/json-writer.js';
import { ownWords } from '../../../../src/core/planning/decide/known.js';
import { choiceOf, spansOf } from '../../../../src/core/planning/decide/options.js';
import type { Open } from '../../../../src/core/planning/decide/read.js';
import { readSaid } from '../../../../src/core/planning/decide/said.js';
import { paragraphsOf, setApartIn } from '../../../../src/core/planning/decide/set-apart.js';
import { candidatesFor } from '../../../../src/core/planning/decide/sources.js';
import { lengthFormOf } from '../../../../src/core/planning/durations.js';
import { formOf, momentsIn } from '../../../../src/core/planning/times.js';
import { createScriptedModel } from '../../../support/scripted-model.js';
import { answering } from './setup.js';

describe('the form of a day or a time', () => {
  it.each([
    [{ format: 'date' }, 'YYYY-MM-DD'],
    [{ format: 'date-time' }, 'YYYY-MM-DDTHH:mm:ssZ'],
    [{ format: 'time' }, 'HH:mm:ss'],
    [{ description: 'start of the window, YYYY-MM-DD HH:mm' }, 'YYYY-MM-DD HH:mm'],
    [{ description: 'as DD.MM.YYYY' }, 'DD.MM.YYYY'],
    [{ description: 'for example 2026-05-02' }, 'YYYY-MM-DD'],
    [{ pattern: '^\\d{4}-\\d{2}-\\d{2}$' }, 'YYYY-MM-DD'],
    [{ description: 'the name of a place' }, undefined],
  ])('that %j asks for is %s', (schema, form) => {
    expect(formOf({ type: 'string', ...schema })).toBe(form);
  });

  const times = [{ text: 'tomorrow at 8 pm', start: { date: '2026-11-24', time: '20:00:00' } }];
  it.each([
    ['YYYY-MM-DD', 'UTC', '2026-11-24'],
    ['DD.MM.YYYY', 'UTC', '24.11.2026'],
    ['HH:mm', 'UTC', '20:00'],
    ['YYYY-MM-DDTHH:mm:ssZ', 'UTC', '2026-11-24T20:00:00Z'],
    ['YYYY-MM-DDTHH:mm:ssZ', 'Asia/Shanghai', '2026-11-24T20:00:00+08:00'],
    ['YYYY-MM-DDTHH:mm:ssZ', 'America/St_Johns', '2026-11-24T20:00:00-03:30'],
  ])('%s is kept to, in the zone %s', (form, timeZone, text) => {
    expect(momentsIn(form, { times }, timeZone)).toEqual([text]);
  });
});

it.each([
  ['2026-07-01', '2026-07-01T20:00:00+02:00'],
  ['2026-12-01', '2026-12-01T20:00:00+01:00'],
])('a moment of %s has the offset that its zone has on that day', (date, text) => {
  const times = [{ text: '', start: { date, time: '20:00:00' } }];
  expect(momentsIn('YYYY-MM-DDTHH:mm:ssZ', { times }, 'Europe/Berlin')).toEqual([text]);
});

it('each run of words is a value, cut at every character where a script has no blanks', () => {
  expect(spansOf(['rain in Rome'])).toEqual(['rain', 'rain in', 'rain in Rome', 'in', 'in Rome', 'Rome']);
  expect(spansOf(['查䴙䴘站'])).toContain('䴙䴘站');
  expect(spansOf(['to "ann-b", 5!'])).toContain('ann-b');
  for (const channel of ['#ops', '#值班', '#общий']) expect(spansOf([`in ${channel} posten`])).toContain(channel);
});

it.each([
  ['What does `[3,1].at(-1)` give?', '[3,1].at(-1)'],
  ["It's Ann's 'Ready (again)!' for them", 'Ready (again)!'],
  ['把“(会议室)”翻译成英文', '(会议室)'],
  ['Poste « Réunion annulée ! » ici', 'Réunion annulée !'],
  ['Schreib „Hallo!“ an Ann', 'Hallo!'],
])('what stands in quotation marks is a value with all its marks: %s', (message, value) => {
  expect(spansOf([message])).toContain(value);
});

it.each([
  ["run count where status = 'stuck'", "count where status = 'stuck'"],
  ['Who wrote Foundation (2021)?', 'Foundation (2021)'],
  ["Ann's notes of 'Bob's day' and 'Rest'", "notes of 'Bob's day'"],
  ['把书名改成《雪国》。谢谢', '改成《雪国》'],
  ['select f(g(x))', 'select f(g(x))'],
])('what opens within a run of words closes there: %s', (message, value) => {
  const spans = spansOf([message]);
  expect(spans).toContain(value);
  expect(spans).not.toContain(value.slice(0, -1));
});

it('the parts of a path are values', () => {
  const spans = spansOf(['Merge acme/billing now']);
  for (const part of ['acme', 'billing', 'acme/billing', 'Merge acme/billing']) expect(spans).toContain(part);
  expect(spans).not.toContain('Merge acme');
});

it('words that are gone leave the others as they are, also what stands in quotation marks', () => {
  const spans = spansOf(['swap "a 80;" for "b 90;" in acme/Acme'], ['a 80;', 'acme']);
  expect(spansOf(['on page 12 the 2 of Ann'], ['2'])).toEqual(expect.arrayContaining(['page 12 the', 'of Ann']));
  for (const left of ['swap', 'for', 'b 90;', 'Acme']) expect(spans).toContain(left);
  for (const gone of ['a 80;', '80', 'swap "a', 'acme', 'acme/Acme', 'for "b 90;" in acme'])
    expect(spans).not.toContain(gone);
});

it('JSON is written by choices and by own words, up to the mark that ends them', async () => {
  const model = createScriptedModel({
    readers: () => ({ probabilities: answering('"say": "a \\"b\\" c", "n": 12}') }),
  });
  const prompt = { system: '', user: '' };
  const reader = await model.openReader?.({ prompt, opening: '{', stage: 'planning', signal: undefined });
  if (!reader) throw new Error('no reader');
  const writer = createJsonWriter(async () => reader);
  writer.force('"say": "');
  expect(await writer.writeText(40)).toMatchObject({ text: 'a "b" c' });
  writer.force('", "n": ');
  const ranked = await writer.rank(['1', '12', '3'].map((text) => ({ text, ends: 'plain' })));
  expect(ranked).toMatchObject([{ name: '12', probability: expect.closeTo(1, 3) }]);
  await reader.close();
  model.assertDone();
});

/** A model whose tokens are single bytes and which writes the text. */
function byteReader(text: string) {
  const bytesOf = (part: string) => [...new TextEncoder().encode(part)];
  const textOf = (bytes: readonly number[]) => new TextDecoder().decode(Uint8Array.from(bytes));
  return {
    tokenize: (part: string) => bytesOf(part),
    detokenize: (tokens: readonly Token[]) => textOf(tokens.map(Number)),
    weigh: async () => [],
    likeliest: async (path: readonly Token[]) => {
      const next = bytesOf(text).slice(path.length, path.length + 1);
      return next.map((token) => ({ token, text: textOf([token]), probability: 1 }));
    },
    usage: noUsage,
    close: async () => {},
  };
}

it('own words keep characters of several tokens', async () => {
  const writer = createJsonWriter(async () => byteReader('"say": "ここ3日間の一覧と😀", "n": 1}'));
  writer.force('"say": "');
  expect(await writer.writeText(80)).toMatchObject({ text: 'ここ3日間の一覧と😀', after: '' });
});

it.each([
  ['weather in Oslo, then book a table', 'book a table', ['weather in Oslo'], [', then book a table']],
  ['Close 88 and 91 in acme/shop', 'Close 91', ['Close 88'], ['Close ', ' and 91 in acme/shop']],
  ['淇门水位，新村雨量', '新村雨量', ['淇门水位'], ['，新村雨量']],
  ['Oslo', 'Rome', ['Oslo'], []],
])('of "%s" the ask "%s" has no words that only other asks have', (message, ask, others, parts) => {
  expect(ownWords(message, { ask, others })).toEqual(parts);
});

it.each([
  ['the model begins with a part of a character', '深河', undefined],
  ['the model copies', '淇河', undefined],
  ['the model writes something else', 'a note', { text: 'a note' }],
])('words of the request are chosen, not written, where %s', async (_, own, expected) => {
  const writer = createJsonWriter(async () => byteReader(`"value": "${own}"}`));
  writer.force('"value": ');
  const wanted = { schema: { type: 'string' }, options: [{ text: '"淇河', ends: 'string' }] } as const;
  const found = await writeOwnWords(wanted, {
    writer,
    context: { texts: ['淇河'], elsewhere: [] },
    taken: new Map(),
  });
  expect(found && { text: found.text }).toEqual(expected);
});

it('own words count beside the field of a result, whose token has more than the quotation mark', async () => {
  const written = '"to": "USD"}';
  const tokenize = (text: string) => text.match(/"\$\{|./gsu) ?? [];
  const shareOf = (path: readonly Token[], token: Token) => {
    if (written.startsWith(path.join('') + token)) return 0.99;
    return token === 'n' ? 0.009 : 0.0001;
  };
  const open: Open = async () => ({
    ...byteReader(written),
    tokenize,
    detokenize: (tokens) => tokens.join(''),
    weigh: async (path, tokens) => tokens.map((token) => Math.log(shareOf(path, token))),
    likeliest: async (path) =>
      [...written.slice(path.join('').length, path.join('').length + 1)].map((text) => ({
        token: text,
        text,
        probability: 0.99,
      })),
  });
  const writer = createJsonWriter(open);
  writer.force('"to": ');
  const schema = { type: 'string', maxLength: 3, pattern: '^[A-Z]{3}$' };
  const context = {
    said: { times: [], numbers: [], durations: [] },
    texts: [],
    elsewhere: [],
    earlier: [],
    apart: [],
    handles: new Map(),
    results: [{ reference: '${s1.currency}', schema }],
    timeZone: 'UTC',
  };
  const found = await writeChoice(
    { name: 'to', schema, required: true },
    {
      writer,
      open,
      description: '',
      examples: [],
      refused: new Map(),
      own: [],
      handedOver: new Map(),
      taken: new Map(),
      root: {},
      context,
    },
  );
  expect(found).toMatchObject({ value: 'USD', from: 'composed' });
});

it.each([
  ['wants more', 'Berkeley, CA', 'Berkeley', 'Berkeley, CA', 'composed'],
  ['ends', 'Berkeley', 'Berkeley', undefined, undefined],
  ['goes on with the request', 'Berkeley, California', 'Berkeley', undefined, undefined],
  ['goes on with words that are taken', 'a station in Berkeley', 'a station', 'a station in Berkeley', 'request'],
  ['says taken words alone', 'station', 'a', undefined, undefined],
  ['inflects the word', 'stations', 'station', undefined, undefined],
  ['adds an identifier', 'Berkeley/94720', 'Berkeley', undefined, undefined],
])('behind words of the request stands more where the model %s', async (_, own, said, text, from) => {
  const writer = createJsonWriter(async () => byteReader(`"city": "${own}"}`));
  writer.force('"city": ');
  const context = { texts: ['a station in Berkeley, California'], elsewhere: [] };
  const options = ['Berkeley', 'Berkeley, California', 'a', 'station'].map(choiceOf);
  const found = await writeOn(
    said,
    { schema: { type: 'string' }, options },
    { writer, context, taken: new Map([['in', undefined]]) },
  );
  expect(found && { text: found.text, from: found.from }).toEqual(text && { text, from });
});

it('a pattern of a stranger hangs nothing, and takes no value that it has not matched', () => {
  const spans = ['ab', `${'a'.repeat(60)}!`];
  const context = {
    said: { times: [], numbers: [], durations: [] },
    spans,
    earlier: [],
    apart: [],
    handles: new Map(),
  };
  const place = { name: 'code', schema: { type: 'string', pattern: '^(a|a?)+$|^ab$' }, required: true };
  const found = candidatesFor(place, { ...context, timeZone: 'UTC' });
  expect(found.map(({ value }) => value)).toEqual(['ab']);
});

const NO_WORDS = { spans: [], earlier: [], apart: [], handles: new Map() };

it.each([
  [true, ['2026-11-23']],
  [false, []],
])('the present is a value only where one is required: %s', (required, values) => {
  const times = [{ text: 'now', start: { date: '2026-11-23', time: '10:00:00' }, isNow: true as const }];
  const context = { said: { times, numbers: [], durations: [] }, ...NO_WORDS };
  const place = { name: 'since', schema: { type: 'string', format: 'date' }, required };
  const found = candidatesFor(place, { ...context, timeZone: 'UTC' });
  expect(found.map(({ value }) => value)).toEqual(values);
});

it.each([
  ['is a day where the schema names one', { format: 'date' }, ['1000-01-01']],
  ['is no day of a text', {}, []],
])('a bare number that may be a year %s', (_, form, values) => {
  const times = [{ text: '1000', start: { date: '1000-01-01' } }];
  const context = { said: { times, numbers: [], durations: [] }, ...NO_WORDS };
  const place = { name: 'data', schema: { type: 'string', ...form }, required: true };
  const found = candidatesFor(place, { ...context, timeZone: 'UTC' });
  expect(found.map(({ value }) => value)).toEqual(values);
});

it.each([
  ['names a field', 'data.id}"}', '${s1.data.id}'],
  ['names the first item of a list', '0}"}', '${s1.room}'],
  ['goes on as it likes', ' and so on"}', '${s1.room}'],
])('the field of a result without a schema is that of the argument unless the model %s', async (_, goesOn, value) => {
  const writer = createJsonWriter(async () => byteReader(`"room": "\${s1.${goesOn}`));
  writer.force('"room": ');
  expect(await writeField('room', { value: '${s1.', probability: 1 }, writer)).toMatchObject({ value, from: 'step' });
});

describe('a text that is set apart', () => {
  const valuesIn = (message: string) => setApartIn(message).map(({ value }) => value);
  it.each([
    ['Remind me at 8:30', []],
    ['See https://example.org/a for it', []],
    [':-) hi', []],
    ['Note: at 8:30, call mum', ['at 8:30, call mum']],
    ['Say "hi" to Bo: see you', ['see you', 'hi']],
    ['Say: the word "hi" is short', ['the word "hi" is short']],
    ['Comment on 96:\n« see above. »', ['see above.']],
    ['Sum up:\none\ntwo', ['one\ntwo']],
    ['Dear all,\n\nso long\n\nsum this up', ['so long\n\nsum this up', 'Dear all,\n\nso long']],
    ['Run\n```sh\nls -l\n```', ['ls -l']],
    ['Run\n```sh\nls -l', ['```sh\nls -l', 'Run\n```sh']],
  ])('in %j is %j', (message, values) => {
    expect(valuesIn(message)).toEqual(values);
  });

  it('ends a paragraph, as a blank line does', () => {
    expect(paragraphsOf('Put this\nin A:\nB\nC\n\n\nD： \nE')).toEqual(['Put this in A:', 'B C', 'D：', 'E']);
  });

  it('is read in linear time', () => {
    for (const part of ['a: ', '\n', '```\n', '"', 'x '])
      expect(setApartIn(part.repeat(20_000)).length).toBeLessThan(9);
    const quotes = Array.from({ length: 10_000 }, (_, place) => `"q${place}"`).join(' ');
    expect(setApartIn(quotes)).toHaveLength(8);
  });
});

describe('a number that the request gives in other words', () => {
  const INTEGER = { type: 'integer' };
  it.each<[string, string, Record<string, unknown>, string, unknown[]]>([
    ['a percentage as a fraction', 'tax_rate', { type: 'number' }, 'A purchase with a tax of 8%', [0.08, 8]],
    ['a percentage where only whole numbers fit', 'discount', INTEGER, 'Give them 15% off', [15]],
    ['years', 'loan_term', { ...INTEGER, description: 'The term in years' }, 'A loan over 30 years', [30]],
    ['years in months', 'months', INTEGER, 'A loan over 2 years', [24]],
    ['a length in an unnamed unit', 'time', INTEGER, 'Water the garden for 2 minutes', [120_000, 120, 2]],
    ['a part of a unit', 'orbit', { type: 'number', description: 'in days' }, 'It circles within 36 hours', [1.5]],
    ['a time from now', 'delay_ms', INTEGER, 'Call me again in 20 minutes, please', [1_200_000]],
    ['a year', 'surveyYear', INTEGER, 'The survey of March 5, 2024', [2024]],
    ['a day of the month', 'day', INTEGER, 'How many hosts on February 15th 2022?', [15]],
    [
      'a count beside a length',
      'tempo',
      { ...INTEGER, description: 'beats a minute' },
      '120 beats for 2 minutes',
      [2, 120],
    ],
    ['years, not a year', 'years', INTEGER, 'The survey of March 5, 2024', []],
    [
      'an article and a tag, no unit',
      'size',
      { ...INTEGER, description: 'An optional tag of the image' },
      'It runs over 3 years',
      [36, 3],
    ],
    // These have the characters of a minute and of a week in them.
    ['a score', 'score', { ...INTEGER, description: '用户对产品的评分' }, '评分是78，等待60秒', [60_000, 60, 1, 78]],
    ['years in Chinese', 'term', { ...INTEGER, description: '以年为单位' }, '这笔贷款计划25年还清', [25]],
  ])('%s', async (_, name, schema, message, values) => {
    const said = await readSaid({ message, today: '2026-11-23' });
    const context = { said, spans: [], earlier: [], apart: [], handles: new Map(), timeZone: 'UTC' };
    const found = candidatesFor({ name, schema, required: true }, context);
    expect(found.map(({ value }) => value)).toEqual(values);
  });
});

describe('the form of a length of time', () => {
  const two = { seconds: 7200, months: 0 };
  it.each([
    ['How far back, e.g. 30m, 2h or 7d', two, '2h'],
    ['How far back, e.g. 30m, 2h or 7d', { seconds: 5400, months: 0 }, '90m'],
    ['for example "15min"', two, '120min'],
    ['Window, such as 500ms', { seconds: 1.5, months: 0 }, '1500ms'],
    ['a number of hours (1h)', { seconds: 5400, months: 0 }, undefined],
    ['such as 7d', { seconds: 0, months: 2 }, undefined],
    ['ISO 8601 duration, e.g. PT15M', { seconds: 5400, months: 0 }, 'PT1H30M'],
    ['ISO 8601 duration, e.g. P1Y', { seconds: 0, months: 18 }, 'P18M'],
    ['ISO 8601 duration, e.g. PT15M', { seconds: 0, months: 0 }, 'PT0S'],
    ['ISO 8601 duration, e.g. P1DT12H', { seconds: 93_645, months: 0 }, 'P1DT2H45S'],
  ])('"%s" writes %j as %s', (description, length, expected) => {
    expect(lengthFormOf({ description })?.(length)).toBe(expected);
  });

  it.each(['A query, e.g. rate(errors[5m])', 'Name of the room', 'Model, e.g. A7m', 'Version P2'])(
    '%s has none',
    (description) => {
      expect(lengthFormOf({ description })).toBeUndefined();
    },
  );

  it('is that of examples, too', () => {
    expect(lengthFormOf({ examples: ['1h', '2d'] })?.({ seconds: 172_800, months: 0 })).toBe('2d');
  });
});
