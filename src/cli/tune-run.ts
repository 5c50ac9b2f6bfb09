/** Sets up, runs and writes a run of `winnow tune`. An interrupt ends it cleanly. */
import { join } from 'node:path';
import { WinnowError } from '../core/errors.js';
import type { ModelSettings } from '../core/model/create-model.js';
import type { EvaluationCase } from '../eval/case.js';
import { dayOf, hashesOfSets, toSettings } from '../eval/run-summary.js';
import type { Difference } from '../eval/statistics.js';
import { RUN_AGAIN } from '../eval/tune/measure.js';
import { TUNED_PROMPTS, type TunedPrompt } from '../eval/tune/prompt-draft.js';
import { tune } from '../eval/tune/tune.js';
import type { PromptReport, TuneReport } from '../eval/tune/tune-report.js';
import type { ConfigFile } from './config-file.js';
import type { TuneFlags } from './eval-options.js';
import { type CasesSetup, setUpCases } from './eval-setup.js';
import { answersOf, askedOf } from './evaluators.js';
import { catchInterrupts, type Interrupts } from './interrupts.js';
import { modelSettings, planningModelSettings } from './model-settings.js';
import { runInFolder } from './out-folder.js';
import { print, renderTable, writeLine } from './output.js';
import { openModels } from './set-up.js';

/** @throws WinnowError `cancelled` after an interrupt; errors of `tune` */
export async function runTuning(flags: TuneFlags): Promise<void> {
  const signals = catchInterrupts();
  try {
    const setup = await setUpCases('tune', flags, { stderr: process.stderr, signal: signals.stop });
    const report = await runInFolder(setup.out, signals.stop, () => runSetup(setup, flags, signals), RUN_AGAIN);
    print(flags, { value: report, text: renderOutcome(report) });
    writeLine(join(setup.out, 'report.json'));
  } finally {
    signals.release();
  }
}

const LIMITS = { maxTokensGrowth: 0.2, rounds: 6, tries: 4 };

async function runSetup(setup: CasesSetup, flags: TuneFlags, { stop, cancel }: Interrupts): Promise<TuneReport> {
  const { config, out: folder, source, suites, options, prompts: promptPaths, promptHashes } = setup;
  const asking = tunedModelSettings(flags, config);
  const { model, close } = await openModels(config, { stderr: process.stderr, signal: stop }, asking);
  try {
    const { seed, jobs, budget, limit, sample, tag: tags } = flags;
    const chosen = { ...LIMITS, prompts: promptsOf(flags), seed, today: dayOf(flags.today, undefined) };
    const cases: EvaluationCase[] = [];
    for await (const one of source.cases()) cases.push(one);
    return await tune({
      ...chosen,
      ...{ folder, suites, cases, promptPaths, options, model, budget, jobs, stop, cancel },
      cache: flags.cache ? answersOf(asking) : undefined,
      settings: toSettings({
        ...chosen,
        model: model.id,
        asked: askedOf(asking),
        startedFrom: promptHashes,
        suites: hashesOfSets(suites, source),
        filter: { limit, sample, tags },
        options,
      }),
      onProgress: writeLine,
    });
  } finally {
    await close();
  }
}

/** The one model that will read the prompts. @throws WinnowError `invalid_option` where there are two */
function tunedModelSettings(flags: TuneFlags, config: ConfigFile): ModelSettings {
  const settings = modelSettings(config);
  const planning = planningModelSettings(config, settings);
  if (planning === undefined || flags.only === 'select') return settings;
  if (flags.only === 'plan') return planning;
  const message =
    'Planning has a model of its own: tune the prompts one after the other, --only select and --only plan.';
  throw new WinnowError('invalid_option', message);
}

function promptsOf({ only }: TuneFlags): TunedPrompt[] {
  return TUNED_PROMPTS.filter(
    (name) => only === undefined || name === (only === 'select' ? 'select-tools' : 'plan-steps'),
  );
}

function renderOutcome({ prompts, notices }: TuneReport): string {
  const head = ['round', 'candidate', 'tokens', 'gain on training', 'gain on choosing', 'verdict'];
  return [...notices, ...prompts.map((one) => renderPrompt(one, head))].join('\n\n');
}

function renderPrompt({ prompt, isChanged, reason, heldBack, tried }: PromptReport, head: readonly string[]): string {
  const rows = tried.map(({ round, about, grownTokens, training, choosing, verdict, issues = [] }) => [
    ...[String(round), about, String(grownTokens ?? ''), training ? renderGain(training) : ''],
    ...[choosing ? renderGain(choosing) : '', [verdict, ...issues].join(': ')],
  ]);
  return [
    `${prompt}: ${isChanged ? 'changed' : 'left as it was'}. ${reason}`,
    ...(heldBack ? [`  held back: ${renderGain(heldBack)}`] : []),
    ...(rows.length > 0 ? [renderTable(head, rows, { leftColumns: 2 })] : []),
  ].join('\n');
}

/** `+0.120 (0.031 to 0.210; 5 better, 1 worse of 24)` */
function renderGain({ mean, low, high, higher, lower, count }: Difference): string {
  const sign = mean > 0 ? '+' : '';
  return `${sign}${mean.toFixed(3)} (${low.toFixed(3)} to ${high.toFixed(3)}; ${higher} better, ${lower} worse of ${count})`;
}
