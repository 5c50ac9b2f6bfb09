/** How values are shown: templates of lit-html, and numbers in the reader's own format. */
import * as lit from 'lit-html';

/** @typedef {number | null | undefined} Value */

/** Alone or in a list, `false` shows nothing. @param {unknown} value @returns {unknown} */
const shown = (value) => (Array.isArray(value) ? value.map(shown) : value === false ? lit.nothing : value);

/** Text goes in as text only: nothing a case holds becomes markup. @param {TemplateStringsArray} strings @param {...unknown} values */
export const html = (strings, ...values) => lit.html(strings, ...values.map(shown));

/** @param {TemplateStringsArray} strings @param {...unknown} values */
export const svg = (strings, ...values) => lit.svg(strings, ...values.map(shown));

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

/** A metric's value in its unit. @param {Value} value @param {string} unitName @param {string | undefined} currency */
export function formatMetric(value, unitName, currency) {
  if (unitName === 'milliseconds') return formatDuration(value);
  if (unitName === 'fraction') return fraction(value);
  if (unitName !== 'currency') return Math.abs(value ?? 0) < 100 ? few(value) : formatWhole(value);
  const digits = { minimumSignificantDigits: 2, maximumSignificantDigits: 3 };
  const money = /** @type {const} */ ({ style: 'currency', currencyDisplay: 'narrowSymbol' });
  return numbers(currency ? { ...money, currency, ...digits } : digits)(value);
}
