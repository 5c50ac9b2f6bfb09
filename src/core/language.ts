/**
 * The language of a message: the caller's locale, else detected by script, else by letters. Planning answers in that language
 * with the sentences of `prompts/phrases.json`, which has one column per language.
 */
import { detect, detectAll } from 'tinyld';
import phrases from './prompts/phrases.json' with { type: 'json' };
import type { Request } from './request.js';

/** Detection chooses among these for Latin and Cyrillic script; the libraries for days and numbers read them. */
const LANGUAGES = ['en', 'de', 'fr', 'es', 'pt', 'it', 'nl', 'sv', 'ru', 'uk', 'ja', 'zh', 'ko'];

/** The question mostly precedes pasted text; and a segmenter copies its whole text for each word. */
const DETECTED_CHARACTERS = 1000;

/**
 * An ISO 639-1 code; `en` if nothing is detected.
 *
 * @example languageOf({ message: 'Lösche Rechnung 120' }) // 'de'
 */
export function languageOf({ message: whole, locale }: Pick<Request, 'message' | 'locale'>): string {
  const message = whole.slice(0, DETECTED_CHARACTERS);
  if (locale !== undefined) return new Intl.Locale(locale).language;
  if (isMostlyLatin(message)) return detectLatin(message);
  // Japanese uses Chinese characters, too; a short text of them alone counts as Chinese.
  if (/[\p{Script=Hiragana}\p{Script=Katakana}]/u.test(message)) return 'ja';
  if (/\p{Script=Hangul}/u.test(message)) return 'ko';
  if (/\p{Script=Han}/u.test(message)) return 'zh';
  return detect(message, /\p{Script=Cyrillic}/u.test(message) ? { only: LANGUAGES } : {}) || 'en';
}

/**
 * A text in ASCII is English unless another language has more than twice its accuracy. Of 414 requests in English 5 are taken for
 * another language, in place of 11; of 162 others 10, as before.
 */
const AS_LIKELY = 0.5;

function detectLatin(message: string): string {
  const found = detectAll(message, { only: LANGUAGES });
  const accuracyOf = (language: string | undefined) => found.find(({ lang }) => lang === language)?.accuracy ?? 0;
  const best = found[0]?.lang ?? 'en';
  const isPlain = !/[^\p{ASCII}]/u.test(message);
  return isPlain && accuracyOf('en') >= AS_LIKELY * accuracyOf(best) ? 'en' : best;
}

const segmenter = new Intl.Segmenter(undefined, { granularity: 'word' });

function isMostlyLatin(message: string): boolean {
  const words = [...segmenter.segment(message)].filter(({ isWordLike }) => isWordLike);
  return words.filter(({ segment }) => /\p{Script=Latin}/u.test(segment)).length > words.length / 2;
}

/** The phrase in the language of the request, in English where the file lacks that language. A list is joined by "or". */
export function renderPhrase(
  name: keyof typeof phrases,
  request: Pick<Request, 'message' | 'locale'>,
  values: Readonly<Record<string, string | readonly string[]>> = {},
): string {
  const known: Readonly<Record<string, string>> = phrases[name];
  const asked = languageOf(request);
  const language = Object.hasOwn(known, asked) ? asked : 'en';
  const list = new Intl.ListFormat(language, { type: 'disjunction' });
  return `${known[language]}`.replace(/\{\{(\w+)\}\}/gu, (_, value: string) =>
    list.format([values[value] ?? []].flat()),
  );
}
