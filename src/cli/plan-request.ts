/** A request from the command line, and its result for people or as JSON. SIGINT cancels it. */
import { readFile } from 'node:fs/promises';
import { messageOf, WinnowError } from '../core/errors.js';
import type { PlanRequest } from '../core/request.js';
import type { TraceEvent } from '../core/result.js';
import { exampleNotice } from './default-catalog.js';
import { modelSettings } from './model-settings.js';
import { printable, printableLine, renderJson } from './printable.js';
import { renderPlan } from './render-plan.js';
import { renderSelection } from './render-selection.js';
import { type Setup, setUp } from './set-up.js';
import { readText, type SharedFlags } from './shared-options.js';
import { createStageSpinner } from './stage-spinner.js';
import { createStopSignal } from './stop-signal.js';

export interface RequestFlags extends SharedFlags {
  history?: string;
  entities?: string;
  intent?: string;
  user?: string;
  today?: string;
  json?: boolean;
}

/** @param text the request; `-` is stdin */
export function printPlan(text: string, flags: RequestFlags): Promise<void> {
  return runRequest(text, flags, async ({ planner }, request, call) => {
    const result = await planner.plan(request, call);
    return { result, text: renderPlan(result) };
  });
}

/** @param text the request; `-` is stdin */
export function printSelection(text: string, flags: RequestFlags): Promise<void> {
  return runRequest(text, flags, async ({ planner }, request, call) => {
    const result = await planner.select(request, call);
    return { result, text: renderSelection(result) };
  });
}

/** Where no terminal shows the stages. */
const PATIENCE = 'The local model reads the tools: the first request on a catalogue takes a minute or more.\n';

type Call = { signal: AbortSignal; onEvent: (event: TraceEvent) => void };
type Run = (setup: Setup, request: PlanRequest, call: Call) => Promise<{ result: unknown; text: string }>;

async function runRequest(text: string, flags: RequestFlags, run: Run): Promise<void> {
  const interrupt = createStopSignal(['SIGINT']);
  try {
    await answer(await toRequest(text, flags), { flags, run, signal: interrupt.signal });
  } finally {
    interrupt.forget();
  }
}

async function answer(
  request: PlanRequest,
  { flags, run, signal }: { flags: RequestFlags; run: Run; signal: AbortSignal },
): Promise<void> {
  const setup = await setUp(flags, { signal, stderr: process.stderr });
  const isLocal = modelSettings(flags, setup.config).baseUrl === undefined;
  if (isLocal && !process.stderr.isTTY) process.stderr.write(PATIENCE);
  const spinner = createStageSpinner('reading the request', process.stderr);
  try {
    const failures: string[] = [];
    const onEvent = ({ stage, note }: TraceEvent) => {
      if (stage === 'fallback') failures.push(`${note}\n`);
      spinner.show(printableLine(note));
    };
    const { result, text } = await run(setup, request, { signal, onEvent });
    spinner.stop();
    process.stderr.write(printable(failures.join('')));
    const notices = setup.isExample ? [exampleNotice(setup.loaded.catalog.name)] : [];
    if (flags.json) process.stderr.write(notices.join(''));
    process.stdout.write(`${flags.json ? renderJson(result) : printable([...notices, text].join('\n'))}\n`);
  } finally {
    spinner.stop();
    await setup.close();
  }
}

async function toRequest(text: string, flags: RequestFlags): Promise<PlanRequest> {
  const message = text === '-' ? await readText('-') : text;
  return {
    message,
    ...(flags.history === undefined
      ? {}
      : { history: parseJson('--history', await readFileOf('--history', flags.history)) as PlanRequest['history'] }),
    ...(flags.entities === undefined
      ? {}
      : { entities: parseJson('--entities', flags.entities) as PlanRequest['entities'] }),
    ...(flags.intent === undefined ? {} : { intent: flags.intent }),
    ...(flags.user === undefined ? {} : { user: flags.user }),
    ...(flags.today === undefined ? {} : { today: flags.today }),
    // As an option of the planner alone it would not bind where all visible tools are taken.
    ...(flags.maxTools === undefined ? {} : { maxTools: flags.maxTools }),
  };
}

async function readFileOf(flag: string, path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    throw new WinnowError('invalid_option', `${flag}: the file ${path} can't be read.`, { cause: error });
  }
}

/** The form is checked with the whole request. */
function parseJson(flag: string, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new WinnowError('invalid_option', `${flag}: not JSON (${messageOf(error)}).`, { cause: error });
  }
}
