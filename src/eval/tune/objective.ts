/** What tuning raises: one number a case, finer than right or wrong where that can be had, so that fewer cases tell more. */
import { WinnowError } from '../../core/errors.js';
import { meaningOf } from '../metrics.js';
import type { CaseRecord } from '../record.js';
import type { TunedPrompt } from './prompt-draft.js';

/** Undefined where the case says nothing about the prompt: selection was skipped, or the server failed. */
export type Objective = (record: CaseRecord) => number | undefined;

/**
 * Default for select-tools: recall of the needed tools; where none is needed, whether none was picked. For plan-steps:
 * the mean of kind, node F1, edge F1 and argument-value F1, as far as they apply.
 * @param metric a metric of `winnow eval` instead, of which more is better
 * @throws WinnowError `invalid_option`
 */
export function objectiveOf(prompt: TunedPrompt, metric?: string): Objective {
  if (metric !== undefined && meaningOf(metric)?.better !== 'higher') {
    throw new WinnowError(
      'invalid_option',
      `--metric: "${metric}" is no metric of which more is better; "recall", "right" or "planExact" are.`,
    );
  }
  return (record) => {
    if (record.outcome === 'error' || record.selection === undefined) return undefined;
    if (prompt === 'select-tools' && record.selection.mode === 'passthrough') return undefined;
    const { scores } = record;
    if (metric !== undefined) return scores[metric] ?? undefined;
    if (prompt === 'select-tools') return scores.recall ?? scores.right ?? undefined;
    const applying = ['kind', 'nodeF1', 'edgeF1', 'argumentValueF1'].flatMap((name) => scores[name] ?? []);
    return applying.length === 0 ? undefined : applying.reduce((sum, score) => sum + score, 0) / applying.length;
  };
}

/** What the model did with a case, in few words. */
export function renderGot(prompt: TunedPrompt, { selection, result }: CaseRecord): string {
  if (prompt === 'select-tools') {
    const chosen = (selection?.tools ?? []).filter(({ fill }) => !fill).map(({ name }) => name);
    return chosen.length === 0 ? 'no tool' : chosen.join(', ');
  }
  if (!result) return 'no answer';
  if (!result.steps) return `${result.kind}: ${(result.text ?? '').slice(0, 300)}`;
  return JSON.stringify(result.steps.map((step) => ({ tool: step.tool, arguments: step.arguments }))).slice(0, 600);
}
