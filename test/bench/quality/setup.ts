/** Small sets on the disk, a model that knows their answers, and the command run in this process. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseTool, type Tool } from '../../../src/core/catalog/tool.js';
import type { CompletionRequest, Prompt } from '../../../src/core/model/model.js';
import { createScriptedModel, type ScriptedAnswer, type ScriptedModel } from '../../support/scripted-model.js';
import { temporaryFolder } from '../../support/temporary-folder.js';
import { main } from './main.js';
import type { MetricName, Outcome } from './outcome.js';
import { noSpent } from './remembered-model.js';

export const NAMES = ['read_level', 'read_rain', 'find_station', 'send_mail', 'book_room', 'play_song'] as const;
const OTHERS = Array.from({ length: 70 }, (_, place) => `other_${place}`);

export const ENTRIES = [...NAMES, ...OTHERS].map((name) => ({
  name,
  description: `Does ${name.replace('_', ' ')}.`,
  inputSchema: {
    type: 'object',
    properties: { about: { type: 'string', description: 'what it is about, in a few words' } },
    required: ['about'],
  },
}));

export const TOOLS: readonly Tool[] = ENTRIES.flatMap((entry, index) => {
  const parsed = parseTool(entry, { origin: 'tools.json', index });
  return parsed.ok ? [parsed.tool] : [];
});

const ask = (name: string) => `Please ${name.replace('_', ' ')}`;
const CASES = {
  select: NAMES.map((name, place) => ({ id: `c${place}`, query: ask(name), expectedTools: [name] })),
  offered: NAMES.map((name, place) => ({
    id: `o${place}`,
    query: ask(name),
    expectedTools: [name],
    candidates: [name, `other_${place}`],
  })),
  irrelevant: NAMES.map((name, place) => ({
    id: `i${place}`,
    query: `Nothing can do this, ${place}`,
    expectedTools: [],
    candidates: [name],
  })),
  plans: NAMES.slice(0, 4).map((name, place) => ({
    id: `p${place}`,
    query: ask(name),
    expectedTools: [name],
    expectedSteps: [{ tool: name, arguments: { about: 'all' } }],
    expectedEdges: [],
  })),
} as const;

/** Folder with the files of the public sets, in small. */
export function aBenchmarkFolder(): string {
  const folder = temporaryFolder();
  const sets = {
    restbench: CASES.select,
    metatool: CASES.select,
    bfcl: CASES.offered,
    bfcl_irrelevance: CASES.irrelevant,
    nestful: CASES.plans,
  };
  for (const [name, cases] of Object.entries(sets)) {
    writeFileSync(join(folder, `${name}.tools.json`), JSON.stringify(ENTRIES));
    writeFileSync(join(folder, `${name}.cases.jsonl`), cases.map((one) => JSON.stringify(one)).join('\n'));
  }
  return folder;
}

/** What a request wants, as `ask` words it. */
const wantedBy = (user: string) => NAMES.find((name) => user.includes(name.replace('_', ' '))) ?? 'none';

/** Always right: it names, calls or plans with the one tool that is asked for, or says that there is none. */
export function rightAnswer({ schema, prompt }: CompletionRequest): string {
  const wanted = wantedBy(prompt.user);
  const isThere = wanted !== 'none' && prompt.system.includes(wanted);
  const properties = Object(schema?.schema.properties);
  if ('tools' in properties) return JSON.stringify({ tools: wanted === 'none' ? [] : [wanted] });
  if ('selected_tools' in properties) return JSON.stringify({ selected_tools: [wanted], reason: '' });
  if (!schema) return isThere ? `<tool_call>\n{"name": "${wanted}", "arguments": {}}\n</tool_call>` : 'I can not.';
  if (!isThere) return JSON.stringify({ kind: 'unplannable', reason: 'no tool fits' });
  return JSON.stringify({ kind: 'plan', steps: [{ id: 's1', tool: wanted, arguments: { about: 'all' } }] });
}

/** @param likeliest the name that a reading finds */
export function aModel(
  answer: (request: CompletionRequest) => ScriptedAnswer = rightAnswer,
  likeliest: (prompt: Prompt) => string = ({ user }) => wantedBy(user),
): ScriptedModel {
  return createScriptedModel({
    id: 'scripted',
    preferredAnswer: 'rank',
    answers: answer,
    readers: ({ prompt }) => ({ probabilities: new Map([[likeliest(prompt), 0.9]]) }),
  });
}

export interface Run {
  readonly stdout: string;
  readonly stderr: string;
  /** What the command says of itself. */
  readonly isWhole: boolean;
  readonly outcomes: readonly Outcome[];
  /** Of the one row. */
  mean(set: string, contestant: string, metric: MetricName): number | undefined;
}

export interface RunOptions {
  folder: string;
  model: ScriptedModel;
  args: readonly string[];
  signal?: AbortSignal;
}

export async function runQuality({ folder, model, args, signal }: RunOptions): Promise<Run> {
  const told = { stdout: '', stderr: '' };
  const sink = (name: keyof typeof told) => ({
    write(text: string) {
      told[name] += text;
      return true;
    },
  });
  const isWhole = await main(['--out', join(folder, 'out'), ...args], {
    stdout: sink('stdout'),
    stderr: sink('stderr'),
    signal: signal ?? new AbortController().signal,
    openModel: async () => model,
    benchmarks: folder,
  });
  const json = JSON.parse(readFileSync(join(folder, 'out', 'quality.json'), 'utf8'));
  const rows: { set: string; contestant: string; metrics: Partial<Record<MetricName, { mean: number }>> }[] = json.rows;
  return {
    ...told,
    isWhole,
    outcomes: json.outcomes,
    mean: (set, contestant, metric) =>
      rows.find((row) => row.set === set && row.contestant === contestant)?.metrics[metric]?.mean,
  };
}

/** An outcome by what the test is about. */
export function anOutcome(more: Partial<Outcome> = {}): Outcome {
  return {
    set: 'restbench',
    contestant: 'winnow',
    id: 'c1',
    query: 'the level of the lake',
    status: 'answered',
    tools: ['read_level'],
    missing: [],
    scores: { recall: 1 },
    schemaTokens: { all: 1_000, loaded: 100 },
    spent: noSpent(),
    ...more,
  };
}

/** One outcome a score, with the ids c0, c1 and so on. */
export function outcomesOf(set: string, contestant: string, scores: readonly Outcome['scores'][]): Outcome[] {
  return scores.map((one, place) => anOutcome({ set, contestant, id: `c${place}`, scores: one }));
}
