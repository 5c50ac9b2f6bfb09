/** `settings.json` in the folder of a tuning run: with what it was begun, so that it goes on with the same. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { WinnowError } from '../../errors.js';
import { differencesOf } from '../run-summary.js';

type Settings = Readonly<Record<string, unknown>>;

const SETTINGS = 'settings.json';

/** What the run in a folder was begun with; undefined where there is none. */
export function earlierSettings(folder: string): Settings | undefined {
  const path = join(folder, SETTINGS);
  return existsSync(path) ? JSON.parse(readFileSync(path, 'utf8')) : undefined;
}

/** Keeps them for a run that goes on. @throws WinnowError `invalid_option` naming each in which this one differs */
export function keepSettings(folder: string, settings: Settings): void {
  const here = JSON.parse(JSON.stringify(settings));
  const earlier = earlierSettings(folder);
  if (!earlier) {
    writeFileSync(join(folder, SETTINGS), `${JSON.stringify(here, null, 2)}\n`);
    return;
  }
  const issues = differencesOf(earlier, here);
  if (issues.length === 0) return;
  const message = `The tuning can't go on with other settings: ${issues.join('; ')}. Give the same flags, or another --out.`;
  throw new WinnowError('invalid_option', message, { issues });
}

export function hasTuning(folder: string): boolean {
  return existsSync(join(folder, SETTINGS));
}
