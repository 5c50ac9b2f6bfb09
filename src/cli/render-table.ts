/** Rows of texts in columns. A Chinese character takes two places on a terminal. */
import { colours as pc } from './colours.js';
import { printableLine } from './printable.js';

/** Numbers stand to the right: all columns but the first so many. */
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
  return [pc.bold(line(head)), ...cells.map((row) => line(row))].join('\n');
}

const WIDE = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\u3000-\u303F\uFF00-\uFF60]/u;

function widthOf(text: string): number {
  return [...text].reduce((width, character) => width + (WIDE.test(character) ? 2 : 1), 0);
}

function pad(text: string, width: number, isLeft: boolean): string {
  const space = ' '.repeat(Math.max(0, width - widthOf(text)));
  return isLeft ? `${text}${space}` : `${space}${text}`;
}
