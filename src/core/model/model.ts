/**
 * The interface between Winnow and a language model. Selection and planning use only this file; the two
 * implementations (`openai/`, `embedded/`) pass one contract suite.
 */
import type { JsonSchema } from '../catalog/tool.js';
import { toWinnowError, WinnowError } from '../errors.js';

export type Stage = 'selection' | 'planning';

/**
 * `system` is the stable part: byte-identical between requests on the same tools, so that a model server
 * can cache it. `user` has all that changes.
 */
export interface Prompt {
  readonly system: string;
  readonly user: string;
  /** The beginning of `user` if that is stable, too: the embedded model caches it like `system`. */
  readonly lead?: string;
}

/** Describes a call in the call log. It does not change the answer. */
export interface CallAbout {
  readonly module: string;
  readonly promptName: string;
  readonly promptHash: string;
  readonly variables: Readonly<Record<string, unknown>>;
  readonly requestId?: string;
  /** The caller's session, which groups its requests. */
  readonly session?: string | undefined;
  /** Names of secret arguments: the log masks their values in the answer and in the changing part of the prompt. */
  readonly secretNames?: readonly string[];
}

export type RequestFacts = Pick<CallAbout, 'requestId' | 'session' | 'secretNames'>;

/** Counts by the server, or by the tokenizer of the embedded model. All but `calls` in tokens. */
export interface Usage {
  /** Model calls, including failed ones and repairs. */
  calls: number;
  read: number;
  cached: number;
  written: number;
}

interface ModelRequest {
  prompt: Prompt;
  signal?: AbortSignal | undefined;
  about?: CallAbout | undefined;
}

export interface CompletionRequest extends ModelRequest {
  stage: Stage;
  /** Constrains decoding if the server supports it; callers validate the answer in any case. */
  schema?: { name: string; schema: JsonSchema };
  maxTokens: number;
}

export interface Completion {
  text: string;
  /** `length`: cut at `maxTokens` or at the end of the context. `loop`: cut since the text only repeated itself. */
  finish: 'stop' | 'length' | 'loop';
  usage: Usage;
  /** Text and natural-log probability of each written token, if the server gives them. */
  logprobs?: readonly { text: string; logprob: number }[];
}

/** A token of the reader's vocabulary: its number, or its text if numbers are unavailable. The same in every process. */
export type Token = number | string;

export interface LikelyToken {
  readonly token: Token;
  /** Its text; empty for a token that ends the answer. */
  readonly text: string;
  /** Probability among all tokens, from 0 to 1. */
  readonly probability: number;
}

/** A token that continues a path, and the candidates after it; undefined if the path has no alternative there. */
export interface NextToken {
  readonly token: Token;
  readonly candidates?: readonly Token[] | undefined;
}

/** Reads next-token probabilities after a raw prompt, for selection by rank and plans by deciding. */
export interface TokenReader {
  /** The tokens of a text inside the answer. */
  tokenize(text: string): Token[];
  /** The text of tokens in a row. A character may take several; an incomplete one is U+FFFD. */
  detokenize(tokens: readonly Token[]): string;
  /**
   * Natural logarithms of the probabilities of `candidates` as the token after prompt, opening and `path`, in their order, among
   * all tokens. A server that lists only the likeliest tokens gives a floor for the others.
   *
   * @param ahead how the path goes on in the next queries: one evaluation can then serve them all. Default: unknown
   */
  weigh(path: readonly Token[], candidates: readonly Token[], ahead?: readonly NextToken[]): Promise<readonly number[]>;
  /**
   * The likeliest tokens after prompt, opening and `path`, best first; at least one.
   *
   * @param isWriting whether the path goes on with the likeliest one in the next query. Default: false
   */
  likeliest(path: readonly Token[], count: number, isWriting?: boolean): Promise<readonly LikelyToken[]>;
  usage(): Usage;
  /**
   * Must be called once; frees the place in the queue.
   * @param found the result of the reading, for the call log
   */
  close(found?: Readonly<Record<string, unknown>>): Promise<void>;
}

export interface ReaderRequest extends ModelRequest {
  /** The beginning of the answer, which the model continues, for example `{"selected_tools": ["`. */
  opening: string;
  /** The stage whose usage counts the tokens. Default: `selection`. */
  stage?: Stage | undefined;
}

export interface ModelLimits {
  contextTokens: number;
  /** Most values in an enum of a response schema, and most characters of all values when there are over 250. */
  enumValues: number;
  enumCharacters: number;
  /** Most tools whose schemas the server accepts in one request. */
  tools: number;
}

/** Most readings that are kept of one model, some 5 MB; the one set longest ago goes first. */
export const MAX_READINGS = 20_000;

