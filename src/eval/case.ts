/**
 * A case: a request and its expected answer. Files have one JSON object a line, as public benchmarks and `fixtures/cases` do;
 * parsing gives plain data that a queue can carry.
 */
import { createHash } from 'node:crypto';
import { z } from 'zod';
import { withoutUndefined } from '../core/catalog/schema/json.js';
import { messageOf, WinnowError } from '../core/errors.js';
import { findSlips } from '../core/nearest-name.js';
import { parse } from '../core/parse.js';
import { requestSchema } from '../core/request.js';
import { caseRecordSchema, expectedStepSchema, RESULT_KINDS } from './record.js';
import { lateReferences, referencedPlaces } from './references.js';

const names = z.array(z.string().min(1));
const alternatives = z.union([z.array(names), names]);
const { message, history, entities, intent, user, today, timeZone, locale } = requestSchema.shape;

/** A line of a file; public benchmarks keep their own fields in `meta`. */
const caseLineSchema = z.looseObject({
  id: z.string().min(1).optional().describe('Default: made of the request, so that it is the same in each run.'),
  query: message,
  lang: z.string().optional(),
  history,
  entities,
  intent,
  user,
  today,
  timeZone,
  locale,
  expectedTools: names.describe('Empty: no tool fits.'),
  expectedSteps: z
    .array(expectedStepSchema.extend({ arguments: z.record(z.string(), z.unknown()).optional() }))
    .optional()
    .describe('In order. A step without `arguments`: they are not known, and not judged.'),
  expectedEdges: z
    .array(z.tuple([z.int().min(0), z.int().min(0)]))
    .optional()
    .describe('Default: the references in the arguments.'),
  expectedKind: z.enum(RESULT_KINDS).optional().describe('Default: plan, or unplannable where no tool is expected.'),
  alternatives: alternatives.optional().describe('Whole sets of tools that are as good, or single tools.'),
  candidates: names.optional().describe('The tools that were offered for the case.'),
  excluded: names
    .optional()
    .describe('Values that the request keeps or leaves out: no argument of any step may hold one.'),
  ignoreCase: z.boolean().optional().describe('Argument values may differ in upper and lower case.'),
  tags: names.default([]),
  source: z.string().optional(),
  meta: z
    .looseObject({
      candidates: names.optional(),
      alternatives: alternatives.optional(),
      time: z.string().optional(),
      profile: z.string().optional(),
    })
    .optional(),
});
type CaseLine = z.output<typeof caseLineSchema>;

const text = z.string().exactOptional();

export const evaluationCaseSchema = z.object({
  id: z.string(),
  suite: z.string(),
  request: z.object({
    message: z.string(),
    history: history.unwrap().exactOptional(),
    entities: entities.unwrap().exactOptional(),
    intent: text,
    user: text,
    today: text,
    timeZone: text,
    locale: text,
  }),
  expected: caseRecordSchema.shape.expected,
  candidates: z.array(z.string()).exactOptional(),
  excluded: z.array(z.string()).exactOptional().describe('No argument of any step may hold one of these values.'),
  ignoreCase: z.boolean(),
  lang: text,
  tags: z.array(z.string()),
});
export type EvaluationCase = z.output<typeof evaluationCaseSchema>;

export interface CasePlace {
  suite: string;
  file: string;
  /** From 1. */
  line: number;
}

const KNOWN = new Set(Object.keys(caseLineSchema.shape));
/** Share of an unknown field's letters. Fields of other programs differ more. */
const MAX_SLIPS = 0.25;

/**
 * One line of a case file.
 * @returns the case, and the names of unknown fields, which are ignored.
 * @throws WinnowError `invalid_request` naming file, line and field.
 * @example
 * const line = '{"query": "Read a.txt", "expectedTools": ["file_read"]}';
 * const { case: one } = parseCase(line, { suite: 'mine', file: 'mine.jsonl', line: 1 });
 */
export function parseCase(text: string, place: CasePlace): { case: EvaluationCase; unknownFields: string[] } {
  const where = `${place.file}:${place.line}`;
  const line = readLine(text, where);
  const slips = findSlips(Object(line), [...KNOWN], MAX_SLIPS).map(([key, meant]) => `${key}: did you mean ${meant}?`);
  const parsed = parse(caseLineSchema, line, { root: 'line' });
  const issues = [...slips, ...(parsed.ok ? findContradictions(parsed.value) : parsed.issues)];
  if (!parsed.ok || issues.length > 0) throw badCase(where, issues);
  return {
    case: toCase(parsed.value, place.suite),
    unknownFields: Object.keys(parsed.value).filter((key) => !KNOWN.has(key)),
  };
}

