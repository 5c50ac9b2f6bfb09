/** The answers of models that evaluation and tuning keep on disk. */
import { readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { cacheFolder, formatBytes } from '../core/model/store/model-file.js';
import { ANSWERS_FOLDER } from '../eval/answer-cache.js';

export function answersFolder(): string {
  return join(cacheFolder(), ANSWERS_FOLDER);
}

/** Says on stderr how much was forgotten. */
export function clearAnswers(): void {
  const folder = answersFolder();
  const bytes = sizeOf(folder);
  rmSync(folder, { recursive: true, force: true });
  process.stderr.write(`${formatBytes(bytes)} of answers are forgotten.\n`);
}

function sizeOf(folder: string): number {
  try {
    return readdirSync(folder).reduce((sum, name) => sum + statSync(join(folder, name)).size, 0);
  } catch {
    return 0;
  }
}
