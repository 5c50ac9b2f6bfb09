/**
 * Complete, parse, and repair once with the parser's own words: the one loop around every answer of a model.
 * What the model does wrong comes back as a value; errors of the server go through.
 */
import { WinnowError } from '../errors.js';
import type { PromptTemplate } from '../prompts/prompt-template.js';
import { addUsage, type Completion, type CompletionRequest, type Model, type Usage } from './model.js';

export type Parsed<T> = Usable<T> | { ok: false; issues: readonly string[] };

export interface Usable<T> {
  ok: true;
  value: T;
  /** What is likely wrong, and worth one more call. Without a better answer the value stays, with its doubts. */
  doubts?: readonly string[];
}

/** @typeParam Answer what `parse` makes of a completion; it may carry more than the value */
export interface StructuredRequest<T, Answer extends Parsed<T> = Parsed<T>> {
  model: Model;
  request: CompletionRequest;
  parse: (completion: Completion) => Answer;
  repair: PromptTemplate<'system' | 'user' | 'answer' | 'issues'>;
  /** Counts every attempt, also failed ones. */
  usage: Usage;
  /** A schema under which the same can't go wrong again. A model that surely keeps to it is asked the same question. */
  narrow?: (first: Answer) => CompletionRequest['schema'];
  /** Whether an answer with fewer doubts may take the place of the first. Default: it may. */
  isBetter?: (second: Answer, first: Answer) => boolean;
  /** Told when a repair begins, with the problems. */
  onRepair?: (issues: readonly string[]) => void;
  /** Told when a usable answer is asked for once more, with the doubts. */
  onDoubt?: (doubts: readonly string[]) => void;
}

export async function completeStructured<T, Answer extends Parsed<T>>(
  asked: StructuredRequest<T, Answer>,
): Promise<Answer> {
  const first = await attempt(asked, asked.request);
  const { parsed } = first;
  if (!parsed.ok) {
    asked.onRepair?.(parsed.issues);
    return (await attempt(asked, secondRequest(asked, first))).parsed;
  }
  const { doubts = [] } = parsed;
  if (doubts.length === 0) return parsed;
  asked.onDoubt?.(doubts);
  const second = await attemptToBetter(asked, secondRequest(asked, first));
  const isSurer = second?.ok && (second.doubts?.length ?? 0) < doubts.length;
  return isSurer && (asked.isBetter?.(second, parsed) ?? true) ? second : parsed;
}

/** Where there is a usable answer already, only a caller who no longer wants any is a reason to give up. */
async function attemptToBetter<T, Answer extends Parsed<T>>(
  asked: StructuredRequest<T, Answer>,
  request: CompletionRequest,
) {
  try {
    return (await attempt(asked, request)).parsed;
  } catch (error) {
    const { signal } = request;
    if (!(error instanceof WinnowError) || (signal?.aborted && !isTimeout(signal.reason))) throw error;
    return undefined;
  }
}

/** The reason that `AbortSignal.timeout` gives. */
function isTimeout(reason: unknown): boolean {
  return reason instanceof DOMException && reason.name === 'TimeoutError';
}

interface Attempt<Answer> {
  completion: Completion;
  parsed: Answer;
}

function secondRequest<T, Answer extends Parsed<T>>(
  asked: StructuredRequest<T, Answer>,
  first: Attempt<Answer>,
): CompletionRequest {
  const schema = asked.narrow?.(first.parsed);
  if (!schema) return repairRequest(asked, first);
  return { ...(asked.model.limits.tuples ? asked.request : repairRequest(asked, first)), schema };
}

function repairRequest<T, Answer extends Parsed<T>>(
  { request, repair }: StructuredRequest<T, Answer>,
  { completion, parsed }: Attempt<Answer>,
): CompletionRequest {
  const { system, user } = request.prompt;
  const problems = parsed.ok ? (parsed.doubts ?? []) : parsed.issues;
  const issues = problems.map((issue) => `- ${issue}`).join('\n');
  return { ...request, prompt: repair.render({ system, user, answer: completion.text.slice(0, 8000), issues }) };
}

