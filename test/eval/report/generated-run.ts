/**
 * Believable runs by seed: the same seed gives the same records, made one by one, so that any number costs no memory.
 * They are judged as those of a real run are: metrics and causes have their real names.
 */
import { createHash } from 'node:crypto';
import type { SelectedTool, Selection, SourceName, Step } from '../../../src/core/result.js';
import { createRandom, type Random } from '../../../src/eval/random.js';
import { type CaseRecord, type ExpectedStep, noAnswer } from '../../../src/eval/record.js';
import { type Outcome, type Result, scoreCase } from '../../../src/eval/score-case.js';
import { withReferences } from '../../support/fixtures.js';
import { callsOf } from './generated-calls.js';
import { OTHER_TOOLS, PLACES, REQUESTS, type RequestForm } from './requests.js';

export interface GeneratedRun {
  records(): Generator<CaseRecord>;
  promptText(hash: string): string | undefined;
}

/** What goes wrong; the cause that it is given may be another, where a request is too short for the flaw. */
export type Flaw =
  | 'none'
  | 'not-ranked'
  | 'cap'
  | 'wrong-argument'
  | 'wrong-reference'
  | 'missing-step'
  | 'extra-step'
  | 'plan-invalid'
  | 'error';

const FLAWS: readonly [Flaw, number][] = [
  ['none', 0.6],
  ['not-ranked', 0.13],
  ['wrong-argument', 0.09],
  ['missing-step', 0.05],
  ['extra-step', 0.04],
  ['cap', 0.03],
  ['wrong-reference', 0.03],
  ['plan-invalid', 0.015],
  ['error', 0.015],
];
/** Of each tool. */
const SCHEMA_TOKENS = 140;

export function generateRun({
  cases,
  seed = 1,
  repeats = 1,
}: {
  cases: number;
  seed?: number;
  repeats?: number;
}): GeneratedRun {
  const prompts = new Map<string, string>();
  const keep = (text: string): string => {
    const hash = createHash('sha256').update(text).digest('hex').slice(0, 16);
    prompts.set(hash, text);
    return hash;
  };
  return {
    *records() {
      for (let number = 0; number < cases; number += 1) {
        for (let repeat = 0; repeat < repeats; repeat += 1) {
          const random = createRandom(seed * 1_000_003 + number * 31 + repeat);
          const flaw = pickFlaw(random());
          yield createRecord({ number, repeat, flaw, random, keep });
        }
      }
    },
    promptText: (hash) => prompts.get(hash),
  };
}

export interface RecordParts {
  number: number;
  repeat?: number;
  flaw?: Flaw;
  random?: Random;
  keep?: (text: string) => string;
}

export function createRecord({
  number,
  repeat = 0,
  flaw = 'none',
  random = createRandom(number),
  keep = () => '0123456789abcdef',
}: RecordParts): CaseRecord {
  const form = REQUESTS[number % REQUESTS.length] as RequestForm;
  const place = PLACES[Math.floor(number / REQUESTS.length) % PLACES.length] ?? PLACES[0];
  if (place === undefined) throw new Error('There is no place.');
  const expectedSteps = form.steps(place);
  const expectedTools = [...new Set(expectedSteps.map(({ tool }) => tool))];
  const isPossible = expectedTools.length > 0 || flaw === 'error';
  const real = isPossible ? flaw : 'none';
  const tools = selectTools(expectedTools, real, random);
  const steps = form.kind || real === 'plan-invalid' ? undefined : writeSteps(expectedSteps, real, random);
  const milliseconds = { selection: 900 + Math.round(random() * 2200), planning: 4000 + Math.round(random() * 9000) };
  const query = form.query(place);
  const usage = {
    selection: { calls: 1, read: 60 + Math.round(random() * 80), cached: 1870, written: 12 + tools.length * 6 },
    planning: {
      calls: 1,
      read: 500 + tools.length * 90 + Math.round(random() * 400),
      cached: 210,
      written: 40 + 35 * (steps?.length ?? 1),
    },
    schemaTokens: { all: 6398, loaded: SCHEMA_TOKENS * tools.length },
  };
  const expected: CaseRecord['expected'] = {
    tools: expectedTools,
    ...(form.alternatives ? { alternatives: form.alternatives.map((set) => [...set]) } : {}),
    steps: expectedSteps,
    edges: edgesOf(expectedSteps),
    kind: form.kind ?? 'plan',
  };
  const selection: Selection = {
    mode: random() < 0.03 ? 'fallback' : tools.length === 0 ? 'none' : 'selected',
    reason: form.lang === 'zh' ? '先查测站编码，再按编码查询。' : 'The code comes first, then the reading.',
    tools,
    dropped: real === 'cap' ? [{ name: expectedTools.at(-1) ?? '', reason: 'cap' }] : [],
    leftOut: 0,
  };
  const result: Result = {
    kind: real === 'plan-invalid' ? 'plan_invalid' : (form.kind ?? 'plan'),
    ...(steps ? { steps, levels: levelsOf(steps) } : {}),
    text: form.kind === 'clarification' ? 'Which station, and which threshold?' : query,
    repaired: random() < 0.06,
  };
  return {
    id: `hydrology-${String(number + 1).padStart(4, '0')}`,
    repeat,
    query,
    lang: form.lang,
    tags: [...form.tags],
    ...(form.followsUp
      ? {
          history: [
            { role: 'user' as const, content: `Rain of the last 24 hours at ${place.en}?` },
            { role: 'assistant' as const, content: '18.5 mm fell in the last 24 hours.' },
          ],
        }
      : {}),
    ...(form.lang === 'zh' && expectedSteps.length > 1 ? { entities: { object: place.zh } } : {}),
    expected,
    ...(real === 'error'
      ? noAnswer({ code: 'model_timeout', message: 'The model did not answer in 30 s.', issues: [] })
      : { outcome: 'answered', ...judge({ expected, selection, result, usage }), selection, rung: 'whole', result }),
    usage,
    milliseconds: { selection: milliseconds.selection, total: milliseconds.selection + milliseconds.planning + 12 },
    calls: callsOf({ query, tools, steps, milliseconds, usage, keep, isError: real === 'error' }),
  };
}

