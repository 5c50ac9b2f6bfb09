/** Report of a tuning run: `report.json`, `report.md`, and each changed prompt with its diff. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createTwoFilesPatch } from 'diff';
import type { OptionsInput } from '../../core/options.js';
import type { PromptPaths } from '../../core/prompts/prompts.js';
import type { Settings } from '../run-summary.js';
import type { Difference } from '../statistics.js';
import type { Variant } from './candidates.js';
import type { TunedPrompt } from './prompt-draft.js';
import { PARTS, type Part } from './split-cases.js';

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
  cases: Record<Part, number>;
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
  split: {
    seed: number;
    strata: Record<string, Record<Part, number>>;
    ids: Record<Part, string[]>;
  };
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
  const diffs = new Map<TunedPrompt, string>();
  const write = (name: string, text: string | undefined) => {
    if (text !== undefined) writeFileSync(join(folder, name), text);
  };
  for (const { prompt: name } of report.prompts) {
    const best = kept.find(({ draft }) => draft.name === name);
    const path = promptPaths[name] ?? `prompts/${name}.md`;
    if (best) diffs.set(name, createTwoFilesPatch(path, path, texts.get(name) ?? '', best.text, 'before', 'after'));
    write(`${name}.md`, best?.text);
    write(`${name}.diff`, diffs.get(name));
  }
  const config = {
    prompts: Object.fromEntries(kept.map(({ draft }) => [draft.name, `${draft.name}.md`])),
    options: Object.assign({}, ...kept.map(({ options }) => options)),
  };
  // For `--config`.
  write('tuned.json', kept.length === 0 ? undefined : toJson(config));
  write('report.md', renderTuneReport(report, diffs));
  write('report.json', toJson(report));
}

function toJson(value: unknown): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}

function renderTuneReport(report: TuneReport, diffs: ReadonlyMap<TunedPrompt, string>): string {
  const { milliseconds, split, notices } = report;
  const rows = Object.entries(split.strata).map(([stratum, counts]) => [
    stratum,
    ...PARTS.map((part) => String(counts[part])),
  ]);
  return [
    '# Prompt tuning',
    `${Math.round(milliseconds / 1_000)} s. A change is kept where its paired 95 % interval on the choosing part lies above 0, a sign-flip test agrees at a level that keeps all looks at one prompt together below ${FALSE_DISCOVERY}, and the held-back part, looked at once at the end, shows a gain too.`,
    ...notices,
    ...report.prompts.flatMap((one) => renderPrompt(one, diffs.get(one.prompt))),
    '## The split',
    `By seed ${split.seed}; the ids are in \`report.json\`.`,
    renderRows(['set, expected tools, tags', 'training', 'choosing', 'held back'], rows),
    '## Method',
    'Worked examples: bootstrapped few-shot (Khattab et al., "DSPy", 2023). Orders of examples: Lu et al., "Fantastically Ordered Prompts", 2022. Wordings: reflective prompt evolution (Agrawal et al., "GEPA", 2025). Batches: successive halving (Jamieson and Talwalkar, 2016). Intervals: paired bootstrap (Koehn, 2004). Levels: the fallback procedure (Wiens, 2003).',
  ]
    .join('\n\n')
    .concat('\n');
}

function renderPrompt(one: PromptReport, diff: string | undefined): string[] {
  const { prompt, isChanged, reason, cases, base, tokens, heldBack, options, examples, tried } = one;
  const facts = [
    `- cases: ${cases.training} training, ${cases.choosing} choosing, ${cases.heldBack} held back`,
    `- as it was: ${base.training?.toFixed(3) ?? 'not measured'} on training, ${base.failing} cases not fully right, ${base.withoutExample} of them no use as an example; ${base.withoutScore} cases say nothing about this prompt`,
    `- tokens of the file: ${tokens.before} before, ${tokens.after} now; it may grow by ${tokens.allowedGrowth}`,
    ...(heldBack ? [`- gain on the held-back part: ${renderGain(heldBack)}`] : []),
    ...(Object.keys(options).length > 0 ? [`- options: \`${JSON.stringify(options)}\``] : []),
    ...(examples.length > 0 ? [`- worked examples from: ${examples.join(', ')}`] : []),
  ];
  const head = ['round', 'candidate', 'tokens', 'gain on training', 'gain on choosing', 'p (at most)', 'verdict'];
  return [
    `## ${prompt}: ${isChanged ? 'changed' : 'left as it was'}`,
    reason,
    facts.join('\n'),
    ...(diff === undefined ? [] : [fenced(diff, 'diff')]),
    tried.length === 0 ? 'Nothing was tried.' : renderRows(head, tried.map(toRow)),
  ];
}

function toRow({ round, about, grownTokens, training, choosing, p, level, verdict, issues }: Tried): string[] {
  return [
    String(round),
    about,
    grownTokens === undefined ? '' : `${grownTokens >= 0 ? '+' : ''}${grownTokens}`,
    training ? renderGain(training) : '',
    choosing ? renderGain(choosing) : '',
    p === undefined || level === undefined ? '' : `${p.toFixed(4)} (${level.toFixed(4)})`,
    issues ? `${verdict}: ${issues.join('; ')}` : verdict,
  ];
}

/** `+0.120 (0.031 to 0.210; 5 better, 1 worse of 24)` */
export function renderGain({ mean, low, high, higher, lower, count }: Difference): string {
  const sign = mean > 0 ? '+' : '';
  return `${sign}${mean.toFixed(3)} (${low.toFixed(3)} to ${high.toFixed(3)}; ${higher} better, ${lower} worse of ${count})`;
}

function renderRows(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.map(escaped).join(' | ')} |`;
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n');
}

/** Escapes model text that could break the table or read as HTML. */
function escaped(text: string): string {
  return text.replace(/\s+/gu, ' ').replaceAll('\\', '\\\\').replaceAll('|', '\\|').replaceAll('<', '&lt;');
}

/** Uses a fence longer than any in the text. */
function fenced(text: string, language: string): string {
  const longest = Math.max(2, ...[...text.matchAll(/`+/gu)].map(([ticks]) => ticks.length));
  const fence = '`'.repeat(longest + 1);
  return `${fence}${language}\n${text.trimEnd()}\n${fence}`;
}