async function attempt<T, Answer extends Parsed<T>>(
  { model, parse, usage }: StructuredRequest<T, Answer>,
  request: CompletionRequest,
): Promise<Attempt<Answer>> {
  try {
    const completion = await model.complete(request);
    addUsage(usage, completion.usage);
    return { completion, parsed: parse(completion) };
  } catch (error) {
    addUsage(usage, spentUsage(error));
    throw error;
  }
}

/** Tokens that a failed call spent, where the error tells. */
export function spentUsage(error: unknown): Usage {
  const spent = error instanceof WinnowError ? error.details.usage : undefined;
  const number = (key: string) =>
    typeof spent === 'object' && spent !== null && key in spent ? Number(Reflect.get(spent, key)) || 0 : 0;
  return {
    calls: Math.max(1, number('calls')),
    read: number('read'),
    cached: number('cached'),
    written: number('written'),
  };
}

/**
 * The JSON value of an answer: bare, fenced, or with prose around it. Of several the last that fits, since drafts come first;
 * what a reasoning model thought before it is no answer. Nothing is mended inside it.
 *
 * @param fits whether a value has the form that was asked for; where none has, the last is read, so that its problems are told
 */
export function readJson(text: string, fits: (value: unknown) => boolean = () => true): Parsed<unknown> {
  const answer = withoutThoughts(text).trim();
  const parts = [...balanced(answer), ...fenced(answer)].sort((one, other) => other.end - one.end);
  const values = [text.trim(), answer, ...parts.map((part) => part.text)].flatMap(parsedJson);
  const objects = values.filter(({ value }) => !Array.isArray(value));
  const found = values.find(({ value }) => fits(value)) ?? objects[0] ?? values[0];
  if (found) return { ok: true, value: found.value };
  return { ok: false, issues: [answer === '' ? 'the answer is empty' : 'the answer holds no complete JSON'] };
}

function parsedJson(text: string): { value: unknown }[] {
  try {
    return [{ value: JSON.parse(text) }];
  } catch {
    return [];
  }
}

/** All of it where the thoughts have no end. */
function withoutThoughts(text: string): string {
  const end = text.lastIndexOf('</think>');
  if (end >= 0) return text.slice(end + '</think>'.length);
  return /^\s*<think>/u.test(text) ? '' : text;
}

/** A part of an answer, and where it ends. */
interface Part {
  readonly text: string;
  readonly end: number;
}

function fenced(text: string): Part[] {
  return [...text.matchAll(/```(?:\w+)?\s*\n([\s\S]*?)```/gu)].map((match) => {
    return { text: match[1] ?? '', end: match.index + match[0].length };
  });
}

/** Where JSON may begin: `[1]` and `${s1.id}` in prose are many, and no value of interest. */
const START = /\{(?=\s*["}])|\[(?=\s*["{[\]])/gu;
/** Brackets that nothing closes: from each the text is read to its end. */
const MOST_UNCLOSED = 20;

/** Each outermost `{...}` or `[...]` that closes: prose may hold brackets too. Nothing inside a cut object. */
function balanced(text: string): Part[] {
  const found: Part[] = [];
  let place = 0;
  let unclosed = 0;
  for (const { index, 0: bracket } of text.matchAll(START)) {
    if (index < place) continue;
    const [part] = balancedFrom(text, index);
    if (part === undefined && (bracket === '{' || ++unclosed === MOST_UNCLOSED)) break;
    if (part === undefined) continue;
    place = index + part.length;
    found.push({ text: part, end: place });
  }
  return found;
}

function balancedFrom(text: string, start: number): string[] {
  let depth = 0;
  let inString = false;
  for (let place = start; place < text.length; place++) {
    const character = text[place];
    if (inString) {
      if (character === '\\') place++;
      else if (character === '"') inString = false;
    } else if (character === '"') inString = true;
    else if (character === '{' || character === '[') depth++;
    else if ((character === '}' || character === ']') && --depth === 0) return [text.slice(start, place + 1)];
  }
  return [];
}
