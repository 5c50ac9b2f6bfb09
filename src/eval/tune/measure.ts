/** Scores a variant on each case. Earlier measurements, also of other processes, are not repeated. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { throwIfCancelled, WinnowError } from '../../core/errors.js';
import type { EvaluationCase } from '../case.js';
import type { CaseJob, CaseRunner } from '../case-runner.js';
import { createLocalDispatcher, createOutage } from '../evaluate.js';
import { isOfStage, meaningOf, SCORES } from '../metrics.js';
import type { CaseRecord } from '../record.js';
import type { OnStablePart } from '../suite.js';
import { type Budget, BudgetEnded, type Spent } from './budget.js';
import type { Measured, Measurements, Variant } from './candidates.js';
import type { TunedPrompt } from './prompt-draft.js';

export interface MeasurerParts {
  prompt: TunedPrompt;
  objective: Objective;
  /** Runs cases with a variant, whose prompt is in the file. */
  createRunner: (variant: Variant, promptFile: string, onStablePart: OnStablePart) => CaseRunner;
  budget: Budget;
  countTokens: (text: string) => number;
  /** Folder for the tried prompts. */
  folder: string;
  /** Cases at once. */
  jobs: number;
  /** Starts no new case. */
  stop: AbortSignal;
  /** Abandons running cases, too. */
  cancel: AbortSignal;
  /** Called with a case that ended with a server error, which is left out of the current comparison. */
  onError: (record: CaseRecord) => void;
}

/**
 * @throws BudgetEnded when the budget, less the reserve, ended before all cases were done
 * @throws WinnowError `cancelled` after an interrupt, `model_failed` when the server is down
 */
export type Measure = (variant: Variant, cases: readonly EvaluationCase[], reserve?: Spent) => Promise<Measurements>;

const MAX_ERRORS_IN_A_ROW = 8;

export function createMeasurer(parts: MeasurerParts): Measure {
  const { prompt, budget, jobs, stop, cancel } = parts;
  return async (variant, cases, reserve) => {
    const keyOf = (id: string) => ['case', prompt, variant.hash, id];
    const found = new Map<string, Measured>();
    const missing: EvaluationCase[] = [];
    for (const one of cases) {
      const measured = await budget.recall<Measured>(keyOf(one.id));
      if (measured) found.set(one.id, measured);
      else missing.push(one);
    }
    if (missing.length === 0) return found;
    const stableParts = new Map<string, number>();
    mkdirSync(parts.folder, { recursive: true });
    const file = join(parts.folder, `${variant.hash}.md`);
    writeFileSync(file, variant.text);
    const run = parts.createRunner(variant, file, (hash, text) => {
      if (!stableParts.has(hash)) stableParts.set(hash, parts.countTokens(text));
    });
    const outage = createOutage(MAX_ERRORS_IN_A_ROW);
    let begun = 0;
    async function* queue(): AsyncGenerator<CaseJob> {
      for (const one of missing) {
        if (budget.isOver(reserve)) return;
        begun += 1;
        yield { case: one, repeat: 0 };
      }
    }
    const see = async (record: CaseRecord) => {
      const { id, error } = record;
      if (error && budget.exhausted.aborted) return;
      outage.see(record);
      if (error) return parts.onError(record);
      const measured = toMeasured(record, parts, stableParts);
      found.set(id, measured);
      await budget.keep(keyOf(id), measured, measured.calls);
    };
    await createLocalDispatcher(run, jobs)(queue(), {
      keep: async (records) => {
        for (const record of records) await see(record);
      },
      stop: AbortSignal.any([stop, cancel, budget.exhausted, outage.signal]),
      cancel,
    });
    throwIfCancelled(stop);
    outage.signal.throwIfAborted();
    if (budget.exhausted.aborted || begun < missing.length) throw new BudgetEnded();
    return found;
  };
}

function toMeasured(record: CaseRecord, parts: MeasurerParts, stableParts: ReadonlyMap<string, number>): Measured {
  const stage = parts.prompt === 'select-tools' ? 'selection' : 'planning';
  const first = record.calls.find((call) => call.stage === stage);
  return {
    score: parts.objective(record) ?? null,
    got: renderGot(parts.prompt, record),
    stableTokens: stableParts.get(first?.system ?? '') ?? 0,
    calls: record.calls.filter(({ fromCache }) => !fromCache).length,
    milliseconds: record.milliseconds.total,
  };
}

/** The model's answer to a case, in few words. */
function renderGot(prompt: TunedPrompt, { selection, result }: CaseRecord): string {
  if (prompt === 'select-tools') {
    const chosen = (selection?.tools ?? []).filter(({ fill }) => !fill).map(({ name }) => name);
    return chosen.length === 0 ? 'no tool' : chosen.join(', ');
  }
  if (!result) return 'no answer';
  if (!result.steps) return `${result.kind}: ${(result.text ?? '').slice(0, 300)}`;
  return JSON.stringify(result.steps.map((step) => ({ tool: step.tool, arguments: step.arguments }))).slice(0, 600);
}

/** The number that tuning raises. Undefined for a case without evidence: selection was skipped, or the server failed. */
export type Objective = (record: CaseRecord) => number | undefined;

/**
 * One number for each case, finer than right or wrong where possible, so that fewer cases show more. Default for select-tools:
 * recall of the needed tools; where none is needed, whether none was picked. For plan-steps: the mean of kind, node F1, edge F1
 * and argument-value F1, as far as they apply.
 * @param metric a metric of `winnow eval` instead, where higher is better
 * @throws WinnowError `invalid_option`
 */
export function objectiveOf(prompt: TunedPrompt, metric?: string): Objective {
  const refused = (why: string) => new WinnowError('invalid_option', `--metric: "${metric}" ${why}`);
  if (metric !== undefined && !(SCORES.has(metric) && meaningOf(metric)?.better === 'higher'))
    throw refused('is no metric of which more is better; "recall", "right" or "nodeF1" are.');
  if (metric !== undefined && !isOfStage(metric, prompt === 'select-tools' ? 'select' : 'plan'))
    throw refused(`says nothing about ${prompt}: choose the other prompt by --only, or "right".`);
  return ({ outcome, selection, scores }) => {
    if (outcome === 'error' || selection === undefined) return undefined;
    if (prompt === 'select-tools' && selection.mode === 'passthrough') return undefined;
    if (metric !== undefined) return scores[metric] ?? undefined;
    if (prompt === 'select-tools') return scores.recall ?? scores.right ?? undefined;
    const applying = ['kind', 'nodeF1', 'edgeF1', 'argumentValueF1'].flatMap((name) => scores[name] ?? []);
    return applying.length === 0 ? undefined : applying.reduce((sum, score) => sum + score, 0) / applying.length;
  };
}
