/** Scores a variant on each case, once. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { throwIfCancelled } from '../../core/errors.js';
import type { EvaluationCase } from '../case.js';
import type { CaseJob, CaseRunner } from '../case-runner.js';
import { createLocalDispatcher, createOutage } from '../evaluate.js';
import type { CaseRecord } from '../record.js';
import type { OnStablePart } from '../suite.js';
import type { Budget, Measured, Measurements, Variant } from './candidates.js';
import type { TunedPrompt } from './prompt-draft.js';

export interface MeasurerParts {
  prompt: TunedPrompt;
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

/** Ends a search, which keeps its results so far. */
export class BudgetEnded extends Error {}

/**
 * @throws BudgetEnded when the budget, less the reserve, ended before all cases were done
 * @throws WinnowError `cancelled` after an interrupt, `model_failed` when the server is down
 */
export type Measure = (variant: Variant, cases: readonly EvaluationCase[], reserve?: number) => Promise<Measurements>;

const MAX_ERRORS_IN_A_ROW = 8;
/** What to do where a run of tuning ends early. */
export const RUN_AGAIN = 'Run it again: answers so far are kept, and take no time.';

export function createMeasurer(parts: MeasurerParts): Measure {
  const { budget, jobs, stop, cancel } = parts;
  const known = new Map<string, Map<string, Measured>>();
  return async (variant, cases, reserve) => {
    const found = known.get(variant.hash) ?? new Map<string, Measured>();
    known.set(variant.hash, found);
    const missing = cases.filter(({ id }) => !found.has(id));
    if (missing.length === 0) return found;
    const stableParts = new Map<string, number>();
    mkdirSync(parts.folder, { recursive: true });
    const file = join(parts.folder, `${variant.hash}.md`);
    writeFileSync(file, variant.text);
    const run = parts.createRunner(variant, file, (hash, text) => {
      if (!stableParts.has(hash)) stableParts.set(hash, parts.countTokens(text));
    });
    const outage = createOutage(MAX_ERRORS_IN_A_ROW, RUN_AGAIN);
    let begun = 0;
    async function* queue(): AsyncGenerator<CaseJob> {
      for (const one of missing) {
        if (budget.millisecondsLeft(reserve) <= 0) return;
        begun += 1;
        yield { case: one, repeat: 0 };
      }
    }
    await createLocalDispatcher(run, jobs)(queue(), {
      keep: async (records) => {
        for (const record of records) {
          outage.see(record);
          if (record.error) parts.onError(record);
          else found.set(record.id, toMeasured(record, parts, stableParts));
        }
      },
      stop: AbortSignal.any([stop, cancel, outage.signal]),
      cancel,
    });
    throwIfCancelled(stop);
    outage.signal.throwIfAborted();
    if (begun < missing.length) throw new BudgetEnded();
    return found;
  };
}

function toMeasured(record: CaseRecord, parts: MeasurerParts, stableParts: ReadonlyMap<string, number>): Measured {
  const stage = parts.prompt === 'select-tools' ? 'selection' : 'planning';
  const first = record.calls.find((call) => call.stage === stage);
  return {
    score: scoreOf(parts.prompt, record) ?? null,
    got: renderGot(parts.prompt, record),
    stableTokens: stableParts.get(first?.system ?? '') ?? 0,
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

/**
 * The number that tuning raises, finer than right or wrong where possible, so that fewer cases show more. For select-tools:
 * recall of the needed tools; where none is needed, whether none was picked. For plan-steps: the mean of kind, node F1, edge F1
 * and argument-value F1, as far as they apply. Undefined for a case without evidence: selection was skipped, or the server failed.
 */
function scoreOf(prompt: TunedPrompt, { outcome, selection, scores }: CaseRecord): number | undefined {
  if (outcome === 'error' || selection === undefined) return undefined;
  if (prompt === 'select-tools')
    return selection.mode === 'passthrough' ? undefined : (scores.recall ?? scores.right ?? undefined);
  const applying = ['kind', 'nodeF1', 'edgeF1', 'argumentValueF1'].flatMap((name) => scores[name] ?? []);
  return applying.length === 0 ? undefined : applying.reduce((sum, score) => sum + score, 0) / applying.length;
}
