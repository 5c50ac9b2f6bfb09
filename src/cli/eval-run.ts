/** Sets up, runs, judges and prints a run of `winnow eval`. An interrupt ends it cleanly, a second one at once. */
import { type EvaluationEnd, evaluate } from '../eval/evaluate.js';
import { parseGate } from '../eval/gate.js';
import { openRunStore, runFile } from '../eval/run-store.js';
import type { EvalFlags } from './eval-options.js';
import { refuseQueueFlags } from './eval-options.js';
import {
  type EvaluationSetup,
  type Evaluator,
  identifyRun,
  type RunIdentity,
  setUpEvaluation,
  startOf,
} from './eval-setup.js';
import { openLocalEvaluator, openQueueEvaluator } from './evaluators.js';
import { judgeBars, refuseUnjudged, setExitCode, setExitCodeOfErrors, writeRun } from './finished-runs.js';
import { catchInterrupts, type Interrupts } from './interrupts.js';
import { interrupted, runInFolder } from './out-folder.js';
import { writeLine } from './output.js';
import { createEvaluationProgress } from './progress.js';

/** Sets `process.exitCode` when a gate fails or no case was answered. @throws WinnowError `cancelled` after an interrupt */
export async function runEvaluation(flags: EvalFlags): Promise<void> {
  refuseQueueFlags(flags);
  const bars = parseGate(flags.gate ?? '');
  await refuseUnjudged(bars, { only: flags.only ?? 'all', repeat: flags.repeat });
  const signals = catchInterrupts();
  const { stderr } = process;
  try {
    const setup = await setUpEvaluation(flags, { stderr, signal: signals.stop });
    const { out } = setup;
    const end = await runInFolder(out, signals.stop, () => runSetup(setup, signals));
    if (signals.cancel.aborted) throw interrupted(out);
    const gate = await judgeBars(bars, end.summary, out);
    await writeRun(out, { summary: end.summary, gate }, flags);
    if (end.failure) throw end.failure;
    if (end.summary.interrupted) throw interrupted(out);
    setExitCode(gate);
    setExitCodeOfErrors(end.summary);
  } finally {
    signals.release();
  }
}

async function runSetup(setup: EvaluationSetup, signals: Interrupts): Promise<EvaluationEnd> {
  const run = await identifyRun(setup);
  const signal = signals.stop;
  const notices = { write: writeLine };
  const evaluator =
    setup.flags.queue === undefined
      ? await openLocalEvaluator(setup, { stderr: process.stderr, signal })
      : await openQueueEvaluator(setup, run, (text) => notices.write(text));
  try {
    return await runCases(setup, { run, evaluator, notices }, signals);
  } finally {
    await evaluator.close();
  }
}

interface CasesParts {
  run: RunIdentity;
  evaluator: Evaluator;
  /** Writes notices, above the progress bar once there is one. */
  notices: { write: (text: string) => void };
}

async function runCases(
  setup: EvaluationSetup,
  { run, evaluator, notices }: CasesParts,
  { stop, cancel }: Interrupts,
): Promise<EvaluationEnd> {
  const { out, source, flags } = setup;
  const start = startOf(setup, run, evaluator);
  const { planned: total } = start;
  const progress = createEvaluationProgress({ total, stream: process.stderr });
  const store = await openRunStore(runFile(out));
  notices.write = progress.note;
  try {
    await store.dropErrors();
    let done = 0;
    for await (const record of store.records()) {
      progress.remember(record);
      done += 1;
    }
    if (done > 0) progress.note(`${done} of ${total} are done already.`);
    const dispatch = evaluator.dispatcher({ judging: run.judging, onStablePart: store.keepPrompt });
    const onRecord = progress.see;
    return await evaluate({ store, source, repeats: flags.repeat, dispatch, start, onRecord, stop, cancel });
  } finally {
    progress.stop();
    await store.close();
  }
}
