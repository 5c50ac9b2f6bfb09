/**
 * Text of strangers as people see it. A model reads what no person does: tag characters, zero widths, marks that turn the
 * direction (Unicode Technical Standard 55, on source code spoofing). They are taken out where a tool comes in.
 */

/**
 * What has no shape of its own: controls, format characters, private and unassigned ones, lone surrogates, variation
 * selectors; line breaks and tabs are none of these. Joiners stay inside words and emoji, where Persian, Hindi and families need them.
 */
const UNSEEN =
  /(?<joined>(?<=\p{L}|(?!\p{Variation_Selector})\p{M}|\p{Emoji}\uFE0F?)(?:\u200C|\u200D)(?=\p{L}|\p{Emoji})|(?<=\p{Emoji})\uFE0F)|(?![\n\t])[\p{C}\p{Variation_Selector}]/gu;
const LINE_BREAK = /\r\n?|[\u0085\u2028\u2029]/gu;

/** Without what is not seen; its lines end with "\n". */
export function visibleText(text: string): string {
  return text.replace(LINE_BREAK, '\n').replace(UNSEEN, (_, joined: string | undefined) => joined ?? '');
}

export function hidesText(text: string): boolean {
  const bare = text.replace(LINE_BREAK, '\n');
  return bare !== visibleText(bare);
}

/** On one line, with one blank where there was white space, and without what is not seen. */
export function oneLine(text: string): string {
  return visibleText(text).replace(/\s+/gu, ' ').trim();
}

/** A value as JSON on one line, with what is not seen written out: a model may have to write it. */
export function literal(value: unknown): string {
  return (JSON.stringify(value) ?? 'null')
    .replace(UNSEEN, (part, joined: string | undefined) => joined ?? spelt(part))
    .replace(LINE_BREAK, spelt);
}

/** Of a regular expression with the flag `v` or `u`: what a terminal obeys, what breaks a line, what nobody sees. */
export const HIDDEN = String.raw`\p{C}\p{Zl}\p{Zp}`;

/** Each character as its code: `\u{202e}`. */
export function spelt(text: string): string {
  return [...text].map((one) => `\\u{${one.codePointAt(0)?.toString(16)}}`).join('');
}
