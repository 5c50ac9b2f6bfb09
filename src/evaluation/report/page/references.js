/** How steps use the results of earlier ones: `"$0.field"` in expected steps, `"${s1.field}"` in written ones. */

const EXPECTED = /\$(\d+)((?:\.\w+|\[\d+\])+)/gu;
const WRITTEN = /\$\{(s\d+)((?:\.[^.[\]{}\s]+|\[\d+\])*)\}/gu;

/** An expected value as Winnow writes it: both sides then read alike. @param {unknown} value @returns {unknown} */
export function toWritten(value) {
  return mapTexts(value, (text) => text.replace(EXPECTED, (_, step, path) => `\${s${Number(step) + 1}${path}}`));
}

/**
 * The value with each step named by what it stands for, so that plans in another order can be compared.
 * @param {unknown} value In the written form.
 * @param {(step: string) => string} nameOf
 */
export function renameSteps(value, nameOf) {
  return mapTexts(value, (text) => text.replace(WRITTEN, (_, step, path) => `\${${nameOf(step)}${path}}`));
}

/** The steps that a value refers to, with the fields it takes. @param {unknown} value @returns {{step: string, field: string}[]} */
export function referencesIn(value) {
  const found = /** @type {{step: string, field: string}[]} */ ([]);
  mapTexts(value, (text) => {
    for (const [, step = '', path = ''] of text.matchAll(WRITTEN))
      found.push({ step, field: path.replace(/^\./u, '') });
    return text;
  });
  return found;
}

/** @param {unknown} value @param {(text: string) => string} change @returns {unknown} */
function mapTexts(value, change) {
  if (typeof value === 'string') return change(value);
  if (Array.isArray(value)) return value.map((item) => mapTexts(item, change));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, mapTexts(item, change)]));
}
