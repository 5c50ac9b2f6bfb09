/** Guesses the language of a message from its script, for prompts; elsewhere the model sees for itself. */

const UNKNOWN = 'that of the request';

/** The first match counts: Japanese and Korean have Chinese characters too. */
const SCRIPTS: readonly (readonly [RegExp, string])[] = [
  [/[\p{Script=Hiragana}\p{Script=Katakana}]/u, 'ja'],
  [/\p{Script=Hangul}/u, 'ko'],
  [/\p{Script=Han}/u, 'zh'],
  [/\p{Script=Cyrillic}/u, 'written in Cyrillic, as in the request'],
  // Letters that Persian and Urdu have, and Arabic has not.
  [/[پچژگٹڈڑںکیے]/u, UNKNOWN],
  [/\p{Script=Arabic}/u, 'ar'],
];

const segmenter = new Intl.Segmenter(undefined, { granularity: 'word' });

/** A request mostly stands before a pasted text. */
const READ_CHARACTERS = 1000;

/** A message with half of its words in Latin script only names something in another script. */
export function guessLanguage(message: string): string {
  const found = SCRIPTS.find(([script]) => script.test(message));
  return found && !isMostlyLatin(message) ? found[1] : UNKNOWN;
}

/** Whether to ask back in Chinese: by the caller's locale, else by the script of the message. */
export function asksInChinese({ message, locale }: { message: string; locale?: string | undefined }): boolean {
  return (locale ?? guessLanguage(message)).toLowerCase().startsWith('zh');
}

function isMostlyLatin(message: string): boolean {
  const words = [...segmenter.segment(message.slice(0, READ_CHARACTERS))].filter(({ isWordLike }) => isWordLike);
  return words.filter(({ segment }) => /\p{Script=Latin}/u.test(segment)).length >= words.length / 2;
}
