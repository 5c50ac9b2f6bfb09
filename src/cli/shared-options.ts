/** Flags that plan, select, serve and others have in common. What they make is in `set-up.ts`: no flag should wait for it. */
import { readFile } from 'node:fs/promises';
import { type Command, InvalidArgumentError } from 'commander';

export interface SharedFlags {
  catalog?: string[];
  config?: string;
  strict?: boolean;
  set?: Record<string, unknown>;
  maxTools?: number;
  baseUrl?: string;
  model?: string;
  apiKeyEnv?: string;
  modelFile?: string;
  planningModel?: string;
  planningBaseUrl?: string;
  planningApiKeyEnv?: string;
  planningModelFile?: string;
  callLog?: string;
  callLogSecrets?: boolean;
  prompt?: Record<string, unknown>;
}

export function addSharedOptions(command: Command): Command {
  return command
    .option('-c, --catalog <source>', 'file, URL or folder with tools; may be given more than once', collect)
    .option('--config <file>', 'configuration file (YAML or JSON)')
    .option('--strict', 'refuse a catalogue with a wrong entry')
    .option(
      '--set <option=value>',
      'an option of the planner, such as answer=list; may be given more than once',
      assign,
    )
    .option('--max-tools <number>', 'most tools that the plan is made of', wholeNumber)
    .option('--prompt <name=file>', 'a prompt file in place of the default one', assign)
    .option('--base-url <url>', 'OpenAI-compatible endpoint, such as http://127.0.0.1:8080/v1')
    .option('--model <name>', 'model at the endpoint, or in the local store')
    .option('--api-key-env <variable>', 'name of the environment variable that holds the key')
    .option('--model-file <file>', 'a GGUF file of your own')
    .option(
      '--planning-model <name>',
      'another model for planning, at the same endpoint unless the next flag names one',
    )
    .option('--planning-base-url <url>', 'endpoint of the model for planning')
    .option('--planning-api-key-env <variable>', 'name of the environment variable that holds its key')
    .option('--planning-model-file <file>', 'a GGUF file of your own for planning')
    .option('--call-log <file>', 'write one JSON line a model call to this file')
    .option('--call-log-secrets', 'with --call-log: log prompts whole, also where a tool has secret arguments');
}

/** `-` is stdin. */
export async function readText(path: string): Promise<string> {
  if (path !== '-') return readFile(path, 'utf8');
  const parts: Buffer[] = [];
  for await (const part of process.stdin) parts.push(Buffer.from(part));
  return Buffer.concat(parts).toString('utf8');
}

export function collect(value: string, earlier: string[] | undefined): string[] {
  return [...(earlier ?? []), value];
}

/** `fill=off` -> `{fill: false}`; numbers and true/false are read as such. */
export function assign(text: string, earlier: Record<string, unknown> | undefined): Record<string, unknown> {
  const at = text.indexOf('=');
  if (at < 1) throw new InvalidArgumentError('write it as name=value.');
  return { ...earlier, [text.slice(0, at).trim()]: readValue(text.slice(at + 1).trim()) };
}

function readValue(text: string): unknown {
  if (text === 'on' || text === 'true') return true;
  if (text === 'off' || text === 'false') return false;
  return /^-?\d+(?:\.\d+)?$/u.test(text) ? Number(text) : text;
}

/** As text. */
export function calendarDay(text: string): string {
  const day = /^\d{4}-\d{2}-\d{2}$/u.test(text) ? new Date(`${text}T00:00:00Z`) : new Date(Number.NaN);
  const isThere = !Number.isNaN(day.getTime()) && day.toISOString().startsWith(text);
  if (!isThere) throw new InvalidArgumentError('must be a day of the calendar, YYYY-MM-DD.');
  return text;
}

export function wholeNumber(text: string): number {
  const value = Number(text);
  if (!Number.isInteger(value) || value < 1) throw new InvalidArgumentError('must be a whole number above 0.');
  return value;
}
