/** Public benchmarks that lie beside the repository; tests of them are skipped, saying so, where they are missing. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseTool, type Tool } from '../../src/core/catalog/tool.js';

export interface BenchmarkStep {
  readonly id: string;
  readonly tool: string;
  readonly arguments: Readonly<Record<string, unknown>>;
}

const folder = process.env.WINNOW_BENCHMARKS ?? '../shared/benchmarks';

export const benchmarksAreThere = existsSync(join(folder, 'nestful.tools.json'));
export const whereBenchmarks = benchmarksAreThere ? '' : ` (skipped: no benchmarks at WINNOW_BENCHMARKS or ${folder})`;

const loaded = new Map<string, readonly Tool[]>();

/** Read once a test file: equal tools are the same objects, so what is prepared for one is kept. */
export function loadBenchmarkTools(set: string): readonly Tool[] {
  const tools = loaded.get(set) ?? readTools(set);
  loaded.set(set, tools);
  return tools;
}

function readTools(set: string): Tool[] {
  const entries: unknown = JSON.parse(readFileSync(join(folder, `${set}.tools.json`), 'utf8'));
  if (!Array.isArray(entries)) throw new Error(`${set}.tools.json is no list`);
  return entries.flatMap((entry, index) => {
    const parsed = parseTool(entry, { origin: set, index });
    return parsed.ok ? [parsed.tool] : [];
  });
}

/** The gold steps whose arguments are all given, not taken from an earlier step. */
export function loadBenchmarkSteps(set: string): BenchmarkStep[] {
  const lines = readFileSync(join(folder, `${set}.cases.jsonl`), 'utf8')
    .trim()
    .split('\n');
  return lines.flatMap((line) => {
    const { id, expectedSteps = [] } = JSON.parse(line);
    const steps: BenchmarkStep[] = expectedSteps.map((step: BenchmarkStep) => ({ ...step, id }));
    return steps.filter((step) => step.arguments && !JSON.stringify(step.arguments).includes('"$'));
  });
}
