/**
 * Cleans external text so that models read only what people see. Models also read invisible characters: tags, zero widths,
 * marks of direction (Unicode Technical Standard 55, on source code spoofing). Winnow removes them when it loads a tool.
 */

/**
 * Invisible characters: controls, format characters, private and unassigned ones, lone surrogates, variation selectors, but
 * no line breaks and tabs. Joiners inside words and emoji stay, since Persian, Hindi and emoji of families need them.
 */
const UNSEEN =
  /(?<joined>(?<=\p{L}|(?!\p{Variation_Selector})\p{M}|\p{Emoji}\uFE0F?)(?:\u200C|\u200D)(?=\p{L}|\p{Emoji})|(?<=\p{Emoji})\uFE0F)|(?![\n\t])[\p{C}\p{Variation_Selector}]/gu;
const LINE_BREAK = /\r\n?|[\u0085\u2028\u2029]/gu;

/** Removes invisible characters; lines end with "\n". */
export function visibleText(text: string): string {
  return text.replace(LINE_BREAK, '\n').replace(UNSEEN, (_, joined: string | undefined) => joined ?? '');
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
  return (JSON.stringify(value) ?? 'null')
    .replace(UNSEEN, (part, joined: string | undefined) => joined ?? spelt(part))
    .replace(LINE_BREAK, spelt);
}

/** Class of a regular expression with the flag `v` or `u`: control characters, line breaks, invisible characters. */
export const HIDDEN = String.raw`\p{C}\p{Zl}\p{Zp}`;

/** Each character as an escape: `\u{202e}`. */
export function spelt(text: string): string {
  return [...text].map((one) => `\\u{${one.codePointAt(0)?.toString(16)}}`).join('');
}
