/** The languages whose patterns take seconds to compile. */
import { describe, expect, it } from 'vitest';
import { readSaid } from '../../../../src/core/planning/decide/said.js';

/** A Monday. */
const today = '2026-11-23';
const read = (message: string) => readSaid({ message, today, timeZone: 'UTC' });

describe('a day that is said', () => {
  it.each([
    ['es', '¿Qué tiempo hará mañana en Madrid?'],
    ['pt', 'Como vai estar o tempo amanhã em Lisboa?'],
    ['ru', 'Какая погода будет завтра в Москве?'],
  ])('is worked out: %s', async (_, message) => {
    const { times } = await read(message);
    expect(times[0]?.start.date).toBe('2026-11-24');
  });
});

it.each([
  ['es', 'Una mesa para cuatro personas, por favor', 4],
  ['ru', 'Покажи мне 15 новых писем', 15],
])('a number that is said, in words or digits, is known: %s', async (_, message, value) => {
  const { numbers } = await read(message);
  expect(numbers.map((one) => one.value)).toContain(value);
});
