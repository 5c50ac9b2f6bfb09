/** The report for people, in Markdown: per prompt what came of it, its evidence, and all that was tried. */
import { FALSE_DISCOVERY } from './decide.js';
import type { TunedPrompt } from './prompt-draft.js';
import { PARTS } from './split-cases.js';
import type { Gain, PromptReport, Tried, TuneReport } from './tune-record.js';

export function renderTuneReport(report: TuneReport, diffs: ReadonlyMap<TunedPrompt, string>): string {
  const { spent, split, notices } = report;
  const rows = Object.entries(split.strata).map(([stratum, counts]) => [
    stratum,
    ...PARTS.map((part) => String(counts[part] ?? 0)),
  ]);
  return [
    '# Prompt tuning',
    `${spent.calls} model calls, ${Math.round(spent.milliseconds / 1_000)} s. A change is kept where its paired 95 % interval on the choosing part lies above 0, a sign-flip test agrees at a level that keeps all looks at one prompt together below ${FALSE_DISCOVERY}, and the held-back part, looked at once at the end, shows a gain too.`,
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
  return [
    `## ${prompt}: ${isChanged ? 'changed' : 'left as it was'}`,
    reason,
    facts.join('\n'),
    ...(diff === undefined ? [] : [fenced(diff, 'diff')]),
    ...(tried.length === 0 ? ['Nothing was tried.'] : [renderRows(HEAD, tried.map(toRow))]),
  ];
}

const HEAD = ['round', 'candidate', 'tokens', 'gain on training', 'gain on choosing', 'p (at most)', 'verdict'];

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
export function renderGain({ mean, low, high, higher, lower, count }: Gain): string {
  const sign = mean > 0 ? '+' : '';
  return `${sign}${mean.toFixed(3)} (${low.toFixed(3)} to ${high.toFixed(3)}; ${higher} better, ${lower} worse of ${count})`;
}

function renderRows(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.map(escaped).join(' | ')} |`;
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n');
}

/** What a model has written must not break the table, nor be read as HTML. */
function escaped(text: string): string {
  return text.replace(/\s+/gu, ' ').replaceAll('\\', '\\\\').replaceAll('|', '\\|').replaceAll('<', '&lt;');
}

/** A fence longer than any in the text. */
function fenced(text: string, language: string): string {
  const longest = Math.max(2, ...[...text.matchAll(/`+/gu)].map(([ticks]) => ticks.length));
  const fence = '`'.repeat(longest + 1);
  return `${fence}${language}\n${text.trimEnd()}\n${fence}`;
}
