/**
 * Text of strangers on a terminal: names, arguments and users come from tool servers and callers. A character that a
 * terminal obeys, or that nobody sees, is spelt as `\u{202e}`.
 */
import { HIDDEN, spelt } from '../core/visible-text.js';

const HIDDEN_IN_LINE = new RegExp(`[${HIDDEN}]`, 'gu');
/** The colours of `colours.ts` stay; all else that begins with ESC is spelt. */
const OWN_COLOUR = String.raw`\u001b\[(?:1|2|22|31|32|33|36|39)m`;
const HIDDEN_IN_TEXT = new RegExp(`${OWN_COLOUR}|(?![\\n\\t])[${HIDDEN}]`, 'gu');

/** One value within a line: line breaks and colours are spelt too. */
export function printableLine(text: string): string {
  return text.replace(HIDDEN_IN_LINE, spelt);
}

/** A whole text with line breaks and colours of Winnow's own. */
export function printable(text: string): string {
  return text.replace(HIDDEN_IN_TEXT, (found) => (found.length > 2 ? found : spelt(found)));
}

/** JSON of the same value, without a character that a terminal obeys. */
export function renderJson(value: unknown): string {
  const text = JSON.stringify(value, null, 2);
  return text.replace(HIDDEN_IN_LINE, (found) => (found === '\n' ? found : found.split('').map(spellUnit).join('')));
}

function spellUnit(unit: string): string {
  return `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
}
