/** `settings.json` in the folder of a tuning run: with what it was begun, so that it goes on with the same. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { refuseOtherSettings, type Settings } from '../settings.js';

const SETTINGS = 'settings.json';

/** What the run in a folder was begun with; undefined where there is none. */
export function earlierSettings(folder: string): Settings | undefined {
  const path = join(folder, SETTINGS);
  return existsSync(path) ? JSON.parse(readFileSync(path, 'utf8')) : undefined;
}

/** Keeps them for a run that goes on. @throws WinnowError `invalid_option` naming each in which this one differs */
export function keepSettings(folder: string, settings: Settings): void {
  const earlier = earlierSettings(folder);
  if (earlier) refuseOtherSettings('tuning', earlier, settings);
  else writeFileSync(join(folder, SETTINGS), `${JSON.stringify(settings, null, 2)}\n`);
}

export function hasTuning(folder: string): boolean {
  return existsSync(join(folder, SETTINGS));
}