/** JSON values by keys that contain no text of a prompt. */
export interface Readings {
  get(key: string): unknown;
  /** Never throws: if the disk fails, the value is only kept in memory. */
  set(key: string, value: unknown): void;
}

export interface Model {
  /** Names the model in logs, results and cache keys; changes with the weights. Contains no server address. */
  readonly id: string;
  readonly limits: ModelLimits;
  /** The way of answering used when the caller says `auto`. */
  readonly preferredAnswer: 'rank' | 'list';
  /**
   * @throws WinnowError `model_unavailable`, `model_refused`, `model_failed`, `model_timeout`,
   * `context_exceeded`, `cancelled`. The error's details have `usage` if tokens were spent.
   */
  complete(request: CompletionRequest): Promise<Completion>;
  /** Absent if the model gives no next-token probabilities for raw prompts. Errors as for `complete`. */
  openReader?(request: ReaderRequest): Promise<TokenReader>;
  /** Persistent results for prompts that contain no request. */
  readonly readings?: Readings | undefined;
  /** Counts with the model's own tokenizer, else estimates. */
  countTokens(text: string): number;
  /** Frees memory and connections. Idempotent. */
  close(): Promise<void>;
}

export function noUsage(): Usage {
  return { calls: 0, read: 0, cached: 0, written: 0 };
}

export function addUsage(total: Usage, more: Usage): void {
  total.calls += more.calls;
  total.read += more.read;
  total.cached += more.cached;
  total.written += more.written;
}

export function sumUsage(one: Usage, other: Usage): Usage {
  const total = { ...one };
  addUsage(total, other);
  return total;
}

/** The same error with the usage so far in its details, by stage if there are several. */
export function withUsage(error: WinnowError, usage: Usage | Readonly<Record<Stage, Usage>>): WinnowError {
  const { code, message, issues, details, cause } = error;
  return new WinnowError(code, message, { issues, details: { ...details, usage: { ...usage } }, cause });
}

/** The usage of a failed call from its error's details; else one call. */
export function spentUsage(error: unknown): Usage {
  return { ...noUsage(), calls: 1, ...Object(error instanceof WinnowError ? error.details.usage : undefined) };
}

/** Awaits a call. If it fails, adds what it spent to `usage`. */
export async function countFailed<T>(call: Promise<T>, usage: Usage): Promise<T> {
  try {
    return await call;
  } catch (error) {
    addUsage(usage, spentUsage(error));
    throw error;
  }
}

interface WrappedCalls {
  complete: Model['complete'];
  /** Called only if the inner model has readers; `open` opens one. */
  openReader(request: ReaderRequest, open: NonNullable<Model['openReader']>): Promise<TokenReader>;
}

/** Wraps a model, for caches and budgets: replaces its calls and keeps everything else. */
export function wrapModel(model: Model, { complete, openReader }: WrappedCalls): Model {
  const { id, limits, preferredAnswer, readings } = model;
  const open = model.openReader?.bind(model);
  const countTokens = (text: string) => model.countTokens(text);
  const outer = { id, limits, preferredAnswer, readings, complete, countTokens, close: () => model.close() };
  return open ? { ...outer, openReader: (request) => openReader(request, open) } : outer;
}

/** The outcome of a call; for a reader, at its close, with its result. */
export interface CallEnd {
  readonly completion?: Completion;
  readonly reading?: Readonly<Record<string, unknown>>;
  readonly error?: WinnowError;
  readonly usage: Usage;
}

/** Observes each call of a model: `begin` is called at its start, and the function it returns at its end. */
export function watchModel(
  model: Model,
  begin: (request: CompletionRequest | ReaderRequest) => (end: CallEnd) => void,
): Model {
  return wrapModel(model, {
    async complete(request) {
      const end = begin(request);
      try {
        const completion = await model.complete(request);
        end({ completion, usage: completion.usage });
        return completion;
      } catch (error) {
        end(failed(error));
        throw error;
      }
    },
    async openReader(request, open) {
      const end = begin(request);
      const reader = await open(request).catch((error: unknown) => {
        end(failed(error));
        throw error;
      });
      let failure: CallEnd | undefined;
      const watched = <T>(work: Promise<T>): Promise<T> =>
        work.catch((error: unknown) => {
          failure = failed(error);
          throw error;
        });
      return {
        tokenize: (text) => reader.tokenize(text),
        detokenize: (tokens) => reader.detokenize(tokens),
        usage: () => reader.usage(),
        weigh: (...query) => watched(reader.weigh(...query)),
        likeliest: (...query) => watched(reader.likeliest(...query)),
        async close(found) {
          end({ ...failure, reading: { ...found }, usage: reader.usage() });
          await reader.close(found);
        },
      };
    },
  });
}

function failed(error: unknown): CallEnd {
  return { error: toWinnowError(error), usage: spentUsage(error) };
}
