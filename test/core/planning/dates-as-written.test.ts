import { describe, expect, it } from '@jest/globals';
import type { JsonSchema } from '../../../src/core/catalog/tool.js';
import { withDatesAsWritten } from '../../../src/core/planning/dates-as-written.js';
import { createTool } from '../../support/create-tool.js';

function written(day: unknown, message: string, schema: JsonSchema = {}, description = 'Buys a ticket.'): unknown {
  const tool = createTool('buy', { properties: { day: schema } }, undefined, { description });
  return withDatesAsWritten({ day }, tool, message).day;
}

describe('a date that can be read in two ways', () => {
  it.each([
    ['month first', '2026-03-04', 'on 3/4/2026', '3/4/2026'],
    ['day first', '2026-04-03', 'on 3/4/2026', '3/4/2026'],
    ['with zeros and dots', '2026-11-02', 'on 02.11.2026, please', '02.11.2026'],
    ['with dashes', '2026-11-02', '(11-02-2026)', '11-02-2026'],
  ])('stands as the user wrote it, %s', (_, day, message, expected) => {
    expect(written(day, message)).toBe(expected);
  });

  it.each([
    ['there is only one way to read it', '2026-12-25', 'on 25/12/2026'],
    ['both readings are one', '2026-11-11', 'on 11/11/2026'],
    ['it is another day', '2026-03-05', 'on 3/4/2026'],
    ['another date shows what stands first', '2026-03-04', 'from 3/4/2026 to 25/4/2026'],
    ['two dates may be meant', '2026-03-04', 'from 3/4/2026 to 4/3/2026'],
    ['the message has that very day', '2026-03-04', 'order 3/4/2026, for 2026-03-04'],
    ['it is part of a number', '2026-03-04', 'order 13/4/20261'],
    ['it is no text', 20_260_304, 'on 3/4/2026'],
    ['the message has the year first', '2026-03-04', 'on 2026/3/4'],
  ])('is none where %s', (_, day, message) => {
    expect(written(day, message)).toBe(day);
  });

  it.each<[string, JsonSchema]>([
    ['by its format', { type: 'string', format: 'date' }],
    ['by a pattern', { type: 'string', pattern: '^\\d' }],
    ['by letters', { description: 'Day of travel, YYYY-MM-DD' }],
    ['by other letters', { description: 'Day of travel (dd/mm/yyyy)' }],
    ['by a standard', { description: 'Day of travel in ISO 8601' }],
    ['by an example', { description: 'Day of travel, e.g. 2019-03-01' }],
    ['by its default', { default: '2019-03-01' }],
    ['by a length', { type: 'string', minLength: 10 }],
  ])('takes the form that the tool wants %s', (_, schema) => {
    expect(written('2026-03-04', 'on 3/4/2026', schema)).toBe('2026-03-04');
  });

  it('takes the form that the tool wants in another place of its schema', () => {
    const tool = createTool('buy', {
      properties: { day: { $ref: '#/$defs/Day' } },
      $defs: { Day: { type: 'string', format: 'date' } },
    });
    expect(withDatesAsWritten({ day: '2026-03-04' }, tool, 'on 3/4/2026')).toEqual({ day: '2026-03-04' });
  });

  it.each(['Books an advisory session.', 'A podcast episode, 24/7.', 'Adds an MMS.'])(
    'is not taken for told by other words: %s',
    (description) => {
      expect(written('2026-03-04', 'on 3/4/2026', {}, description)).toBe('3/4/2026');
    },
  );

  it('takes the form that the tool wants for all its arguments', () => {
    expect(written('2026-03-04', 'on 3/4/2026', {}, 'Buys a ticket. Dates are YYYY-MM-DD.')).toBe('2026-03-04');
  });
});
