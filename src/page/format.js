/** Formats values: templates of lit-html, and numbers in the reader's own format. */
import * as lit from 'lit-html';

/** @typedef {number | null | undefined} Value */

/** Invisible characters and those that change the text direction, as in `visible-text.ts`. Joiners inside words are exempt, except behind a selector that is spelt itself. */
const UNSEEN =
  /(?<joined>(?<=\p{L}|(?!\p{Variation_Selector})\p{M}|\p{Emoji}\uFE0F?)(?:\u200C|\u200D)(?=\p{L}|\p{Emoji})|(?<=\p{Emoji})\uFE0F)|(?![\n\t]|\r\n)[\p{C}\p{Variation_Selector}]/gu;

/** Shows each such character as its code, `\u{202e}`, so that readers see all of a text. @param {string} text */
export const spellUnseen = (text) =>
  text.replace(UNSEEN, (found, joined) => joined ?? `\\u{${found.codePointAt(0)?.toString(16)}}`);

/** A value as JSON to edit, with such characters escaped as in JSON. @param {unknown} value */
export const formatJson = (value) =>
  JSON.stringify(value, null, 2).replace(
    UNSEEN,
    (found, joined) =>
      joined ??
      found
        .split('')
        .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
        .join(''),
  );

/** `false` shows nothing, also in a list. @param {unknown} value @returns {unknown} */
const shown = (value) => {
  if (Array.isArray(value)) return value.map(shown);
  return value === false ? lit.nothing : typeof value === 'string' ? spellUnseen(value) : value;
};

/** Leaves values of form fields unchanged. @param {TemplateStringsArray} strings @param {unknown[]} values */
const allShown = (strings, values) =>
  values.map((value, at) => (strings[at]?.endsWith('.value=') ? value : shown(value)));

/** Inserts text as text only, with all characters visible: nothing in a case becomes markup. @param {TemplateStringsArray} strings @param {...unknown} values */
export const html = (strings, ...values) => lit.html(strings, ...allShown(strings, values));

/** @param {TemplateStringsArray} strings @param {...unknown} values */
export const svg = (strings, ...values) => lit.svg(strings, ...allShown(strings, values));

const NONE = '–';
/** @param {Intl.NumberFormatOptions} options */
const numbers = (options) => {
  const format = new Intl.NumberFormat(undefined, options);
  return (/** @type {Value} */ value) => (value === null || value === undefined ? NONE : format.format(value));
};
/** @param {string} name */
const unit = (name, digits = 0) =>
  numbers({ style: 'unit', unit: name, unitDisplay: 'narrow', maximumFractionDigits: digits });

export const formatWhole = numbers({ maximumFractionDigits: 0 });
export const formatShort = numbers({ notation: 'compact', maximumSignificantDigits: 3 });
export const formatScore = numbers({ maximumFractionDigits: 3 });
const fraction = numbers({ minimumFractionDigits: 3, maximumFractionDigits: 3 });
const few = numbers({ maximumFractionDigits: 1 });
const [milli, seconds, minutes] = [unit('millisecond'), unit('second', 1), unit('minute')];
const date = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' });

/** @param {Value} value In milliseconds. */
export function formatDuration(value) {
  const size = Math.abs(value ?? 0);
  if (size < 1_000) return milli(value);
  return size < 100_000 ? seconds((value ?? 0) / 1_000) : minutes((value ?? 0) / 60_000);
}

/** @param {string} text An ISO date and time. */
export const formatDate = (text) => date.format(new Date(text));

/** @param {number} count @param {string} one */
export const formatCount = (count, one) => `${formatWhole(count)} ${one}${count === 1 ? '' : 's'}`;

/** `not-ranked` as "not ranked". @param {string} name */
export const formatName = (name) => name.replaceAll(/[-_]/gu, ' ');

/** @param {unknown} value As it stands in a plan. */
export const formatValue = (value) => (typeof value === 'string' ? value : JSON.stringify(value));

/** A metric's value in its unit. @param {Value} value @param {string} unitName */
export function formatMetric(value, unitName) {
  if (unitName === 'milliseconds') return formatDuration(value);
  if (unitName === 'fraction') return fraction(value);
  return Math.abs(value ?? 0) < 100 ? few(value) : formatWhole(value);
}
