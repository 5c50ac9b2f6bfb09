/** The language of a message as far as its script tells; where it does not, the model sees for itself. */

const UNKNOWN = 'that of the request';

/** The first that is found counts: Japanese and Korean have Chinese characters too. */
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

/** What is asked mostly stands before what is pasted. */
const TOLD_BY_CHARACTERS = 1000;

/** A message of which half is Latin words only names something in another script. */
export function guessLanguage(message: string): string {
  const found = SCRIPTS.find(([script]) => script.test(message));
  return found && !isMostlyLatin(message) ? found[1] : UNKNOWN;
}

/** Whether a question back is asked in Chinese: as the caller says, else as the message is written. */
export function asksInChinese({ message, locale }: { message: string; locale?: string | undefined }): boolean {
  return (locale ?? guessLanguage(message)).toLowerCase().startsWith('zh');
}

function isMostlyLatin(message: string): boolean {
  const words = [...segmenter.segment(message.slice(0, TOLD_BY_CHARACTERS))].filter(({ isWordLike }) => isWordLike);
  return words.filter(({ segment }) => /\p{Script=Latin}/u.test(segment)).length >= words.length / 2;
}
