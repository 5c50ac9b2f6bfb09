/**
 * The language of a message, as the caller says, else by its script, else as its letters tell; and what planning says in it
 * without a model: sentences of a data file, one column a language.
 */
import { detect } from 'tinyld';
import phrases from './prompts/phrases.json' with { type: 'json' };
import type { Request } from './request.js';

/** Of these, Latin and Cyrillic ones are told apart by their letters; the libraries for days and numbers read them. */
const KNOWN = ['en', 'de', 'fr', 'es', 'pt', 'it', 'nl', 'sv', 'ru', 'uk', 'ja', 'zh', 'ko'];

/** What is asked mostly stands before what is pasted; and a segmenter copies its whole text for each word. */
const TOLD_BY_CHARACTERS = 1000;

/**
 * An ISO 639-1 code; `en` where nothing tells.
 *
 * @example languageOf({ message: 'Lösche Rechnung 120' }) // 'de'
 */
export function languageOf({ message: whole, locale }: Pick<Request, 'message' | 'locale'>): string {
  const message = whole.slice(0, TOLD_BY_CHARACTERS);
  if (locale !== undefined) return new Intl.Locale(locale).language;
  if (isMostlyLatin(message)) return detect(message, { only: KNOWN }) || 'en';
  // Japanese has Chinese characters too; a short text in them alone is taken as Chinese.
  if (/[\p{Script=Hiragana}\p{Script=Katakana}]/u.test(message)) return 'ja';
  if (/\p{Script=Hangul}/u.test(message)) return 'ko';
  if (/\p{Script=Han}/u.test(message)) return 'zh';
  return detect(message, /\p{Script=Cyrillic}/u.test(message) ? { only: KNOWN } : {}) || 'en';
}

const segmenter = new Intl.Segmenter(undefined, { granularity: 'word' });

function isMostlyLatin(message: string): boolean {
  const words = [...segmenter.segment(message)].filter(({ isWordLike }) => isWordLike);
  return words.filter(({ segment }) => /\p{Script=Latin}/u.test(segment)).length > words.length / 2;
}

/** The sentence in the language of the request, in English where the file has none. A list is joined by its "or". */
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
