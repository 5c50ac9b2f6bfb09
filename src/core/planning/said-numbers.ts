/** The numbers that a request says in figures, and whether a value is made of them. */

export interface Numerals {
  /**
   * Whether each number of a value was said, as it stands or in another unit, or stands in what belongs to the value. A date
   * may be worked out from words: it always holds.
   */
  hold(value: string, about: unknown): boolean;
}

/** English and Chinese: of other languages the words for numbers are not known here. */
const KNOWN_LANGUAGE =
  /\b(?:the|and|for|from|with|of|to|at|by|over|then|what|my|it|this|that|please)\b|\p{Script=Han}/iu;
const OTHER_SCRIPT = /[^\p{Script=Latin}\p{Script=Han}\p{Script=Common}\p{Script=Inherited}]/u;
const NUMBERS_IN_WORDS =
  /\b(?:two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|(?:thir|four|fif|six|seven|eigh|nine)teen|twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety|hundred|thousand|dozens?|half|quarter|couple|twice|double|fortnight)\b|[〇零一二两三四五六七八九十百千半双]/iu;
const TIMES_IN_WORDS =
  /\b(?:noon|midday|midnight|mornings?|afternoons?|evenings?|tonight|nights?|today|tomorrow|yesterday|weekend|(?:this|next|last|past|coming)\s(?:day|week|month|quarter|year|(?:mon|tues|wednes|thurs|fri|satur|sun)day))\b|[早晨午晚夜今明昨去]/iu;

const DATE =
  /(?<![\d.-])(?:\d{4}[-/.年]\d{1,2}[-/.月]\d{1,2}日?|\d{1,2}[-/.]\d{1,2}[-/.]\d{4}|(?:\d{4}年)?\d{1,2}月(?:\d{1,2}日)?)(?![\d-])/gu;
/** Of a value: a day, a month of a year, with or without a time. */
const DATE_ALONE =
  /^(?:\d{4}[-/.年]\d{1,2}|\d{1,2}[-/.]\d{1,2}(?:[-/.]\d{2,4})?$|\d{1,2}月|(?:19|20)\d{6}$|(?:19|20)\d\d$)/u;

/** Undefined where the request may say numbers and times that only a reader of its language sees. */
export function numeralsOf(said: string): Numerals | undefined {
  const text = said.normalize('NFKC');
  if (!KNOWN_LANGUAGE.test(text) || OTHER_SCRIPT.test(text)) return undefined;
  if (NUMBERS_IN_WORDS.test(text) || TIMES_IN_WORDS.test(text)) return undefined;
  const withoutDates = text.replace(DATE, ' | ');
  const scalable = readingsIn(withoutDates).flat(2);
  const exact = readingsIn((text.match(DATE) ?? []).join(' ')).flat(2);
  const digits = digitsOf(withoutDates);
  return {
    hold(value, about) {
      const plain = value.normalize('NFKC').trim();
      if (DATE_ALONE.test(plain)) return true;
      // Telephone numbers, amounts: the same digits with other marks between them.
      if (digitsOf(plain).length >= MIN_DIGITS && digits.includes(digitsOf(plain))) return true;
      const known = [...scalable, ...readingsIn(JSON.stringify(about) ?? '').flat(2)];
      const isSaid = (number: number) =>
        number === 0 || exact.includes(number) || known.some((one) => isInOtherUnits(number, one));
      return readingsIn(plain).every((readings) => readings.some((numbers) => numbers.every(isSaid)));
    },
  };
}

const MIN_DIGITS = 4;

function digitsOf(text: string): string {
  return text.replace(/(?<=\d)[\s().,+-]+(?=\d)/gu, '');
}

/** `1,500` and `9.30` are one number or two: each reading is a list of numbers. */
export function readingsIn(text: string): number[][][] {
  const found = text.match(/\d+(?:,\d{3})*(?:\.\d+)?/gu) ?? [];
  return found.map((one) => [[Number(one.replaceAll(',', ''))], one.split(/[,.]/u).map(Number)]);
}

/** Of a clock, days of a week, months of a year, hours, minutes, seconds. */
const UNITS = [7, 12, 24, 60, 3600, 86_400];
/** Percent, thousands, grams and kilograms, "2 billion". */
const POWERS_OF_TEN = Array.from({ length: 19 }, (_, place) => 10 ** (place - 9));

export function isInOtherUnits(number: number, said: number): boolean {
  if (said + 12 === number) return number <= 24;
  return [...UNITS, ...POWERS_OF_TEN].some(
    (factor) => isClose(number, said * factor) || isClose(number * factor, said),
  );
}

function isClose(one: number, other: number): boolean {
  return Math.abs(one - other) <= 1e-9 * Math.max(one, other);
}