function readLine(text: string, where: string): unknown {
  try {
    // `trim` also removes a byte order mark.
    return JSON.parse(text.trim());
  } catch (error) {
    throw badCase(where, [`line: not JSON (${messageOf(error)})`], error);
  }
}

function badCase(where: string, issues: readonly string[], cause?: unknown): WinnowError {
  const message = `${where} is no usable case: ${issues.join('; ')}. Mend the line, or take it out.`;
  return new WinnowError('invalid_request', message, { issues: issues.map((issue) => `${where} ${issue}`), cause });
}

function findContradictions({ expectedSteps: steps, expectedEdges: edges = [], expectedTools }: CaseLine): string[] {
  const count = steps?.length ?? 0;
  const outside = edges.flatMap(([from, to], place) =>
    from < to && to < count
      ? []
      : [`expectedEdges.${place}: [${from},${to}] must go forward between the ${count} expected steps`],
  );
  const missing = (steps ?? []).flatMap(({ tool }, place) =>
    expectedTools.includes(tool) ? [] : [`expectedSteps.${place}.tool: "${tool}" is not among expectedTools`],
  );
  const late = (steps ?? []).flatMap(({ arguments: given, argumentsAnyOf }, place) =>
    lateReferences({ arguments: given, argumentsAnyOf }, place).map(
      ({ path, text }) => `expectedSteps.${place}${path}: "${text}" refers to a step that is not earlier`,
    ),
  );
  return [...outside, ...missing, ...late];
}

function toCase(line: CaseLine, suite: string): EvaluationCase {
  const { query, meta = {}, history, intent, user, timeZone, locale, lang, excluded, ignoreCase = false, tags } = line;
  const entities = meta.profile === undefined ? line.entities : { profile: meta.profile, ...line.entities };
  const today = line.today ?? dateIn(meta.time);
  const request = { message: query, ...withoutUndefined({ history, entities, intent, user, today, timeZone, locale }) };
  const candidates = line.candidates ?? meta.candidates;
  return {
    id: line.id ?? idOf(request),
    suite,
    request,
    expected: toExpected(line),
    ...withoutUndefined({ candidates, excluded }),
    ignoreCase,
    ...withoutUndefined({ lang }),
    tags,
  };
}

/** Made of the request alone, so that a corrected expectation keeps the id. */
function idOf(request: EvaluationCase['request']): string {
  return `case-${createHash('sha256').update(JSON.stringify(request)).digest('hex').slice(0, 12)}`;
}

function toExpected(line: CaseLine): EvaluationCase['expected'] {
  const { expectedTools: tools, expectedKind: kind } = line;
  const sets = [line.alternatives, line.meta?.alternatives].flatMap((given) => toSets(given ?? [], tools));
  const steps = line.expectedSteps?.map(({ arguments: given, ...step }) => ({
    ...step,
    arguments: given ?? {},
    ...(given === undefined ? { argumentsUnknown: true as const } : {}),
  }));
  const edges = line.expectedEdges ?? (steps?.some((step) => !step.argumentsUnknown) ? edgesIn(steps) : undefined);
  return { tools, ...withoutUndefined({ alternatives: sets.length > 0 ? sets : undefined, steps, edges, kind }) };
}

/** Expands a single name to sets in which it replaces one of the expected tools. */
function toSets(given: readonly (string | string[])[], tools: readonly string[]): string[][] {
  return given.flatMap((one) => {
    if (typeof one !== 'string') return [one];
    return tools.filter((tool) => tool !== one).map((tool) => tools.map((other) => (other === tool ? one : other)));
  });
}

function edgesIn(steps: readonly { arguments: Record<string, unknown> }[]): [number, number][] {
  return steps.flatMap((step, to) => referencedPlaces(step.arguments, to).map((from): [number, number] => [from, to]));
}

/** `今天是2026年05月12日，星期二。` -> `2026-05-12`: some benchmarks write the day in a sentence. */
function dateIn(text: string | undefined): string | undefined {
  const [, year, month, day] = /(\d{4})[-年/](\d{1,2})[-月/](\d{1,2})/u.exec(text ?? '') ?? [];
  return year && month && day ? `${year}-${month.padStart(2, '0')}-${day.padStart(2, '0')}` : undefined;
}
