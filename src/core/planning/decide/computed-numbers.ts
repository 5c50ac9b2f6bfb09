/** Numbers that a request gives in other words: the length of a time in the unit of an argument, a part of a day, a percentage. */
import type { JsonSchema } from '../../catalog/tool.js';
import { lengthIn, namesOf, rounded, UNITS, type Unit } from '../durations.js';
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

/** Whether the argument takes a length of time. */
export function takesLength(name: string, schema: JsonSchema): boolean {
  return takenUnits(name, schema).length > 0;
}

function takenUnits(name: string, { description }: JsonSchema): Unit[] {
  return [...new Set([...unitsIn(name), ...unitsIn(String(description ?? ''))])];
}

/** The units of time that a text names as words of their own: `minutes` of `maxMinutes`, 年 of 以年为单位. */
export function unitsIn(text: string): Unit[] {
  const words = wordsIn(text);
  const isNamed = (names: readonly string[]) => words.some((word) => names.includes(word));
  const languages = NAMES.filter(({ language }) => language !== 'ja' || KANA.test(text));
  return UNITS.filter((unit) => languages.some(({ names }) => isNamed(names[unit])));
}

/** Common languages of descriptions, with the names of their units. */
const NAMES = ['en', 'zh', 'de', 'fr', 'es', 'ja'].map((language) => ({
  language,
  names: Object.fromEntries(
    UNITS.map((unit) => [unit, unit === 'millisecond' ? [...namesOf(unit, language), 'ms'] : namesOf(unit, language)]),
  ) as Record<Unit, string[]>,
}));
/** The Japanese name of a minute is a mark of an exam in Chinese. */
const KANA = /[\p{Script=Hiragana}\p{Script=Katakana}]/u;

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
  const unit = (['year', 'month', 'day', 'hour'] as const).find((one) =>
    NAMES.some(({ names }) => names[one][0] === last),
  );
  return ({ date, time }) => {
    const [year, month, day] = date?.split('-') ?? [];
    return unit && { year, month, day, hour: time?.slice(0, 2) }[unit];
  };
}
