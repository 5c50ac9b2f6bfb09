/** Summary of a run: its settings, its progress, and metrics with intervals. */
import { createHash } from 'node:crypto';
import { z } from 'zod';
import type { Catalog } from '../core/catalog/catalog.js';
import { WinnowError } from '../core/errors.js';
import { dayIn } from '../core/planning/times.js';

export interface MetricMeaning {
  /** For people, for example "Recall at 8". */
  readonly label: string;
  readonly group: 'selection' | 'plan' | 'cost' | 'time';
  readonly unit: 'fraction' | 'tokens' | 'milliseconds';
  /** none: a neutral metric. */
  readonly better: 'higher' | 'lower' | 'none';
  /** One of the main metrics of a run. */
  readonly primary?: boolean;
}

export interface RunMetric extends MetricMeaning {
  readonly name: string;
  /** Mean over cases, each the mean of its repeats. null: it applies to no case. */
  readonly mean: number | null;
  /** Ends of the 95 % interval: bootstrap; Wilson where all cases agree at 0 or 1. */
  readonly low: number | null;
  readonly high: number | null;
  /** Cases to which it applies. */
  readonly count: number;
}

/** Counts of cases and repeats. Some answered ones are neither right nor wrong, for example with a skipped selection. */
export type RunCounts = Readonly<Record<'done' | 'answered' | 'errors' | 'right' | 'wrong', number>>;

/** A set of cases before its first case. */
export interface RunSuite {
  readonly name: string;
  readonly catalog: string;
  readonly tools: number;
  readonly caseHash: string;
}

/** The summary's part that is known before the first case. */
export interface RunStart {
  readonly name: string;
  /** ISO time. */
  readonly startedAt: string;
  readonly model: string;
  /** All that changes results; a resumed run must have the same. */
  readonly settings: Settings;
  readonly promptHashes: Readonly<Record<string, string>>;
  /** Cases times repeats. */
  readonly planned: number;
  readonly cases: number;
  readonly suites: readonly RunSuite[];
}

export interface RunSummary extends RunStart {
  readonly format: 1;
  readonly endedAt?: string;
  /** Cases are missing: continue with --resume. */
  readonly interrupted: boolean;
  readonly counts: RunCounts;
  /** The commonest error of cases, with the message of its first occurrence. */
  readonly commonestError?: { readonly code: string; readonly message: string; readonly count: number };
  /** Cause of wrong cases -> their number, most frequent first. */
  readonly causes: Readonly<Record<string, number>>;
  readonly metrics: readonly RunMetric[];
  readonly suites: readonly (RunSuite & { readonly counts: RunCounts; readonly metrics: readonly RunMetric[] })[];
}

export type Settings = Readonly<Record<string, unknown>>;

/** Id of the selection model, joined with the planning model where there is one. */
export function pairId(selection: string, planning: string | undefined): string {
  return planning === undefined ? selection : `${selection} + ${planning}`;
}

/** Day of the cases without one: the given day, else that of the resumed run, else today on this machine. */
export function dayOf(given: string | undefined, earlier: Settings | undefined): string {
  return given ?? (typeof earlier?.today === 'string' ? earlier.today : dayIn(undefined));
}

/** Hashes of the sets' contents, by name. */
export function hashesOfSets(
  suites: readonly { name: string; catalog: Catalog }[],
  { hashes }: { hashes: Readonly<Record<string, string>> },
): Settings {
  const hash = (text = '') => text.slice(0, 16);
  return Object.fromEntries(
    suites.map(({ name, catalog }) => [name, { catalog: hash(catalog.fingerprint), cases: hash(hashes[name]) }]),
  );
}

/** Hashes JSON values. */
export function hashOf(...parts: readonly unknown[]): string {
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, 16);
}

/** Settings as they look after saving and reading. */
export function toSettings(values: Settings): Settings {
  return JSON.parse(JSON.stringify(values));
}

/** @throws WinnowError `invalid_option` naming each setting in which a resumed run differs */
export function refuseOtherSettings(there: Settings, here: Settings): void {
  const issues = differencesOf(there, here);
  if (issues.length === 0) return;
  const message = `The run can't go on with other settings: ${issues.join('; ')}. Give the same flags, or another --out.`;
  throw new WinnowError('invalid_option', message, { issues });
}

/** Paths at which two settings differ, each with both values, for example `options.maxTools: 8 there, 5 here`. */
export function differencesOf(there: unknown, here: unknown, path = ''): string[] {
  if (JSON.stringify(there) === JSON.stringify(here)) return [];
  const isNested = (value: unknown) => typeof value === 'object' && value !== null;
  const show = (value: unknown) => (JSON.stringify(value) ?? 'nothing').slice(0, 80);
  if (!isNested(there) || !isNested(here)) return [`${path || 'settings'}: ${show(there)} there, ${show(here)} here`];
  const [one, other] = [new Map(Object.entries(Object(there))), new Map(Object.entries(Object(here)))];
  const keys = new Set([...one.keys(), ...other.keys()]);
  return [...keys].flatMap((key) => differencesOf(one.get(key), other.get(key), path === '' ? key : `${path}.${key}`));
}

const onlySchema = z.enum(['all', 'select', 'plan']).catch('all');
export type Only = z.infer<typeof onlySchema>;

/** The judged stages, which decide the meaning of `right`. */
export function onlyOf({ settings }: Pick<RunSummary, 'settings'>): Only {
  return onlySchema.parse(settings.only);
}
