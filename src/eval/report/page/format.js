/** Numbers, times and dates as the reader's language writes them. A missing value is a dash. */

const NONE = '–';
const score = new Intl.NumberFormat(undefined, { minimumFractionDigits: 2, maximumFractionDigits: 2 });
const fine = new Intl.NumberFormat(undefined, { minimumFractionDigits: 3, maximumFractionDigits: 3 });
const whole = new Intl.NumberFormat(undefined, { maximumFractionDigits: 0 });
const short = new Intl.NumberFormat(undefined, { notation: 'compact', maximumFractionDigits: 1 });
const share = new Intl.NumberFormat(undefined, { style: 'percent', maximumFractionDigits: 0 });
const fineShare = new Intl.NumberFormat(undefined, { style: 'percent', maximumFractionDigits: 1 });
const seconds = new Intl.NumberFormat(undefined, {
  style: 'unit',
  unit: 'second',
  unitDisplay: 'narrow',
  maximumFractionDigits: 1,
});
const minutes = new Intl.NumberFormat(undefined, {
  style: 'unit',
  unit: 'minute',
  unitDisplay: 'narrow',
  maximumFractionDigits: 0,
});
const hours = new Intl.NumberFormat(undefined, {
  style: 'unit',
  unit: 'hour',
  unitDisplay: 'narrow',
  maximumFractionDigits: 0,
});
const milli = new Intl.NumberFormat(undefined, {
  style: 'unit',
  unit: 'millisecond',
  unitDisplay: 'narrow',
  maximumFractionDigits: 0,
});
const date = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' });

/** @typedef {number | null | undefined} Value */

/** @param {Value} value @param {Intl.NumberFormat} format */
const by = (value, format) => (value === null || value === undefined ? NONE : format.format(value));

/** @param {Value} value */
export const formatScore = (value) => by(value, score);
/** @param {Value} value */
export const formatFine = (value) => by(value, fine);
/** @param {Value} value */
export const formatWhole = (value) => by(value, whole);
/** 12,345 as "12.3K". @param {Value} value */
export const formatShort = (value) => by(value, short);
/** @param {Value} value */
export const formatShare = (value) => by(value, value && value < 0.1 ? fineShare : share);

/** @param {Value} value In milliseconds. */
export function formatDuration(value) {
  if (value === null || value === undefined) return NONE;
  if (value < 1000) return milli.format(value);
  if (value < 100_000) return seconds.format(value / 1000);
  const total = Math.round(value / 60_000);
  return total < 60 ? minutes.format(total) : `${hours.format(Math.floor(total / 60))} ${minutes.format(total % 60)}`;
}

/** @param {string} text An ISO date and time. */
export const formatDate = (text) => date.format(new Date(text));

/** @param {Value} value @param {string | undefined} currency */
export function formatCost(value, currency) {
  if (value === null || value === undefined) return NONE;
  const digits = { minimumSignificantDigits: 2, maximumSignificantDigits: 3 };
  return new Intl.NumberFormat(
    undefined,
    currency ? { style: 'currency', currencyDisplay: 'narrowSymbol', currency, ...digits } : digits,
  ).format(value);
}

/** @param {number} count @param {string} one @param {string} [many] */
export const formatCount = (count, one, many = `${one}s`) => `${whole.format(count)} ${count === 1 ? one : many}`;

/** `not-ranked` as "not ranked", `plan_invalid` as "plan invalid". @param {string} name */
export const formatName = (name) => name.replaceAll(/[-_]/gu, ' ');

/**
 * A metric's value in its unit.
 * @param {Value} value
 * @param {string} unit
 * @param {string | undefined} currency
 */
export function formatMetric(value, unit, currency) {
  if (unit === 'milliseconds') return formatDuration(value);
  if (unit === 'currency') return formatCost(value, currency);
  if (unit === 'fraction') return formatFine(value);
  return Math.abs(value ?? 0) < 100
    ? by(value, new Intl.NumberFormat(undefined, { maximumFractionDigits: 1 }))
    : formatWhole(value);
}
