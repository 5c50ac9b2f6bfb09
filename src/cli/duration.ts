/** Times as they are given at the command line. */
import { InvalidArgumentError } from 'commander';

/** Of a unit, in milliseconds. */
export const UNITS_IN_MS: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000 };

/** `90s`, `30m`, `1.5h` -> milliseconds. */
export function duration(text: string): number {
  const [, amount, unit = ''] = /^(\d+(?:\.\d+)?)([smh])$/u.exec(text.trim()) ?? [];
  const milliseconds = Number(amount) * (UNITS_IN_MS[unit] ?? Number.NaN);
  if (!(milliseconds > 0)) throw new InvalidArgumentError('write it as 90s, 30m or 2h.');
  return milliseconds;
}
