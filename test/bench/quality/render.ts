/** The outcomes as markdown, as FIGURES.md shows them: a table a set, the duels, the bars. */
import type { Estimate } from '../../../src/eval/statistics.js';
import { renderNumber, renderTable } from '../statistics.mjs';
import { judgeBars, renderDifference, total } from './bars.js';
import { CONTESTANTS, contestantsOf } from './contestants.js';
import { METRIC_NAMES, METRICS, type MetricName, type Outcome } from './outcome.js';
import { SETS } from './sets.js';
import { duelsOf, OURS, type Row, summarise } from './summary.js';

export interface RunFacts {
  model: string;
  /** Undefined: all cases. */
  sample: number | undefined;
  seed: number;
  maxTools: number;
}

export function renderReport(outcomes: readonly Outcome[], facts: RunFacts): string {
  const rows = summarise(outcomes);
  const sets = Object.keys(SETS).filter((set) => rows.some((row) => row.set === set));
  const cases = facts.sample === undefined ? 'all cases' : `${facts.sample} cases a set, seed ${facts.seed}`;
  return [
    `${facts.model}, at most ${facts.maxTools} tools handed on, ${cases}; 95 % intervals in brackets (bootstrap; Wilson where all cases agree)`,
    ...sets.map((set) => renderSet(set, rows)),
    renderDuels(outcomes, sets),
    renderBars(outcomes),
    renderTroubles(rows),
  ]
    .filter((part) => part !== '')
    .join('\n\n');
}

function renderSet(set: string, all: readonly Row[]): string {
  const rows = CONTESTANTS.flatMap(({ id }) => all.find((row) => row.set === set && row.contestant === id) ?? []);
  const metrics = METRIC_NAMES.filter((name) => rows.some((row) => row.metrics[name]));
  const titles = metrics.map((name) => METRICS[name]);
  const costs = ['unanswered', 'tools', 'schema tokens', 's', 'tokens read + cached + written'];
  const table = renderTable(
    ['', 'cases', ...titles, ...costs],
    rows.map((row) => toCells(row, metrics)),
  );
  return `**${SETS[set]?.title ?? set}**\n\n${table}`;
}

function toCells(row: Row, metrics: readonly MetricName[]): string[] {
  const title = CONTESTANTS.find(({ id }) => id === row.contestant)?.title ?? row.contestant;
  const { neededTokens, seconds, tokens, schemaTokens } = row;
  if (row.cases === 0) {
    const why = neededTokens === undefined ? 'errors only' : `does not fit (${renderNumber(neededTokens)} tokens)`;
    return [title, '0', ...metrics.map(() => why), '-', '-', '-', '-', '-'];
  }
  return [
    title,
    `${row.cases}${row.doesNotFit > 0 ? ` (${row.doesNotFit} do not fit)` : ''}`,
    ...metrics.map((name) => renderEstimate(row.metrics[name])),
    String(total(row.unanswered)),
    row.toolsHandedOn.toFixed(1),
    `${renderNumber(schemaTokens.loaded)} of ${renderNumber(schemaTokens.all)}`,
    seconds === undefined ? '-' : seconds.toFixed(1),
    tokens ? [tokens.read, tokens.cached, tokens.written].map(renderNumber).join(' + ') : '-',
  ];
}

/** `0.865 (0.79–0.93)` */
export function renderEstimate(estimate: Estimate | undefined): string {
  if (!estimate) return '-';
  return `${estimate.mean.toFixed(3)} (${estimate.low.toFixed(2)}–${estimate.high.toFixed(2)})`;
}

/** Those who hand tools on; with all tools bound nothing is handed on, only called. */
const SELECTING = contestantsOf(['first', 'peer']).filter(({ id }) => id !== OURS && id !== 'all-bound');
const OTHERS = [...SELECTING.map(({ id }) => id), 'all-bound'];

/** Winnow minus each other, the best of them first. */
function renderDuels(outcomes: readonly Outcome[], sets: readonly string[]): string {
  const duels = sets.flatMap((set) => [
    ...duelsOf(outcomes, { set, metric: 'recall', peers: SELECTING.map(({ id }) => id) }),
    ...duelsOf(outcomes, { set, metric: 'abstention', peers: OTHERS }),
    ...duelsOf(outcomes, { set, metric: 'nodeF1', peers: OTHERS }),
    ...duelsOf(outcomes, { set, metric: 'argumentValueF1', peers: OTHERS }),
  ]);
  if (duels.length === 0) return '';
  const table = renderTable(
    ['set', 'what', OURS, 'against', 'it has', 'difference', 'times', 'won, lost, equal'],
    duels.map(({ set, metric, peer, ours, theirs, ratio, difference }) => [
      SETS[set]?.title ?? set,
      METRICS[metric],
      ours.toFixed(3),
      peer,
      theirs.toFixed(3),
      renderDifference(difference),
      ratio?.toFixed(2) ?? '-',
      `${difference.higher}, ${difference.lower}, ${difference.equal}`,
    ]),
  );
  return `**Winnow against each, case by case**\n\n${table}`;
}

function renderBars(outcomes: readonly Outcome[]): string {
  const word = (reached: boolean | undefined) => (reached === undefined ? '?' : reached ? 'reached' : 'NOT reached');
  const lines = judgeBars(outcomes).map(({ bar, reached, figure }) => `- ${word(reached)}: ${bar}. ${figure}`);
  return `**The bars**\n\n${lines.join('\n')}`;
}

/** Modes that are told, in words. */
const MODES = {
  fallback: 'answered by the fallback',
  loop: 'answered with a list that ran in a loop, taken as far as it came',
} as const;

/** What went wrong outside the figures, and why requests stayed without an answer. */
function renderTroubles(rows: readonly Row[]): string {
  const lines = rows.flatMap(({ set, contestant, errors, unanswered, modes }) => {
    const line = (what: string) => (entry: [string, number]) =>
      `- ${set}, ${contestant}: ${entry[1]} ${what}${entry[0] === '' ? '' : `: ${entry[0]}`}`;
    return [
      ...Object.entries(errors).map(line('errors of the model, which count nowhere')),
      ...Object.entries(unanswered).map(line('without an answer')),
      ...Object.entries(MODES).flatMap(([mode, what]) => (modes[mode] ? [line(what)(['', modes[mode]])] : [])),
    ];
  });
  return lines.length === 0 ? '' : `**What went wrong on the way**\n\n${lines.join('\n')}`;
}
