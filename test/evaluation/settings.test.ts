import { execFileSync } from 'node:child_process';
import { describe, expect, it } from '@jest/globals';
import { dayOf, differencesOf, refuseOtherSettings } from '../../src/evaluation/settings.js';

const LOADER = new URL('../support/typescript-loader.mjs', import.meta.url).href;
const SETTINGS = new URL('../../src/evaluation/settings.ts', import.meta.url).href;

function dayWhere(zone: string): string {
  const script = `process.stdout.write((await import('${SETTINGS}')).dayOf(undefined, {}))`;
  const args = ['--import', LOADER, '--input-type=module', '--eval', script];
  return execFileSync(process.execPath, args, { env: { ...process.env, TZ: zone }, encoding: 'utf8' });
}

describe('the day of the cases that name none', () => {
  it('is the one that is given, else that of the run which goes on', () => {
    expect(dayOf('2025-01-02', { today: '2024-02-29' })).toBe('2025-01-02');
    expect(dayOf(undefined, { today: '2024-02-29' })).toBe('2024-02-29');
  });

  it('is today where the machine stands, as winnow plan has it', () => {
    // At any moment it is another day in one of the two than in Greenwich.
    for (const timeZone of ['Pacific/Kiritimati', 'Pacific/Pago_Pago']) {
      const day = () => new Intl.DateTimeFormat('sv-SE', { timeZone, dateStyle: 'short' }).format(new Date());
      expect([day(), day()]).toContain(dayWhere(timeZone));
    }
  });
});

describe('settings of a run that goes on', () => {
  const kept = { model: 'm', filter: { limit: 1 } };

  it('are the same, or each that differs is named with its path', () => {
    refuseOtherSettings('run', kept, { filter: { limit: 1 }, model: 'm' });
    expect(differencesOf(kept, { model: 'm', filter: { limit: 2, seed: 1 } })).toEqual([
      'filter.limit: 1 there, 2 here',
      'filter.seed: nothing there, 1 here',
    ]);
    const long = 'x'.repeat(100);
    expect(differencesOf({ sets: [long, { tags: ['a', 'b'] }] }, { sets: [long, { tags: ['a', 'c'] }] })).toEqual([
      'sets.1.tags.1: "b" there, "c" here',
    ]);
    expect(() => refuseOtherSettings('tuning', kept, { ...kept, model: 'n' })).toThrow(
      `The tuning can't go on with other settings: model: "m" there, "n" here. Give the same flags, or another --out.`,
    );
  });
});
