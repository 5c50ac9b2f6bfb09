/** `winnow plan` and `winnow select`: a request from the command line. SIGINT cancels it. */
import type { Command } from 'commander';
import { WinnowError } from '../../core/errors.js';
import type { PlanRequest } from '../../core/request.js';
import type { TraceEvent } from '../../core/result.js';
import { command, type FlagsOf, text, valued } from '../command.js';
import { calendarDay, JSON_OUTPUT, PLANNING, USER } from '../flags.js';
import { parseJson, readJson, readText } from '../input.js';
import { createStopSignal } from '../interrupts.js';
import { printable, printableLine, renderJson } from '../output.js';
import type { Setup } from '../set-up.js';

const FLAGS = {
  ...PLANNING,
  history: text('--history <file>', 'earlier messages as a JSON array of {role, content}'),
  entities: text('--entities <json>', 'what is known already, as a JSON object'),
  intent: text('--intent <name>', 'the business sub-intent'),
  ...USER,
  today: valued('--today <date>', 'the date of the user, YYYY-MM-DD', calendarDay),
  ...JSON_OUTPUT,
};
type Flags = FlagsOf<typeof FLAGS>;
type Call = { signal: AbortSignal; onEvent: (event: TraceEvent) => void };
type Answer = (setup: Setup, request: PlanRequest, call: Call) => Promise<{ result: unknown; text: string }>;

export const planCommand = (): Command =>
  requestCommand('plan', 'write a checked plan for a request', async ({ planner }, request, call) => {
    const { renderPlan } = await import('../render-result.js');
    const result = await planner.plan(request, call);
    return { result, text: renderPlan(result) };
  });

export const selectCommand = (): Command =>
  requestCommand('select', 'only choose the tools for a request', async ({ planner }, request, call) => {
    const { renderSelection } = await import('../render-result.js');
    const result = await planner.select(request, call);
    return { result, text: renderSelection(result) };
  });

function requestCommand(name: 'plan' | 'select', about: string, answer: Answer): Command {
  return command({
    name,
    words: '[request...]',
    about: `${about}; - reads it from stdin`,
    flags: FLAGS,
    examples: [
      `winnow ${name} "What is the weather in Oslo?" --catalog tools.json`,
      `winnow ${name} "Delete invoice 120" -c winnow.yaml --json`,
      `OPENAI_API_KEY=… winnow ${name} "Book a table for two" --catalog openapi.yaml --model gpt-4o-mini`,
    ],
    async run(words, flags) {
      const interrupt = createStopSignal(['SIGINT']);
      try {
        const { parseRequest } = await import('../../core/request.js');
        const request = await toRequest(oneRequest(name, words), flags);
        // Refuses a bad request before a model is fetched.
        parseRequest(request);
        await answerRequest(request, { flags, answer, signal: interrupt.signal });
      } finally {
        interrupt.forget();
      }
    },
  }).usage('[options] "<request>"');
}

/** A shell splits a request without quotes into words. @throws WinnowError `invalid_option` */
function oneRequest(name: string, words: readonly string[]): string {
  const [first, ...others] = words;
  if (first === undefined)
    throw new WinnowError('invalid_option', `The request is missing: winnow ${name} "What is the weather in Oslo?"`);
  if (others.length > 0)
    throw new WinnowError('invalid_option', `Put the request in quotes: winnow ${name} "${words.join(' ')}"`);
  return first;
}

async function toRequest(words: string, flags: Flags): Promise<PlanRequest> {
  const { history, entities, intent, user, today, maxTools } = flags;
  const given = {
    message: words === '-' ? await readText('-') : words,
    // The form is checked later, with the whole request.
    history: history === undefined ? undefined : await readJson('--history: the file', history),
    entities: entities === undefined ? undefined : parseJson(entities, '--entities:'),
    ...{ intent, user, today },
    // The planner's option alone does not bind where selection is skipped.
    maxTools,
  };
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)) as PlanRequest;
}

/** Printed where no terminal shows the stages. */
const PATIENCE = 'The local model reads the tools: the first request on a catalogue takes a minute or more.\n';

async function answerRequest(
  request: PlanRequest,
  { flags, answer, signal }: { flags: Flags; answer: Answer; signal: AbortSignal },
): Promise<void> {
  const { setUp } = await import('../set-up.js');
  const { exampleNotice } = await import('../load-tools.js');
  const { modelSettings } = await import('../model-settings.js');
  const { createStageSpinner } = await import('../progress.js');
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
    const { result, text: shown } = await answer(setup, request, { signal, onEvent });
    spinner.stop();
    process.stderr.write(printable(failures.join('')));
    const notices = setup.isExample ? [exampleNotice(setup.loaded.catalog.name)] : [];
    if (flags.json) process.stderr.write(notices.join(''));
    process.stdout.write(`${flags.json ? renderJson(result) : printable([...notices, shown].join('\n'))}\n`);
  } finally {
    spinner.stop();
    await setup.close();
  }
}
