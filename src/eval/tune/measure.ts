/** A variant on cases -> a score a case. What was measured before, by this process or an earlier one, is not asked again. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { throwIfCancelled, WinnowError } from '../../core/errors.js';
import type { EvaluationCase } from '../case.js';
import type { CaseJob, CaseRunner } from '../case-runner.js';
import { createLocalDispatcher } from '../dispatcher.js';
import type { CaseRecord } from '../record.js';
import type { Budget, Spent } from './budget.js';
import type { Journal } from './journal.js';
import { type Objective, renderGot } from './objective.js';
import type { TunedPrompt } from './prompt-draft.js';
import type { Variant } from './variant.js';

const measuredSchema = z.object({
  /** null: the case says nothing about the prompt. */
  score: z.number().nullable(),
  /** What the model did with it. */
  got: z.string(),
  /** Tokens of the stable part as it was sent; 0 where the model was not asked. */
  stableTokens: z.int(),
  calls: z.int(),
  milliseconds: z.number(),
});
export type Measured = z.infer<typeof measuredSchema>;
/** By the id of the case; a case that ended with an error of the server is missing. */
export type Measurements = ReadonlyMap<string, Measured>;

/** Runs the cases of a variant; the prompt lies in the file. */
export type CreateRunner = (
  variant: Variant,
  promptFile: string,
  onStablePart: (hash: string, text: string) => void,
) => CaseRunner;

export interface MeasurerParts {
  prompt: TunedPrompt;
  objective: Objective;
  createRunner: CreateRunner;
  journal: Journal;
  budget: Budget;
  countTokens: (text: string) => number;
  /** Folder for the prompts that are tried. */
  folder: string;
  /** Cases at once. */
  jobs: number;
  /** No new case is begun. */
  stop: AbortSignal;
  /** Cases under way are given up, too. */
  cancel: AbortSignal;
  /** Told of a case that ended with an error of the server: it is left out of the comparison at hand. */
  onError: (record: CaseRecord) => void;
}

/**
 * Undefined when the budget, less the reserve, ended before all cases were done.
 * @throws WinnowError `cancelled` after an interrupt, `model_failed` when the server is down
 */
export type Measure = (
  variant: Variant,
  cases: readonly EvaluationCase[],
  reserve?: Spent,
) => Promise<Measurements | undefined>;

const MAX_ERRORS_IN_A_ROW = 8;

export function createMeasurer(parts: MeasurerParts): Measure {
  const { prompt, journal, budget, jobs, stop, cancel } = parts;
  const known = new Map<string, Measured>();
  return async (variant, cases, reserve) => {
    const keyOf = (id: string) => ['case', prompt, variant.hash, id];
    const found = new Map<string, Measured>();
    const missing: EvaluationCase[] = [];
    for (const one of cases) {
      const memory = `${variant.hash} ${one.id}`;
      const measured = known.get(memory) ?? journal.recall(keyOf(one.id), measuredSchema);
      if (measured) {
        known.set(memory, measured);
        found.set(one.id, measured);
      } else missing.push(one);
    }
    if (missing.length === 0) return found;
    const stableParts = new Map<string, number>();
    const run = parts.createRunner(variant, keepPrompt(parts.folder, variant), (hash, text) => {
      if (!stableParts.has(hash)) stableParts.set(hash, parts.countTokens(text));
    });
    const down = new AbortController();
    let errors = 0;
    let begun = 0;
    async function* queue(): AsyncGenerator<CaseJob> {
      for (const one of missing) {
        if (budget.isOver(reserve)) return;
        begun += 1;
        yield { case: one, repeat: 0 };
      }
    }
    await createLocalDispatcher(run, jobs)(queue(), {
      onRecord(record) {
        if (record.outcome === 'error') {
          if (budget.exhausted.aborted) return;
          errors += 1;
          parts.onError(record);
          if (errors >= MAX_ERRORS_IN_A_ROW) down.abort(serverIsDown(record));
          return;
        }
        errors = 0;
        const measured = toMeasured(record, parts, stableParts);
        known.set(`${variant.hash} ${record.id}`, measured);
        found.set(record.id, measured);
        journal.keep(keyOf(record.id), measured, measured.calls);
      },
      stop: AbortSignal.any([stop, cancel, budget.exhausted, down.signal]),
      cancel,
    });
    throwIfCancelled(stop);
    if (budget.exhausted.aborted) return undefined;
    if (down.signal.aborted) throw down.signal.reason;
    return begun < missing.length ? undefined : found;
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

function keepPrompt(folder: string, { hash, text }: Variant): string {
  mkdirSync(folder, { recursive: true });
  const path = join(folder, `${hash}.md`);
  writeFileSync(path, text);
  return path;
}

function serverIsDown({ error }: CaseRecord): WinnowError {
  const message = `${MAX_ERRORS_IN_A_ROW} cases in a row failed, the last with ${error?.code}: ${error?.message} Go on with --resume.`;
  return new WinnowError('model_failed', message);
}
