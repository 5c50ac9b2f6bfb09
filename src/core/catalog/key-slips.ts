/**
 * Keys that are a slip of the pen in a known one: what stands under them would be without effect, and nobody would know.
 * All other keys are their author's business.
 */
import { isSwapped, slipsBetween } from '../slips.js';

export interface KeySlip {
  readonly key: string;
  readonly meant: string;
}

/** A shorter word is another word with one letter more or changed (`scopes`, `disk`): a slip there swaps or loses one. */
const LONG = 7;
const TWO_SLIPS_FROM = 10;
/** Of a key that is looked at. */
const LONGEST = 40;

/** None in what is no record. Where the known key is there itself, another one like it is on purpose. */
export function findKeySlips(value: unknown, known: readonly string[]): KeySlip[] {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return [];
  const missing = known.filter((name) => !Object.hasOwn(value, name));
  return Object.keys(value)
    .filter((key) => !known.includes(key) && key.length <= LONGEST)
    .flatMap((key) => {
      const meant = missing.find((name) => isSlip(toWord(key), toWord(name)));
      return meant === undefined ? [] : [{ key, meant }];
    });
}

function isSlip(written: string, wanted: string): boolean {
  if (written === wanted) return true;
  if (written[0] !== wanted[0] || Math.abs(written.length - wanted.length) > 2) return false;
  const slips = slipsBetween(written, wanted);
  if (wanted.length < LONG) return slips === 1 && (written.length < wanted.length || isSwapped(written, wanted));
  const isWithoutEnd = wanted.startsWith(written);
  return slips <= (isWithoutEnd || wanted.length >= TWO_SLIPS_FROM ? 2 : 1);
}

/** As one word, however its parts are joined: `input_schema`. A leading underscore marks a key of one's own, and stays. */
function toWord(key: string): string {
  return key.replace(/(?<=[a-z\d])[-_ ]+(?=[a-z\d])/giu, '').toLowerCase();
}
