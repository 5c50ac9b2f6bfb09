/** The words of the page in the reader's language; each language is a data file. */

/** @typedef {keyof typeof import('./words.en.json')} Word */
/** Names of the API (`via`, `risk`, …) have words of the form `via.model`; without one the name itself is shown. */
/** @typedef {((word: Word, values?: Record<string, unknown>) => string) & {of(group: string, name: string | undefined): string, names(group: string): string[]}} Words */

/** Each language in its own words. */
export const LANGUAGES = { en: 'English', zh: '中文' };
const KEPT = 'winnow-language';

/** The language chosen before, else that of the browser. @returns {keyof typeof LANGUAGES} */
export function chosenLanguage() {
  const wanted = [localStorage.getItem(KEPT) ?? '', ...navigator.languages].map((name) => name.slice(0, 2));
  return wanted.find((name) => name in LANGUAGES) === 'zh' ? 'zh' : 'en';
}

/** @param {string} language */
export const keepLanguage = (language) => localStorage.setItem(KEPT, language);

/** @param {string} language @returns {Promise<Words>} */
export async function loadWords(language) {
  const words = /** @type {Record<string, string>} */ (await (await fetch(`console/words.${language}.json`)).json());
  document.documentElement.lang = language === 'zh' ? 'zh-CN' : language;
  return Object.assign(
    (/** @type {Word} */ word, /** @type {Record<string, unknown>} */ values = {}) =>
      (words[word] ?? word).replace(/\{(\w+)\}/gu, (_, name) => String(values[name])),
    {
      /** @param {string} group @param {string | undefined} name */
      of: (group, name) => words[`${group}.${name}`] ?? name?.replaceAll('_', ' ') ?? '',
      /** In the order of the file. @param {string} group */
      names: (group) =>
        Object.keys(words).flatMap((word) => (word.startsWith(`${group}.`) ? word.slice(group.length + 1) : [])),
    },
  );
}
