/**
 * Writes data to stdout, as JSON or for people. Untrusted text (names, arguments, users) is made safe for a terminal: control
 * and invisible characters are escaped as `\u{202e}`.
 */
import pc from 'picocolors';
import { HIDDEN, spellHidden, spelt } from '../core/visible-text.js';

/** Colours only on a terminal, even where a build machine asks for colours. */
export const colours = pc.createColors(pc.isColorSupported && process.stdout.isTTY === true);

export function print({ json }: { json?: boolean }, { value, text }: { value: unknown; text: string }): void {
  process.stdout.write(`${json ? renderJson(value) : printable(text)}\n`);
}

/** `3 tools`, `1 tool`. */
export function counted(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? '' : 's'}`;
}

const HIDDEN_IN_LINE = new RegExp(`[${HIDDEN}]`, 'gu');
/** Winnow's own colours stay; all other sequences after ESC are escaped. */
const OWN_COLOUR = String.raw`\u001b\[(?:1|2|22|31|32|33|36|39)m`;
const HIDDEN_IN_TEXT = new RegExp(`${OWN_COLOUR}|(?![\\n\\t])[${HIDDEN}]`, 'gu');

/** One value within a line: escapes line breaks and colours too. */
export const printableLine = spellHidden;

/** What a server or a library said, on one line: its line breaks become spaces. */
export function printableMessage(text: string): string {
  return printableLine(text.replace(/[\s\u0085]+/gu, ' ').trim());
}

/** A whole text, which keeps line breaks and Winnow's own colours. */
export function printable(text: string): string {
  return text.replace(HIDDEN_IN_TEXT, (found) => (found.length > 2 ? found : spelt(found)));
}

/** A line beside the data: a notice, a path, what somebody else said. */
export function writeLine(line: string, stream: Pick<NodeJS.WritableStream, 'write'> = process.stderr): void {
  stream.write(`${printableLine(line)}\n`);
}

/** JSON without control characters. */
export function renderJson(value: unknown): string {
  const text = JSON.stringify(value, null, 2);
  return text.replace(HIDDEN_IN_LINE, (found) => (found === '\n' ? found : found.split('').map(spellUnit).join('')));
}

function spellUnit(unit: string): string {
  return `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
}

/** @param leftColumns aligned to the left; all others hold numbers */
export function renderTable(
  head: readonly string[],
  rows: readonly (readonly string[])[],
  { leftColumns = 1 }: { leftColumns?: number } = {},
): string {
  const cells = rows.map((row) => row.map(printableLine));
  const widths = head.map((title, column) =>
    Math.max(...[title, ...cells.map((row) => row[column] ?? '')].map(widthOf)),
  );
  const line = (row: readonly string[]) =>
    row
      .map((cell, column) => pad(cell, widths[column] ?? 0, column < leftColumns))
      .join('  ')
      .trimEnd();
  return [colours.bold(line(head)), ...cells.map((row) => line(row))].join('\n');
}

const WIDE = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\u3000-\u303F\uFF00-\uFF60]/u;

function widthOf(text: string): number {
  return [...text].reduce((width, character) => width + (WIDE.test(character) ? 2 : 1), 0);
}

function pad(text: string, width: number, isLeft: boolean): string {
  const space = ' '.repeat(Math.max(0, width - widthOf(text)));
  return isLeft ? `${text}${space}` : `${space}${text}`;
}
