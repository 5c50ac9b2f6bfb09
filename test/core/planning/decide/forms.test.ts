/** Days and times in the form of a schema, and runs of words. */
import { describe, expect, it } from '@jest/globals';
import { createJsonWriter, writeOwnWords } from '../../../../src/core/planning/decide/json-writer.js';
import { spansOf } from '../../../../src/core/planning/decide/options.js';
import { candidatesFor } from '../../../../src/core/planning/decide/sources.js';
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

it.each([
  ['深河', ['淇', '淇河', '淇河上'], '"淇河'],
  ['深河', ['卫河'], undefined],
  ['深', ['淇'], undefined],
  ['a note', ['淇河', 'b note'], undefined],
])(
  '%s of the model is the word of %j that it misread, where its vocabulary lacks the characters',
  async (own, said, meant) => {
    const model = createScriptedModel({ readers: () => ({ probabilities: answering(`"value": "${own}"}`) }) });
    const reader = await model.openReader?.({
      prompt: { system: '', user: '' },
      opening: '{',
      stage: 'planning',
      signal: undefined,
    });
    if (!reader) throw new Error('no reader');
    const parts = (text: string) => [...text].flatMap((character) => (character === '淇' ? ['淇', ''] : [character]));
    const writer = createJsonWriter(async () => ({ ...reader, tokenize: parts }));
    writer.force('"value": ');
    const options = said.map((text) => ({ text: JSON.stringify(text).slice(0, -1), ends: 'string' as const }));
    const context = { texts: said };
    const found = await writeOwnWords({ type: 'string' }, options, { writer, context });
    expect(found).toMatchObject(meant === undefined ? { text: own } : { text: meant });
    await reader.close();
  },
);

it('a pattern of a stranger hangs nothing, and takes no value that it has not matched', () => {
  const spans = ['ab', `${'a'.repeat(60)}!`];
  const context = { said: { times: [], numbers: [], durations: [] }, spans, earlier: [], handles: new Map() };
  const place = { name: 'code', schema: { type: 'string', pattern: '^(a|a?)+$|^ab$' }, required: true };
  const found = candidatesFor(place, { ...context, timeZone: 'UTC' });
  expect(found.map(({ value }) => value)).toEqual(['ab']);
});

it.each([
  [true, ['2026-11-23']],
  [false, []],
])('the present is a value only where one is required: %s', (required, values) => {
  const times = [{ text: 'now', start: { date: '2026-11-23', time: '10:00:00' }, isNow: true as const }];
  const context = { said: { times, numbers: [], durations: [] }, spans: [], earlier: [], handles: new Map() };
  const place = { name: 'since', schema: { type: 'string', format: 'date' }, required };
  const found = candidatesFor(place, { ...context, timeZone: 'UTC' });
  expect(found.map(({ value }) => value)).toEqual(values);
});
