/**
 * The loop around every answer of a model: complete, parse, and repair once with the issues of the parser.
 * Mistakes of the model are returned as a value; errors of the server are thrown.
 */
import { orUndefined } from '../errors.js';
import type { NamedPrompt } from '../prompts/prompts.js';
import { oneLine } from '../visible-text.js';
import { addUsage, type Completion, type CompletionRequest, countFailed, type Model, type Usage } from './model.js';

export type Parsed<T> = { ok: true; value: T } | { ok: false; issues: readonly string[] };

interface StructuredRequest<T> {
  model: Model;
  request: CompletionRequest;
  parse: (completion: Completion) => Parsed<T> | Promise<Parsed<T>>;
  repair: NamedPrompt<'repair'>;
  usage: Usage;
  /** Called when a repair begins, with the issues. */
  onRepair?: (issues: readonly string[]) => void;
}

/** Returns the first usable answer; an unusable one is repaired once, with all its issues. */
export async function completeStructured<T>(asked: StructuredRequest<T>): Promise<Parsed<T>> {
  const { completion, parsed } = await attempt(asked, asked.request);
  if (parsed.ok) return parsed;
  asked.onRepair?.(parsed.issues);
  const { system, user } = asked.request.prompt;
  const issues = parsed.issues.map((issue) => `- ${oneLine(issue)}`).join('\n');
  const prompt = asked.repair.render({ system, user, answer: completion.text.slice(0, 8000), issues });
  return (await attempt(asked, { ...asked.request, prompt })).parsed;
}

async function attempt<T>({ model, parse, usage }: StructuredRequest<T>, request: CompletionRequest) {
  const completion = await countFailed(model.complete(request), usage);
  addUsage(usage, completion.usage);
  return { completion, parsed: await parse(completion) };
}

/**
 * The JSON value of an answer: bare, fenced, or with prose around it. Of several values the last that fits counts, since
 * drafts come first. The thoughts of a reasoning model are skipped. Invalid JSON is not corrected.
 *
 * @param fits whether a value has the requested form; if none has, the last is returned, so that its issues are reported
 */
export function readJson(text: string, fits: (value: unknown) => boolean = () => true): Parsed<unknown> {
  const answer = withoutThoughts(text).trim();
  const values = [text, answer, ...balanced(answer).reverse()].map(parseJson).filter((value) => value !== undefined);
  const [object = values[0]] = values.filter((value) => !Array.isArray(value));
  const value = values.find(fits) ?? object;
  if (value !== undefined) return { ok: true, value };
  return { ok: false, issues: [answer === '' ? 'the answer is empty' : 'the answer holds no complete JSON'] };
}

export function parseJson(text: string): unknown {
  return orUndefined(() => JSON.parse(text));
}

function withoutThoughts(text: string): string {
  const end = text.lastIndexOf('</think>');
  if (end >= 0) return text.slice(end + '</think>'.length);
  return /^\s*<think>/u.test(text) ? '' : text;
}

/** Where JSON may begin. `[1]` and `${s1.id}` are frequent in prose and are not answers. */
const START = /\{(?=\s*["}])|\[(?=\s*["{[\]])/gu;

/** Each outermost closed `{...}` or `[...]`, up to one that is cut: prose may have brackets, too. */
function balanced(text: string): string[] {
  const found: string[] = [];
  let end = 0;
  for (const { index } of text.matchAll(START)) {
    if (index < end) continue;
    const closed = closingOf(text, index);
    if (closed === undefined) break;
    end = closed;
    found.push(text.slice(index, end));
  }
  return found;
}

const PART = /"(?:\\.|[^"\\])*"?|[[\]{}]/gsu;

function closingOf(text: string, start: number): number | undefined {
  let depth = 0;
  for (const { index, 0: part } of text.slice(start).matchAll(PART)) {
    if (part === '{' || part === '[') depth++;
    else if ((part === '}' || part === ']') && --depth === 0) return start + index + 1;
  }
  return undefined;
}
