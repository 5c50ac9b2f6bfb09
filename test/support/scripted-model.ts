/**
 * A model that answers by script and records what it was asked. It refuses the call that the script does not hold;
 * `assertDone` tells of such calls even where the caller took them for a failure of the server and went on.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { throwIfCancelled, WinnowError } from '../../src/core/errors.js';
import { estimateTokens } from '../../src/core/model/count-tokens.js';
import {
  type Completion,
  type CompletionRequest,
  type Model,
  type ModelLimits,
  noUsage,
  type ReaderRequest,
  type TokenReader,
  type Usage,
  withUsage,
} from '../../src/core/model/model.js';
import { piecesOf } from '../../src/core/model/openai/token-reader.js';

/** A text, a completion of which the rest is filled in, or what is thrown. */
export type ScriptedAnswer = string | (Partial<Completion> & { text: string }) | Error;

export interface ScriptedReader {
  /** Of each name as the answer, or of what goes on from a text. What is not here has next to no probability. */
  probabilities: ReadonlyMap<string, number> | ((written: string) => ReadonlyMap<string, number>);
  /** Default: `piece`. */
  tokenizeBy?: 'character' | 'piece';
}

export interface ScriptedModelOptions {
  id?: string;
  /** Used up in order; a function answers any number of calls. */
  answers?: readonly ScriptedAnswer[] | ((request: CompletionRequest, index: number) => ScriptedAnswer);
  /** Used up in order, one a reader opened; an Error is thrown by `openReader`. Without it, there is no reader. */
  readers?: readonly (ScriptedReader | Error)[] | ((request: ReaderRequest, index: number) => ScriptedReader | Error);
  limits?: Partial<ModelLimits>;
  preferredAnswer?: 'rank' | 'list';
}

export interface ScriptedModel extends Model {
  /** Every call of `complete`, in order. */
  readonly calls: readonly CompletionRequest[];
  readonly readerCalls: readonly ReaderRequest[];
  readonly isClosed: boolean;
  /** Throws when answers are left over, when a call found none, or when a reader was not closed exactly once. */
  assertDone(): void;
}

const LIMITS: ModelLimits = { contextTokens: 32_768, enumValues: 1_000, enumCharacters: 15_000, tools: 128 };

export function createScriptedModel(options: ScriptedModelOptions = {}): ScriptedModel {
  const limits = { ...LIMITS, ...options.limits };
  const answers = createScript('answer', options.answers ?? []);
  const readers = createScript('reader', options.readers ?? []);
  const openReaders = { count: 0 };
  let isClosed = false;
  const openReader = async (request: ReaderRequest): Promise<TokenReader> => {
    throwIfCancelled(request.signal);
    const script = readers.next(request);
    if (script instanceof Error) throw script;
    openReaders.count += 1;
    const onClose = () => {
      openReaders.count -= 1;
    };
    return createScriptedReader(script, { request, onClose });
  };
  return {
    id: options.id ?? 'scripted',
    limits,
    preferredAnswer: options.preferredAnswer ?? (options.readers ? 'rank' : 'list'),
    calls: answers.requests,
    readerCalls: readers.requests,
    get isClosed() {
      return isClosed;
    },
    complete: (request) => answer(request, limits, answers),
    ...(options.readers ? { openReader } : {}),
    countTokens: estimateTokens,
    close: async () => {
      isClosed = true;
    },
    assertDone() {
      const problems = [...answers.problems(), ...readers.problems()];
      if (openReaders.count !== 0) problems.push(`readers closed too seldom or too often: ${openReaders.count}`);
      if (problems.length > 0) throw new Error(`The scripted model is not done: ${problems.join('; ')}.`);
    },
  };
}

interface Script<R, A> {
  requests: R[];
  next(request: R): A;
  problems(): string[];
}

function createScript<R, A>(what: string, script: readonly A[] | ((request: R, index: number) => A)): Script<R, A> {
  const requests: R[] = [];
  const planned = typeof script === 'function' ? undefined : script.length;
  return {
    requests,
    next(request) {
      const index = requests.push(request) - 1;
      const given = typeof script === 'function' ? script(request, index) : script[index];
      if (given === undefined) throw new Error(`The scripted model was asked for ${what} ${index + 1}, but has none.`);
      return given;
    },
    problems: () =>
      planned === undefined || planned === requests.length
        ? []
        : [`${planned} ${what}s were scripted, ${requests.length} asked for`],
  };
}

async function answer(
  request: CompletionRequest,
  limits: ModelLimits,
  script: Script<CompletionRequest, ScriptedAnswer>,
): Promise<Completion> {
  const refuse = (error: WinnowError, calls: number) => withUsage(error, { ...noUsage(), calls });
  const cancelled = () => new WinnowError('cancelled', 'The request was cancelled.', { cause: request.signal?.reason });
  if (request.signal?.aborted) throw refuse(cancelled(), 0);
  const given = script.next(request);
  await nextTurn();
  if (request.signal?.aborted) throw refuse(cancelled(), 1);
  if (given instanceof Error) throw given;
  const read = estimateTokens(request.prompt.system) + estimateTokens(request.prompt.user);
  if (read > limits.contextTokens) {
    throw refuse(new WinnowError('context_exceeded', 'The scripted prompt is too long.'), 0);
  }
  const { text, ...rest } = typeof given === 'string' ? { text: given } : given;
  const usage = { calls: 1, read, cached: 0, written: estimateTokens(text) };
  return { text, finish: usage.written > request.maxTokens ? 'length' : 'stop', usage, ...rest };
}

/** So little that a name of the script always wins. */
const UNLIKELY = 1e-9;

function createScriptedReader(
  script: ScriptedReader,
  { request, onClose }: { request: ReaderRequest; onClose: () => void },
): TokenReader {
  const usage: Usage = { calls: 0, read: 0, cached: 0, written: 0 };
  const { probabilities } = script;
  const continuations = (written: string) =>
    typeof probabilities === 'function'
      ? [...probabilities(written)].map(([text, probability]) => ({ text, probability }))
      : [...probabilities].flatMap(([name, probability]) =>
          `${name}"`.startsWith(written) ? [{ text: `${name}"`.slice(written.length), probability }] : [],
        );
  const tokenize = (text: string) => (script.tokenizeBy === 'character' ? [...text].flatMap(piecesOf) : piecesOf(text));
  return {
    tokenize,
    detokenize: (tokens) => tokens.join(''),
    async weigh(path, candidates) {
      throwIfCancelled(request.signal);
      usage.calls += 1;
      usage.read += candidates.length;
      const written = path.join('');
      const following = continuations(written);
      return candidates.map((candidate) => {
        const fitting = following.filter(({ text }) => tokenize(text)[0] === candidate);
        return Math.log(fitting.reduce((sum, ending) => sum + ending.probability, UNLIKELY));
      });
    },
    /** The next piece of the likeliest text that goes on from here; nothing is scripted beyond. */
    async likeliest(path) {
      throwIfCancelled(request.signal);
      usage.calls += 1;
      const written = path.join('');
      const fitting = continuations(written).filter(({ text }) => text !== '');
      const [best] = fitting.sort((one, other) => other.probability - one.probability);
      const [token] = best ? tokenize(best.text) : [];
      return best && token !== undefined
        ? [{ token, text: token, probability: best.probability }]
        : [{ token: '', text: '', probability: 1 }];
    },
    usage: () => ({ ...usage }),
    close: async () => onClose(),
  };
}
