/** Report of a tuning run: `report.json`, and each changed prompt with its diff. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createTwoFilesPatch } from 'diff';
import type { OptionsInput } from '../../core/options.js';
import type { PromptPaths } from '../../core/prompts/prompts.js';
import type { Settings } from '../run-summary.js';
import type { Difference } from '../statistics.js';
import type { Variant } from './candidates.js';
import type { TunedPrompt } from './prompt-draft.js';
import type { Part } from './split-cases.js';

/** Highest probability that all tests together keep something that is no better. */
export const FALSE_DISCOVERY = 0.05;

export interface Tried {
  round: number;
  kind: Variant['kind'];
  about: string;
  /** Hash of the text below `variants/`; absent if it was refused before a try. */
  hash?: string;
  grownTokens?: number;
  /** Batches of training cases in its trial. */
  rungs?: number;
  training?: Difference;
  choosing?: Difference;
  /** p of the sign-flip test on the choosing part, and its upper limit. */
  p?: number;
  level?: number;
  /** lost: to another candidate; no gain: on training; not clear: on choosing; unfinished: the budget ended. */
  verdict: 'refused' | 'lost' | 'no gain' | 'not clear' | 'kept' | 'unfinished';
  /** Why it was refused. */
  issues?: string[];
}

export interface PromptReport {
  prompt: TunedPrompt;
  isChanged: boolean;
  reason: string;
  /** Results of the initial prompt on training cases. */
  base: {
    /** Mean score. */
    training: number | null;
    failing: number;
    /** Cases without evidence, for example with a skipped selection. */
    withoutScore: number;
    /** Failing cases without a whole right answer to show as an example. */
    withoutExample: number;
  };
  /** Options that the new prompt needs. */
  options: OptionsInput;
  /** Ids of the training cases quoted in it. */
  examples: string[];
  /** Absent if nothing was kept, so that no test was made. */
  heldBack?: Difference;
  tokens: { before: number; after: number; allowedGrowth: number };
  tried: Tried[];
}

export interface TuneReport {
  format: 1;
  settings: Settings;
  milliseconds: number;
  /** Ids of the cases of each part. */
  split: Record<Part, string[]>;
  notices: string[];
  prompts: PromptReport[];
}

interface TuneOutputs {
  report: TuneReport;
  /** The kept variants. */
  kept: readonly Variant[];
  /** The prompts before tuning. */
  texts: ReadonlyMap<TunedPrompt, string>;
  promptPaths: PromptPaths;
}

export function writeTuneOutputs(folder: string, { report, kept, texts, promptPaths }: TuneOutputs): void {
  const write = (name: string, text: string) => writeFileSync(join(folder, name), text);
  for (const { prompt: name } of report.prompts) {
    const best = kept.find(({ draft }) => draft.name === name);
    const path = promptPaths[name] ?? `prompts/${name}.md`;
    if (!best) continue;
    write(`${name}.md`, best.text);
    write(`${name}.diff`, createTwoFilesPatch(path, path, texts.get(name) ?? '', best.text, 'before', 'after'));
  }
  const config = {
    prompts: Object.fromEntries(kept.map(({ draft }) => [draft.name, `${draft.name}.md`])),
    options: Object.assign({}, ...kept.map(({ options }) => options)),
  };
  // For `--config`.
  if (kept.length > 0) write('tuned.json', toJson(config));
  write('report.json', toJson(report));
}

function toJson(value: unknown): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}
