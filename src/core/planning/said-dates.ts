/** Days that a text names: `December 1, 2024`, `the 20th of July`, `3/4/2026`, `2024-12-01`, `12月1日`. */

export interface SaidDate {
  /** As it stands in the text. */
  readonly text: string;
  /** `12-1`; both orders where the figures may be read either way. */
  readonly days: readonly string[];
  /** Four figures, where the text says it. */
  readonly year: string | undefined;
}

const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];
const MONTH = String.raw`(?<month>jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|(?:octo|novem|decem)ber|oct|nov|dec)\b`;
const DAY = String.raw`\b(?<day>\d{1,2})(?:st|nd|rd|th)?\b(?!:)`;
const YEAR = String.raw`(?:,?\s+(?<year>(?:19|20)\d\d)\b)?`;
const FORMS = [
  new RegExp(String.raw`\b${MONTH}\.?\s+(?:the\s+)?${DAY}${YEAR}`, 'giu'),
  new RegExp(String.raw`${DAY}\s+(?:of\s+)?${MONTH}${YEAR}`, 'giu'),
  /(?<!\d)(?<year>(?:19|20)\d\d)\s?(?:[-/.]|年)\s?(?<month>\d{1,2})\s?(?:[-/.]|月)\s?(?<day>\d{1,2})(?!\d)日?/gu,
  /(?<!\d)(?<year>(?:19|20)\d\d)(?<month>0[1-9]|1[0-2])(?<day>0[1-9]|[12]\d|3[01])(?!\d)/gu,
  /(?<![\d年])(?<month>\d{1,2})月(?<day>\d{1,2})[日号]?/gu,
  /(?<![\d.])(?<either>\d{1,2})(?<mark>[-/.])(?<other>\d{1,2})\k<mark>(?<year>(?:19|20)\d\d)(?!\d|\.\d)/gu,
];

/** "It may 3 times fail", "march 10 km". */
const VERB = /\b(?:may|march)\b/u;

/** Those of one form after the other. */
export function datesIn(text: string): SaidDate[] {
  return FORMS.flatMap((form) =>
    [...text.matchAll(form)].flatMap(({ 0: found, groups = {} }) => {
      const { month = '', day = '', either, other, year } = groups;
      if (VERB.test(month) && year === undefined) return [];
      const days = either && other ? [dayOf(either, other), dayOf(other, either)] : [dayOf(month, day)];
      return { text: found, days, year };
    }),
  );
}

export function isSameDay(one: SaidDate, other: SaidDate): boolean {
  return one.days.some((day) => other.days.includes(day));
}

/** `12-1` of 2024 -> `2024-12-01` */
export function isoDay(day: string, year: string | number): string {
  return [year, ...day.split('-').map((part) => part.padStart(2, '0'))].join('-');
}

function dayOf(month: string, day: string): string {
  const named = MONTHS.indexOf(month.slice(0, 3).toLowerCase()) + 1;
  return `${named || Number(month)}-${Number(day)}`;
}
