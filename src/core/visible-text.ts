/**
 * Cleans external text so that models read only what people see. Models also read invisible characters: tags, zero widths,
 * marks of direction (Unicode Technical Standard 55, on source code spoofing). Winnow removes them when it loads a tool.
 */

/**
 * Class of a regular expression for what nobody sees: controls, format characters, private and unassigned ones, lone
 * surrogates, line breaks, and all that Unicode has programs show nothing for, such as variation selectors and fillers.
 */
export const HIDDEN = String.raw`\p{C}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}`;

/** An emoji that is a plain sign without its selector. Digits are none. */
const SIGN = String.raw`(?![\p{ASCII}\p{Emoji_Presentation}])\p{Emoji}`;
const SELECTOR = String.raw`\uFE0F(?<=${SIGN}.|[\d#*].(?=\u20E3))`;
/** Persian, Hindi and emoji of families need joiners. Between two characters of ASCII they would only hide. */
const JOINER = String.raw`[\u200C\u200D](?<=(?:(?![${HIDDEN}])[\p{L}\p{M}\p{Emoji}]|${SIGN}\uFE0F).)(?<!\p{ASCII}.(?=\p{ASCII}))(?=(?![${HIDDEN}])[\p{L}\p{Emoji}])`;
/** All of `HIDDEN` but line breaks, tabs, and what is needed: joiners inside words and emoji, and selectors that change a sign. */
const UNSEEN = new RegExp(`(?<needed>${JOINER}|${SELECTOR})|(?![\\n\\t]|\\r\\n)[${HIDDEN}]`, 'gu');
const LINE_BREAK = /\r\n?|[\u0085\u2028\u2029]/gu;

/** Removes invisible characters; lines end with "\n". */
export function visibleText(text: string): string {
  return text.replace(LINE_BREAK, '\n').replace(UNSEEN, (_, needed: string | undefined) => needed ?? '');
}

export function hidesText(text: string): boolean {
  const bare = text.replace(LINE_BREAK, '\n');
  return bare !== visibleText(bare);
}

/** The text on one line, with single spaces and without invisible characters. */
export function oneLine(text: string): string {
  return visibleText(text).replace(/\s+/gu, ' ').trim();
}

/** A value as JSON on one line. Invisible characters are escaped, since a model may have to write them. */
export function literal(value: unknown): string {
  return (JSON.stringify(value) ?? 'null').replace(UNSEEN, (part, needed: string | undefined) => needed ?? spelt(part));
}

const EACH_HIDDEN = new RegExp(`[${HIDDEN}]`, 'gu');

/** For who decides: each such character as its code, also joiners and selectors. */
export function spellHidden(text: string): string {
  return text.replace(EACH_HIDDEN, spelt);
}

/** Each character as an escape: `\u{202e}`. */
export function spelt(text: string): string {
  return [...text].map((one) => `\\u{${one.codePointAt(0)?.toString(16)}}`).join('');
}
