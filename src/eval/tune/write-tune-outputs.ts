/**
 * What a tuning run leaves: each changed prompt as a file and as a unified diff, one configuration file that uses all of
 * them, and the report.
 */
import { renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createTwoFilesPatch } from 'diff';
import type { PromptPaths } from '../../core/prompts/prompts.js';
import type { TunedPrompt } from './prompt-draft.js';
import { renderTuneReport } from './render-tune-report.js';
import type { TunedResult } from './tune-prompt.js';
import type { TuneReport } from './tune-record.js';

export interface TuneOutputs {
  report: TuneReport;
  results: readonly TunedResult[];
  /** The prompts as they were. */
  texts: ReadonlyMap<TunedPrompt, string>;
  promptPaths: PromptPaths;
}

/** For `--config`; there only where something was kept. */
export const TUNED_CONFIG = 'tuned.json';

export function writeTuneOutputs(folder: string, { report, results, texts, promptPaths }: TuneOutputs): void {
  const diffs = new Map<TunedPrompt, string>();
  for (const { report: one, best } of results) {
    const name = one.prompt;
    if (best) diffs.set(name, diffOf(promptPaths[name] ?? `prompts/${name}.md`, texts.get(name) ?? '', best.text));
    writeOrRemove(join(folder, `${name}.md`), best?.text);
    writeOrRemove(join(folder, `${name}.diff`), diffs.get(name));
  }
  const changed = results.flatMap(({ best }) => best ?? []);
  const config = {
    prompts: Object.fromEntries(changed.map(({ draft }) => [draft.name, `${draft.name}.md`])),
    options: Object.assign({}, ...changed.map(({ options }) => options)),
  };
  writeOrRemove(join(folder, TUNED_CONFIG), changed.length === 0 ? undefined : `${JSON.stringify(config, null, 2)}\n`);
  writeOrRemove(join(folder, 'report.json'), `${JSON.stringify(report, null, 2)}\n`);
  writeOrRemove(join(folder, 'report.md'), renderTuneReport(report, diffs));
}

function diffOf(path: string, before: string, after: string): string {
  return createTwoFilesPatch(path, path, before, after, 'before', 'after');
}

/** Whole or not at all; a resumed run may keep less than the one before it. */
function writeOrRemove(path: string, text: string | undefined): void {
  if (text === undefined) {
    rmSync(path, { force: true });
    return;
  }
  writeFileSync(`${path}.unfinished`, text);
  renameSync(`${path}.unfinished`, path);
}
