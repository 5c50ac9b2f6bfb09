/** The metrics of a run: how each is called for people, what group it stands in, and which way is better. */
import { VIAS } from '../core/result.js';
import type { MetricMeaning } from './run-summary.js';
import { CUTOFFS } from './selection-scores.js';

type Row = readonly [name: string, label: string, better?: MetricMeaning['better'], unit?: MetricMeaning['unit']];

const SELECTION: readonly Row[] = [
  ['right', 'Cases right as a whole'],
  ['allNeeded', 'All needed tools chosen or added'],
  ['recall', 'Recall of needed tools'],
  ['precision', 'Precision of tools chosen or added'],
  ['f1', 'F1 of tools chosen or added'],
  ['exact', 'Exactly the needed tools'],
  ['chosenRecall', 'Recall of the chosen'],
  ['chosenPrecision', 'Precision of the chosen'],
  ['chosenF1', 'F1 of the chosen'],
  ['chosenExact', 'Exactly the needed chosen'],
  ...CUTOFFS.map((cutoff): Row => [`recall@${cutoff}`, `Recall at ${cutoff}`]),
  ...CUTOFFS.map((cutoff): Row => [`all@${cutoff}`, `All needed at ${cutoff}`]),
  ['top1', 'A needed tool is first'],
  ['top3', 'A needed tool in the first 3'],
  ['mrr', 'Mean reciprocal rank'],
  ['abstention', 'Nothing picked where nothing fits'],
  ['falseAbstention', 'Nothing picked though something fits', 'lower'],
  ['fallback', 'Selection failed, full set used', 'lower'],
  ['passthrough', 'Selection skipped', 'none'],
  ['selectionRepaired', 'Selection asked again', 'lower'],
  ['unknownNames', 'Names made up, a case', 'lower', 'count'],
  ['handedOn', 'Tools chosen or added, a case', 'none', 'count'],
  ...VIAS.map((via): Row => [`found.${via}`, `Needed tools that came by ${via}`, 'none']),
  ...VIAS.map((via): Row => [`tools.${via}`, `Tools by ${via}, a case`, 'none', 'count']),
];

const PLAN: readonly Row[] = [
  ['planExact', 'Plans exactly right'],
  ['nodeF1', 'Steps (node F1)'],
  ['edgeF1', 'Dependencies (edge F1)'],
  ['order', 'Steps in order'],
  ['argumentNameF1', 'Argument names (F1)'],
  ['argumentValueF1', 'Argument values (F1)'],
  ['references', 'References right'],
  ['kind', 'Plan, question or refusal as wanted'],
  ['validFirst', 'Valid at the first try'],
  ['valid', 'Valid, at the latest after a repair'],
  ['planRepaired', 'Plan repaired', 'lower'],
  ['unplannableRight', 'Refused where it should'],
  ['unplannableWrong', 'Refused where it should not', 'lower'],
  ['clarificationRight', 'Asked back where it should'],
  ['clarificationWrong', 'Asked back where it should not', 'lower'],
];

const USAGE: readonly Row[] = [
  ['cost', 'Cost, a case', 'lower', 'currency'],
  ['errors', 'Cases with an error of the server', 'lower', 'fraction'],
  ['calls', 'Model calls, a case', 'lower', 'count'],
  ['tokens.read', 'Tokens read, a case', 'lower', 'tokens'],
  ['tokens.cached', "Tokens from the server's cache, a case", 'none', 'tokens'],
  ['tokens.written', 'Tokens written, a case', 'lower', 'tokens'],
  ['tokens.selection', 'Tokens of selection, a case', 'lower', 'tokens'],
  ['tokens.planning', 'Tokens of planning, a case', 'lower', 'tokens'],
  ['schemaTokens', 'Tokens of schemas loaded, a case', 'lower', 'tokens'],
];

const SCHEMAS: readonly Row[] = [
  ['schemaTokensSaved', 'Schema tokens saved', 'higher', 'fraction'],
  ...VIAS.map((via): Row => [`tokens.${via}`, `Schema tokens by ${via}, a case`, 'none', 'tokens']),
];

const TIME: readonly Row[] = [
  ['time', 'Time of a case, mean'],
  ['selectionTime', 'Time of selection, mean'],
  ['time.p50', 'Time of a case, median'],
  ['time.p95', 'Time of a case, 95th percentile'],
  ['selectionTime.p50', 'Time of selection, median'],
  ['selectionTime.p95', 'Time of selection, 95th percentile'],
];

/** In the order in which they are shown. */
export const METRICS: ReadonlyMap<string, MetricMeaning> = new Map([
  ...SELECTION.map((row) => toEntry(row, 'selection', 'fraction')),
  ...PLAN.map((row) => toEntry(row, 'plan', 'fraction')),
  ...[...USAGE, ...SCHEMAS].map((row) => toEntry(row, 'cost', 'tokens')),
  ...TIME.map((row) => toEntry([row[0], row[1], 'lower'], 'time', 'milliseconds')),
]);

/** What a run must not lose: of the choice, of its order, and of the plan. All of them are better when higher. */
export const PRIMARY_METRICS: readonly string[] = [
  ...['right', 'recall', 'chosenRecall', 'top1', 'mrr'],
  ...['nodeF1', 'argumentValueF1', 'kind'],
];

/** Those in `scores` of a record; the others are worked out of its usage, its time and its outcome. */
export const SCORES: ReadonlySet<string> = new Set([...SELECTION, ...PLAN, ...SCHEMAS].map(([name]) => name));

function toEntry(
  [name, label, better = 'higher', unit]: Row,
  group: MetricMeaning['group'],
  usual: MetricMeaning['unit'],
): [string, MetricMeaning] {
  return [name, { label, group, better, unit: unit ?? usual }];
}

/** Also of a metric that depends on the run, such as `pass^3`. */
export function meaningOf(name: string): MetricMeaning | undefined {
  const power = /^pass\^(\d+)$/u.exec(name)?.[1];
  if (power !== undefined) return perCase(power === '1' ? 'A try right' : `All of ${power} tries right`, 'higher');
  if (name === 'flipRate') return perCase('Cases whose repeats disagree', 'lower');
  return METRICS.get(name);
}

function perCase(label: string, better: MetricMeaning['better']): MetricMeaning {
  return { label, group: 'selection', unit: 'fraction', better };
}
