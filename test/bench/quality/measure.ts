/**
 * The work, in an order in which a stop at any moment leaves something useful: one group of contestants on
 * every set, then the next; within a set one contestant after the other, so that the beginning of a prompt is read once.
 */
import { join } from 'node:path';
import { createScope } from '../../../src/core/catalog/scope.js';
import { throwIfCancelled, toWinnowError } from '../../../src/core/errors.js';
import type { Model } from '../../../src/core/model/model.js';
import { createSchemaTokens } from '../../../src/core/selection/budget.js';
import type { EvaluationCase } from '../../../src/eval/case.js';
import { type Contestant, type Entrant, GROUPS, type Trial } from './contestant.js';
import { type Failed, type Outcome, toOutcome } from './outcome.js';
import { rememberModel } from './remembered-model.js';
import type { QualitySet } from './sets.js';
import { type WatchedModel, watchFailures } from './watched-model.js';

export interface MeasureOptions {
  sets: readonly QualitySet[];
  contestants: readonly Contestant[];
  model: Model;
  maxTools: number;
  /** Folder of the answers, one file a set. */
  folder: string;
  /** Day of the cases that name none, YYYY-MM-DD: it is part of prompts. */
  today: string;
  onOutcome: (outcome: Outcome) => void;
  /** Told when a contestant is through with a set. */
  onPair: () => void;
  /** Told what is not measured, and why. */
  onNotice: (text: string) => void;
  signal: AbortSignal;
}

/** Then a contestant is through with a set: what comes is no more than the same error. */
const MAX_ERRORS_IN_A_ROW = 10;

/** @throws WinnowError `cancelled` when the signal has fired; what was answered until then is kept. */
export async function measure(options: MeasureOptions): Promise<void> {
  const { sets, contestants, model, today } = options;
  const trials = new Map(sets.map((set) => [set.id, trialsOf(set, today)]));
  for (const group of GROUPS) {
    for (const set of sets) {
      for (const contestant of contestants.filter((one) => one.group === group)) {
        const idle = contestant.idleOn({ set, model });
        if (idle !== undefined) options.onNotice(`${set.id}, ${contestant.id}: not measured, ${idle}`);
        else await measurePair({ set, contestant, trials: trials.get(set.id) ?? [] }, options);
      }
    }
  }
}

interface Pair {
  set: QualitySet;
  contestant: Contestant;
  trials: readonly Trial[];
}

async function measurePair({ set, contestant, trials }: Pair, options: MeasureOptions): Promise<void> {
  const { maxTools, signal, onOutcome, onNotice, onPair } = options;
  const remembered = rememberModel(options.model, join(options.folder, `${set.id}.answers.jsonl`));
  const watched = watchFailures(remembered.model);
  const schemaTokens = createSchemaTokens(options.model);
  let errorsInARow = 0;
  try {
    const entrant = contestant.enter({ set, model: watched.model, maxTools });
    for (const trial of trials) {
      throwIfCancelled(signal);
      const reply = await answerOf(entrant, trial, watched);
      throwIfCancelled(signal);
      const spent = remembered.takeSpent();
      onOutcome(toOutcome({ set, contestant: contestant.id, trial, reply, spent, schemaTokens }));
      errorsInARow = reply.kind === 'error' ? errorsInARow + 1 : 0;
      if (errorsInARow < MAX_ERRORS_IN_A_ROW) continue;
      onNotice(`${set.id}, ${contestant.id}: given up after ${errorsInARow} errors in a row; run again to go on`);
      break;
    }
  } finally {
    remembered.close();
  }
  onPair();
}

async function answerOf(entrant: Entrant, trial: Trial, { takeFailure }: WatchedModel) {
  takeFailure();
  try {
    const reply = await entrant.answer(trial);
    const failure = takeFailure();
    return failure ? toFailed(failure) : reply;
  } catch (thrown) {
    return toFailed(thrown);
  }
}

function toFailed(thrown: unknown): Failed {
  const { code, message } = toWinnowError(thrown);
  return { kind: 'error', reason: `${code}: ${message}` };
}

function trialsOf(set: QualitySet, today: string): Trial[] {
  const scopes = new WeakMap<object, ReturnType<typeof createScope>>();
  return set.cases.map((one) => {
    const catalog = set.catalogFor(one);
    const viewOf = scopes.get(catalog) ?? createScope(catalog);
    scopes.set(catalog, viewOf);
    const { tools } = viewOf(one.request);
    return { case: one, request: { today, ...one.request }, catalog, tools, wantsPlan: wantsPlan(set, one) };
  });
}

/** Where nothing fits, the first call alone does not tell whether anything would be called. */
function wantsPlan({ judged }: QualitySet, { expected }: EvaluationCase): boolean {
  return judged === 'plan' || expected.tools.length === 0;
}
