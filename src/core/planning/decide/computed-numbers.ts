/** Values that a request gives in other words: a length of time as the argument takes it, a part of a day, a percentage. */
import type { JsonSchema } from '../../catalog/tool.js';
import { oncePer } from '../../kept.js';
import { languageOf } from '../../language.js';
import { lengthFormOf, lengthIn, namesOf, rounded, UNITS, type Unit } from '../durations.js';
import type { Moment } from '../times.js';
import type { Said } from './said.js';

interface Computed {
  readonly value: number;
  /** The words of the request that give it. */
  readonly said: string;
}

/**
 * Lengths are in the units that the argument's name or description names, else in all in which they are whole.
 *
 * @example computedNumbers('tax_rate', { type: 'number' }, said) // of "5 %": 0.05
 */
export function computedNumbers(name: string, schema: JsonSchema, said: Said): Computed[] {
  const units = takenUnits(name, schema);
  const lengths = said.durations.flatMap(({ text, ...length }) =>
    (units.length > 0 ? units : UNITS).flatMap((unit) => {
      const value = lengthIn(unit, length);
      return value !== undefined && (units.length > 0 || Number.isInteger(value)) ? [of(value, text)] : [];
    }),
  );
  const partOf = partNamed(name);
  const parts = said.times.flatMap(({ start, end, text }) =>
    [start, end].flatMap((moment) => {
      const part = moment && partOf(moment);
      return part === undefined ? [] : [of(Number(part), text)];
    }),
  );
  const fractions = said.numbers.flatMap(({ value, text, isPercent }) => (isPercent ? [of(value / 100, text)] : []));
  return [...lengths, ...parts, ...fractions];
}

function of(value: number, said: string): Computed {
  return { value: rounded(value), said };
}

/** Whether the number is a length of time. */
export function isLength(name: string, schema: JsonSchema): boolean {
  return takenUnits(name, schema).length > 0;
}

/** The lengths of time in the form that the schema of a text shows. @example '2h' of "two hours" for "e.g. 30m, 2h" */
export function lengthTexts(
  schema: JsonSchema,
  { durations }: Pick<Said, 'durations'>,
): { value: string; said: string }[] {
  const write = lengthFormOf(schema);
  return durations.flatMap((length) => {
    const value = write?.(length);
    return value === undefined ? [] : [{ value, said: length.text }];
  });
}

function takenUnits(name: string, schema: JsonSchema): Unit[] {
  return [...new Set([...unitsIn(name), ...unitsDescribed(schema)])];
}

/** Characters of a description that are cut into words. */
const MAX_CHARACTERS = 400;

const unitsDescribed = oncePer(({ description }: JsonSchema): Unit[] => {
  const message = String(description ?? '').slice(0, MAX_CHARACTERS);
  return unitsIn(message, languageOf({ message }));
});

/** The units of time that a text names as words of their own, in English or its own language: 年 of 以年为单位. */
function unitsIn(text: string, language = 'en'): Unit[] {
  const words = new Set(wordsIn(text));
  return UNITS.filter((unit) => [...namesOf(unit, 'en'), ...namesOf(unit, language)].some((name) => words.has(name)));
}

const segmenter = new Intl.Segmenter(undefined, { granularity: 'word' });

function wordsIn(text: string): string[] {
  const parted = text
    .replace(/(?<=\p{Ll})(?=\p{Lu})/gu, ' ')
    .replaceAll('_', ' ')
    .trim();
  return [...segmenter.segment(parted)].map(({ segment }) => segment.toLowerCase());
}

/** The part of a day that the last word of a name is in the singular: `year` of `surveyYear`, but not of `years`. */
function partNamed(name: string): (moment: Moment) => string | undefined {
  const last = wordsIn(name).at(-1) ?? '';
  const unit = (['year', 'month', 'day', 'hour'] as const).find((one) => namesOf(one, 'en')[0] === last);
  return ({ date, time }) => {
    const [year, month, day] = date?.split('-') ?? [];
    return unit && { year, month, day, hour: time?.slice(0, 2) }[unit];
  };
}
