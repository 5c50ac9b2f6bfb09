/** The known name nearest to a wrong one: it is suggested to people and never used. */
import { slipsBetween } from './slips.js';

/** A share of the letters. */
const MAX_SLIPS = 0.4;

export function nearestName(wrong: string, known: readonly string[]): string | undefined {
  if (wrong.length === 0 || wrong.length > 100) return undefined;
  let best: { name: string; slips: number } | undefined;
  for (const name of known) {
    if (Math.abs(name.length - wrong.length) > MAX_SLIPS * wrong.length) continue;
    const slips = slipsBetween(wrong.toLowerCase(), name.toLowerCase());
    if (slips <= MAX_SLIPS * wrong.length && (!best || slips < best.slips)) best = { name, slips };
  }
  return best?.name;
}