function judge({
  usage,
  ...given
}: Pick<Outcome, 'expected' | 'selection' | 'result'> & Pick<CaseRecord, 'usage'>): Pick<
  CaseRecord,
  'scores' | 'cause' | 'comparison'
> {
  const { scores, cause, comparison } = scoreCase({
    ...given,
    ignoreCase: false,
    defaultOf: () => undefined,
    schemaTokens: usage.schemaTokens,
    isVisible: () => true,
  });
  return { ...(comparison ? { comparison } : {}), scores, ...(cause === undefined ? {} : { cause }) };
}

function selectTools(expected: readonly string[], flaw: Flaw, random: Random): SelectedTool[] {
  if (expected.length === 0) return [];
  const needed = flaw === 'not-ranked' || flaw === 'cap' ? expected.slice(0, -1) : expected;
  const room = Math.min(8 - needed.length, 3 + Math.floor(random() * 4));
  const others = shuffle(OTHER_TOOLS, random).slice(0, room);
  const order = [...needed];
  for (const other of others) order.splice(Math.floor((0.35 + 0.65 * random()) * (order.length + 1)), 0, other);
  return order.map((name, at): SelectedTool => {
    if (name === 'lookup_station_code' && random() < 0.8)
      return { name, via: 'producer', serves: 'query_reservoir_last.stcd' };
    const isKeyword = random() < (needed.includes(name) ? 0.12 : 0.5);
    if (isKeyword) return { name, via: 'keyword', rank: at + 1, fill: true };
    return {
      name,
      via: 'model',
      rank: at + 1,
      probability: Math.round((0.9 / (at + 1)) * (0.7 + 0.3 * random()) * 1000) / 1000,
    };
  });
}

function shuffle(names: readonly string[], random: Random): string[] {
  const keyed = names.map((name) => ({ name, key: random() }));
  return keyed.sort((one, other) => one.key - other.key).map(({ name }) => name);
}

function writeSteps(expected: readonly ExpectedStep[], flaw: Flaw, random: Random): Step[] {
  const steps = expected.map(({ tool, arguments: values }, at) =>
    toStep(`s${at + 1}`, tool, Object(withReferences(values))),
  );
  const last = steps.at(-1);
  if (!last) return steps;
  if (flaw === 'missing-step' || flaw === 'not-ranked' || flaw === 'cap')
    return steps.length > 1 ? steps.slice(0, -1) : [toStep('s1', 'list_stations', {})];
  if (flaw === 'extra-step')
    return [...steps, toStep(`s${steps.length + 1}`, 'render_basin_map', { theme: 'rain', hours: 24 })];
  if (flaw === 'wrong-argument') {
    const first = steps[0] ?? last;
    first.arguments =
      'name' in first.arguments
        ? { ...first.arguments, name: `${String(first.arguments.name)}${random() < 0.5 ? '坝上' : ' north'}` }
        : { limit: 10 };
  }
  if (flaw === 'wrong-reference' && steps.length > 1) {
    last.arguments = { ...last.arguments, stcd: '${s1.stnm}' };
  }
  return steps;
}

function toStep(id: string, tool: string, values: Record<string, unknown>): Step {
  const dependsOn = [...new Set([...JSON.stringify(values).matchAll(/\$\{(s\d+)/gu)].map((match) => match[1] ?? ''))];
  const from = Object.fromEntries(Object.entries(values).map(([name, value]) => [name, sourceOf(value)]));
  return { id, tool, arguments: values, from, purpose: '', dependsOn };
}

function sourceOf(value: unknown): SourceName {
  if (typeof value === 'number') return 'computed';
  return String(value).startsWith('${') ? 'step' : 'request';
}

function edgesOf(steps: readonly ExpectedStep[]): [number, number][] {
  return steps.flatMap(({ arguments: values }, to) =>
    [...new Set([...JSON.stringify(values).matchAll(/\$(\d+)\./gu)].map((match) => Number(match[1])))].map(
      (from): [number, number] => [from, to],
    ),
  );
}

function levelsOf(steps: readonly Step[]): string[][] {
  const roots = steps.filter(({ dependsOn }) => dependsOn.length === 0).map(({ id }) => id);
  const rest = steps.filter(({ dependsOn }) => dependsOn.length > 0).map(({ id }) => id);
  return rest.length > 0 ? [roots, rest] : [roots];
}

function pickFlaw(chance: number): Flaw {
  let left = chance;
  for (const [flaw, share] of FLAWS) {
    left -= share;
    if (left < 0) return flaw;
  }
  return 'none';
}
