/** `winnow plan` and `winnow select`: a request from the command line. SIGINT cancels it. */
import type { Command } from 'commander';
import { WinnowError } from '../../core/errors.js';
import type { PlanRequest } from '../../core/request.js';
import type { TraceEvent } from '../../core/result.js';
import { command, type FlagsOf, valued } from '../command.js';
import { calendarDay, JSON_OUTPUT, PLANNING, USER } from '../flags.js';
import { parseJson, readText } from '../input.js';
import { createStopSignal } from '../interrupts.js';
import { printable, renderJson, writeLine } from '../output.js';
import type { Setup } from '../set-up.js';

const FLAGS = {
  ...PLANNING,
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
    about: `${about}, in words or as JSON as POST /v1/${name} takes it; - reads it from stdin`,
    flags: FLAGS,
    examples: [
      `winnow ${name} "What is the weather in Oslo?" --catalog tools.json`,
      `winnow ${name} "Delete invoice 120" -c winnow.yaml --json`,
      `winnow ${name} '{"message": "And tomorrow?", "history": [{"role": "user", "content": "Weather in Oslo"}]}'`,
      `OPENAI_API_KEY=… winnow ${name} "Book a table for two" --catalog openapi.yaml --model gpt-4o-mini`,
    ],
    async run(words, flags) {
      const interrupt = createStopSignal();
      try {
        // Refuses a bad request before a model is fetched.
        const request = await readRequest(oneRequest(name, words), flags);
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

/** A text that begins with a brace is the request as JSON. */
async function readRequest(words: string, { user, today }: Flags): Promise<PlanRequest> {
  const { parseRequest } = await import('../../core/request.js');
  const { withoutUndefined } = await import('../../core/catalog/schema/json.js');
  const text = words === '-' ? await readText('-') : words;
  const given = text.trimStart().startsWith('{') ? Object(parseJson(text, 'The request is')) : { message: text };
  const request = { ...given, ...withoutUndefined({ user, today }) };
  parseRequest(request);
  return request;
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
  const { createTerminalLine } = await import('../progress.js');
  const setup = await setUp(flags, { signal, stderr: process.stderr });
  const isLocal = modelSettings(setup.config).baseUrl === undefined;
  if (isLocal && !process.stderr.isTTY) process.stderr.write(PATIENCE);
  const line = createTerminalLine(process.stderr);
  line.show('reading the request');
  try {
    const failures: string[] = [];
    const onEvent = ({ stage, note }: TraceEvent) => {
      if (stage === 'fallback') failures.push(note);
      line.show(note);
    };
    const { result, text: shown } = await answer(setup, request, { signal, onEvent });
    line.clear();
    for (const failure of failures) writeLine(failure);
    const notices = setup.isExample ? [exampleNotice(setup.loaded.catalog.name)] : [];
    if (flags.json) process.stderr.write(notices.join(''));
    process.stdout.write(`${flags.json ? renderJson(result) : printable([...notices, shown].join('\n'))}\n`);
  } finally {
    line.clear();
    await setup.close();
  }
}
