/** The catalogues and cases that come with the package, as tests use them. */
import { readFileSync } from 'node:fs';
import { type LoadedCatalog, loadCatalog } from '../../src/core/catalog/load.js';
import type { Message } from '../../src/core/request.js';

export const FIXTURES = ['hydrology', 'coding-agent', 'assistant'] as const;
export type FixtureName = (typeof FIXTURES)[number];

export interface FixtureStep {
  readonly tool: string;
  readonly arguments: Readonly<Record<string, unknown>>;
  /** Values that count as right too; `""` stands for leaving the argument out. */
  readonly argumentsAnyOf?: Readonly<Record<string, readonly unknown[]>>;
}

export interface FixtureCase {
  readonly id: string;
  readonly query: string;
  readonly lang: string;
  readonly user?: string;
  readonly history?: readonly Message[];
  readonly entities?: Readonly<Record<string, unknown>>;
  readonly expectedTools: readonly string[];
  /** `"$0.field"` is the result of the first step. */
  readonly expectedSteps: readonly FixtureStep[];
  readonly expectedEdges: readonly (readonly [number, number])[];
  readonly expectedKind: string;
  readonly alternatives?: readonly (readonly string[])[];
  /** What the request keeps: no argument may hold it. */
  readonly excluded?: readonly string[];
  readonly meta?: { readonly catalog?: string };
  readonly tags: readonly string[];
}

const catalogs = new Map<string, Promise<LoadedCatalog>>();

/** Read once for all tests of a file. */
export function loadCatalogFile(path: string): Promise<LoadedCatalog> {
  const loaded = catalogs.get(path) ?? loadCatalog({ sources: [path] });
  catalogs.set(path, loaded);
  return loaded;
}

export const loadFixture = (name: FixtureName) => loadCatalogFile(`fixtures/catalogs/${name}.json`);

export function loadFixtureCases(
  name: FixtureName | 'exclusions' | 'first' | 'back-office' | 'operations',
): FixtureCase[] {
  const lines = readFileSync(`fixtures/cases/${name}.jsonl`, 'utf8').trim().split('\n');
  return lines.map((line): FixtureCase => JSON.parse(line));
}

/** A query as an agent gives it to `tool_search`. */
export interface SearchCase {
  readonly id: string;
  readonly query: string;
  readonly lang: 'en' | 'zh';
  /** Any of them is right; none: the right answer is a question. */
  readonly expected: readonly string[];
  readonly part: string;
}

export function loadSearchCases(): SearchCase[] {
  const lines = readFileSync('fixtures/searches/coding-agent.jsonl', 'utf8').trim().split('\n');
  return lines.map((line): SearchCase => JSON.parse(line));
}

/** A value with `"$0.field"` written as Winnow does: `"${s1.field}"`. */
export function withReferences(value: unknown): unknown {
  if (typeof value === 'string') {
    return value.replace(
      /\$(\d+)((?:\.\w+|\[\d+\])+)/gu,
      (_, step: string, path: string) => `\${s${Number(step) + 1}${path}}`,
    );
  }
  if (Array.isArray(value)) return value.map(withReferences);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, withReferences(inner)]));
}
