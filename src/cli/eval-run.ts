/** A run of `winnow eval`: set up, done, judged and printed. An interrupt ends it cleanly, a second one at once. */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { ERROR_TABLE, WinnowError } from '../errors.js';
import { compareRuns } from '../evaluation/compare.js';
import { createLocalDispatcher } from '../evaluation/dispatcher.js';
import { type EvaluationEnd, evaluate } from '../evaluation/evaluate.js';
import { type BarResult, judgeGate, parseGate } from '../evaluation/gate.js';
import { openRunFolder } from '../evaluation/run-folder.js';
import type { RunSummary } from '../evaluation/run-summary.js';
import { writeOutputs } from '../evaluation/write-outputs.js';
import { withLock } from '../model/store/lock.js';
import type { EvalFlags } from './eval-options.js';
import { createEvaluationProgress } from './eval-progress.js';
import { queueDispatcherOf } from './eval-queue.js';
import { type EvaluationSetup, setUpEvaluation } from './eval-setup.js';
import { catchInterrupts, type Interrupts } from './interrupts.js';
import { refuseQueueFlags } from './queue-options.js';
import { renderGate, renderRun } from './render-eval.js';

/** @throws WinnowError `cancelled` after an interrupt; may set `process.exitCode` for a gate that is not passed */
export async function runEvaluation(flags: EvalFlags, version: string): Promise<void> {
  refuseQueueFlags(flags);
  const bars = parseGate(flags.gate ?? '');
  const signals = catchInterrupts();
  try {
    const setup = await setUpEvaluation(flags, { stderr: process.stderr, signal: signals.stop });
    try {
      mkdirSync(setup.out, { recursive: true });
      const onWait = (owner: string) => process.stderr.write(`Waiting for ${owner}, which works in ${setup.out}.\n`);
      const end = await withLock(join(setup.out, '.lock'), { signal: signals.stop, onWait }, () =>
        runCases(setup, { flags, version }, signals),
      );
      if (signals.cancel.aborted) throw interrupted(setup.out);
      const gate = bars.length > 0 ? await judgeGate(bars, end.summary, (path) => compareRuns(path, setup.out)) : [];
      await finish(setup.out, { end, gate, json: flags.json ?? false });
      if (end.failure) throw end.failure;
      if (end.summary.interrupted) throw interrupted(setup.out);
      if (gate.some(({ passed }) => !passed)) process.exitCode = ERROR_TABLE.gate_failed.exitCode;
    } finally {
      await setup.close();
    }
  } finally {
    signals.release();
  }
}

async function runCases(
  setup: EvaluationSetup,
  { flags, version }: { flags: EvalFlags; version: string },
  { stop, cancel }: Interrupts,
): Promise<EvaluationEnd> {
  const { out, source, start } = setup;
  const folder = await openRunFolder(out, { retryErrors: flags.retryErrors });
  const { planned: total, currency } = start;
  const progress = createEvaluationProgress({ total, done: folder.done(), currency, stream: process.stderr });
  try {
    if (folder.done() > 0) progress.note(`${folder.done()} of ${total} are done already.`);
    const dispatch =
      flags.queue === undefined
        ? createLocalDispatcher(setup.createRunner(folder.keepPrompt), flags.jobs)
        : await queueDispatcherOf(setup, flags, { version, onStablePart: folder.keepPrompt, onNotice: progress.note });
    return await evaluate({
      folder,
      source,
      repeats: flags.repeat,
      dispatch,
      start,
      onRecord: progress.see,
      stop,
      cancel,
    });
  } finally {
    progress.stop();
    folder.close();
  }
}

interface Finish {
  end: EvaluationEnd;
  gate: readonly BarResult[];
  json: boolean;
}

async function finish(out: string, { end: { summary }, gate, json }: Finish): Promise<void> {
  const paths = await writeOutputs(out, summary, gate);
  process.stdout.write(json ? `${JSON.stringify({ ...summary, gate }, null, 2)}\n` : renderText(summary, gate));
  process.stderr.write(`${paths.report}\n`);
}

function renderText(summary: RunSummary, gate: readonly BarResult[]): string {
  return `${[renderRun(summary), ...(gate.length > 0 ? [renderGate(gate)] : [])].join('\n\n')}\n`;
}

function interrupted(out: string): WinnowError {
  return new WinnowError('cancelled', `Interrupted; what is done is in ${out}. Go on with --resume --out ${out}.`);
}
