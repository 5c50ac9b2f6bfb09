/** `winnow plan` and `winnow select`: a request from the command line, the result for people or as JSON. */
import { readFile } from 'node:fs/promises';
import { Command } from 'commander';
import yoctoSpinner from 'yocto-spinner';
import { WinnowError } from '../errors.js';
import type { PlanRequest } from '../request.js';
import { renderPlan } from './render-plan.js';
import { renderSelection } from './render-selection.js';
import { addSharedOptions, readText, type Setup, type SharedFlags, setUp } from './shared-options.js';

interface Flags extends SharedFlags {
  history?: string;
  entities?: string;
  intent?: string;
  user?: string;
  today?: string;
  json?: boolean;
}

export function planCommand(): Command {
  return requestCommand('plan', 'write a checked plan for a request', async ({ planner }, request, call) => {
    const result = await planner.plan(request, call);
    return { result, text: renderPlan(result) };
  });
}

export function selectCommand(): Command {
  return requestCommand('select', 'only choose the tools for a request', async ({ planner }, request, call) => {
    const result = await planner.select(request, call);
    return { result, text: renderSelection(result) };
  });
}

type Call = { signal: AbortSignal; onEvent: (event: { note: string }) => void };
type Run = (setup: Setup, request: PlanRequest, call: Call) => Promise<{ result: unknown; text: string }>;

function requestCommand(name: string, description: string, run: Run): Command {
  const command = new Command(name)
    .description(description)
    .argument('<request>', 'the request; - reads it from stdin');
  return addSharedOptions(command)
    .option('--history <file>', 'earlier messages as a JSON array of {role, content}')
    .option('--entities <json>', 'what is known already, as a JSON object')
    .option('--intent <name>', 'the business sub-intent')
    .option('--user <name>', 'whose private tools are visible')
    .option('--today <date>', 'the date of the user, YYYY-MM-DD')
    .option('--json', 'print the result as JSON')
    .action(async (text: string, flags: Flags) => {
      const cancel = new AbortController();
      const onInterrupt = () => cancel.abort();
      process.once('SIGINT', onInterrupt);
      try {
        await answer(await toRequest(text, flags), { flags, run, signal: cancel.signal });
      } finally {
        process.off('SIGINT', onInterrupt);
      }
    });
}

async function answer(
  request: PlanRequest,
  { flags, run, signal }: { flags: Flags; run: Run; signal: AbortSignal },
): Promise<void> {
  const setup = await setUp(flags, { signal, stderr: process.stderr });
  const spinner = process.stderr.isTTY
    ? yoctoSpinner({ text: 'reading the request', stream: process.stderr }).start()
    : undefined;
  const onEvent = ({ note }: { note: string }) => {
    if (spinner) spinner.text = note;
  };
  try {
    const { result, text } = await run(setup, request, { signal, onEvent });
    spinner?.stop();
    const isExample = setup.usedDefaultCatalog
      ? `Catalogue: the example "${setup.loaded.catalog.name}" that comes with Winnow; yours with --catalog.\n\n`
      : '';
    process.stdout.write(flags.json ? `${JSON.stringify(result, null, 2)}\n` : `${isExample}${text}\n`);
  } finally {
    spinner?.stop();
    await setup.close();
  }
}

async function toRequest(text: string, flags: Flags): Promise<PlanRequest> {
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
    throw new WinnowError(
      'invalid_option',
      `${flag}: not JSON (${error instanceof Error ? error.message : String(error)}).`,
      { cause: error },
    );
  }
}
