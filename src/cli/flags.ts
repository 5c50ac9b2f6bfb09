/** Flags that several commands share, and parsers of their text. Flags of one command stand beside that command. */
import { InvalidArgumentError } from 'commander';
import { orUndefined } from '../core/errors.js';
import { type FlagsOf, list, text, toggle, valued } from './command.js';

export const CONFIG = {
  config: text('-c, --config <file>', 'configuration file, YAML or JSON (default: winnow.yaml of this folder)'),
  set: valued(
    '--set <key=value>',
    'a key of that file, such as store=agents.db or model.timeoutMs=9000; options.maxTools is maxTools; repeatable',
    assign,
  ),
};
export const JSON_OUTPUT = { json: toggle('--json', 'print JSON') };
export const CATALOG = { catalog: list('--catalog <source>', 'tools: a file, a folder of skills, or a URL') };
export const USER = {
  user: text('--user <name>', 'who asks: whose private tools are seen, and whom the policy judges'),
};
export const CALLER = { ...USER, role: list('--role <role>', 'role of the user, for the policy') };
export const BY = { by: text('--by <user>', 'who decides, for the audit') };

/** Flags of a planner: tools and models. */
export const PLANNING = {
  ...CONFIG,
  ...CATALOG,
  model: text('--model <name>', 'model at the endpoint, or in the local store'),
  baseUrl: text('--base-url <url>', 'OpenAI-compatible endpoint, such as http://127.0.0.1:8080/v1'),
};

export const STORE = {
  store: text('--store <file-or-url>', 'SQLite file or postgres:// URL with sessions and approvals'),
};
/** The flags that stand for keys of the configuration file. */
export type ConfigFlags = FlagsOf<typeof PLANNING & typeof STORE>;

/** `defaults=off,maxTools=8` -> `{defaults: false, maxTools: 8}`; parses numbers and true/false. */
export function assign(text: string, earlier: Record<string, unknown> | undefined): Record<string, unknown> {
  const pairs = text.split(/,(?=\s*[\w.-]+=)/u).map((pair): [string, unknown] => {
    const at = pair.indexOf('=');
    if (at < 1) throw new InvalidArgumentError('write it as name=value.');
    return [pair.slice(0, at).trim(), readValue(pair.slice(at + 1).trim())];
  });
  return { ...earlier, ...Object.fromEntries(pairs) };
}

function readValue(text: string): unknown {
  if (text === 'on' || text === 'true') return true;
  if (text === 'off' || text === 'false') return false;
  if (/^[[{]/u.test(text)) return orUndefined(() => JSON.parse(text)) ?? text;
  return /^-?\d+(?:\.\d+)?$/u.test(text) ? Number(text) : text;
}

export function calendarDay(text: string): string {
  if (/^\d{4}-\d{2}-\d{2}$/u.test(text) && timeOf(text)) return text;
  throw new InvalidArgumentError('must be a day of the calendar, YYYY-MM-DD.');
}

/** Returns an ISO time as the store writes it; a day means its start in UTC. */
export function instant(text: string): string {
  const time = /^\d{4}-\d{2}-\d{2}(?:T[\d:.]+Z)?$/u.test(text) ? timeOf(text) : undefined;
  if (time) return time;
  throw new InvalidArgumentError('write it as 2026-11-01 or 2026-11-01T00:00:00Z.');
}

/** Undefined for 30 February, which `Date` reads as a day of March. */
function timeOf(text: string): string | undefined {
  const time = new Date(text);
  const written = Number.isNaN(time.getTime()) ? '' : time.toISOString();
  return written.startsWith(text.slice(0, 10)) ? written : undefined;
}

export function wholeNumber(text: string): number {
  const value = Number(text);
  if (!Number.isInteger(value) || value < 1) throw new InvalidArgumentError('must be a whole number above 0.');
  return value;
}

const UNITS_IN_MS: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000 };

/** `90s`, `30m`, `1.5h` -> milliseconds. */
export function duration(text: string): number {
  const [, amount, unit = ''] = /^(\d+(?:\.\d+)?)([smh])$/u.exec(text.trim()) ?? [];
  const milliseconds = Number(amount) * (UNITS_IN_MS[unit] ?? Number.NaN);
  if (!(milliseconds > 0)) throw new InvalidArgumentError('write it in seconds, minutes or hours: 90s, 30m or 2h.');
  return milliseconds;
}
