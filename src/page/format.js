/** Formats values: templates of lit-html, and numbers in the reader's own format. */
import * as lit from 'lit-html';

/** @typedef {number | null | undefined} Value */

// As in `core/visible-text.ts`, which a page can't import: a test holds the two alike.
const HIDDEN = String.raw`\p{C}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}`;
const SIGN = String.raw`(?![\p{ASCII}\p{Emoji_Presentation}])\p{Emoji}`;
const SELECTOR = String.raw`\uFE0F(?<=${SIGN}.|[\d#*].(?=\u20E3))`;
const JOINER = String.raw`[\u200C\u200D](?<=(?:(?![${HIDDEN}])[\p{L}\p{M}\p{Emoji}]|${SIGN}\uFE0F).)(?<!\p{ASCII}.(?=\p{ASCII}))(?=(?![${HIDDEN}])[\p{L}\p{Emoji}])`;
const UNSEEN = new RegExp(`(?<needed>${JOINER}|${SELECTOR})|(?![\\n\\t]|\\r\\n)[${HIDDEN}]`, 'gu');

/** Shows each such character as its code, `\u{202e}`, so that readers see all of a text. @param {string} text */
export const spellUnseen = (text) =>
  text.replace(UNSEEN, (found, needed) => needed ?? `\\u{${found.codePointAt(0)?.toString(16)}}`);

/** A value as JSON to edit, with such characters escaped as in JSON. @param {unknown} value */
export const formatJson = (value) =>
  JSON.stringify(value, null, 2).replace(
    UNSEEN,
    (found, needed) =>
      needed ??
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
