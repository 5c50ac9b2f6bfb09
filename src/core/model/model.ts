/**
 * The seam between Winnow and a language model. Selection and planning know only this file; the two
 * implementations (`openai/`, `embedded/`) pass one contract suite.
 */
import type { JsonSchema } from '../catalog/tool.js';
import { toWinnowError, WinnowError } from '../errors.js';

export type Stage = 'selection' | 'planning';

/**
 * `system` is the stable part: byte-identical between requests on the same tools, so that a model server
 * reads it once. `user` holds all that changes.
 */
export interface Prompt {
  readonly system: string;
  readonly user: string;
  /** What `user` begins with where that is stable, too: a model in process keeps it as it keeps `system`. */
  readonly lead?: string;
}

/** What a call is for. It changes no answer: it is what the call log says of it. */
export interface CallAbout {
  readonly module: string;
  readonly promptName: string;
  readonly promptHash: string;
  readonly variables: Readonly<Record<string, unknown>>;
  readonly requestId?: string;
  /** The caller's session, so that its requests can be found together. */
  readonly session?: string | undefined;
  /** Names of arguments marked secret: their values in the answer and in the changing part of the prompt are masked. */
  readonly secretNames?: readonly string[];
}

export type RequestFacts = Pick<CallAbout, 'requestId' | 'session' | 'secretNames'>;

/** Counted by the server, or by the tokenizer of the embedded model. All in tokens. */
export interface Usage {
  /** Model calls, with failed ones and repairs. */
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
  /** The answer is decoded under this schema where the server can; the caller checks it all the same. */
  schema?: { name: string; schema: JsonSchema };
  maxTokens: number;
}

export interface Completion {
  text: string;
  /** `length`: cut at `maxTokens` or at the end of the context. `loop`: cut where the text only repeats itself. */
  finish: 'stop' | 'length' | 'loop';
  usage: Usage;
  /** Per written token, where the server gives them: its text and natural-log probability. */
  logprobs?: readonly { text: string; logprob: number }[];
}

/** Of the reader's own vocabulary: its number, or its text where the vocabulary is out of reach. The same in every process. */
export type Token = number | string;

export interface LikelyToken {
  readonly token: Token;
  /** What it writes; empty for a token that ends the answer. */
  readonly text: string;
  /** Among all tokens, between 0 and 1. */
  readonly probability: number;
}

/** Reads next-token probabilities after a raw prompt: the ground of selection by rank and of plans by deciding. */
export interface TokenReader {
  /** The tokens of a text as it stands inside the answer. */
  tokenize(text: string): Token[];
  /**
   * Natural-log weights of `candidates` as the token after prompt, opening and `path`, in their order.
   * Comparable with each other within one call; no normalisation is promised.
   */
  weigh(path: readonly Token[], candidates: readonly Token[]): Promise<readonly number[]>;
  /** The likeliest tokens after prompt, opening and `path`, best first; at least the first is there. */
  likeliest(path: readonly Token[], count: number): Promise<readonly LikelyToken[]>;
  usage(): Usage;
  /**
   * Must be called once; gives the place in the queue back.
   * @param found what was made of the weights, for the call log
   */
  close(found?: Readonly<Record<string, unknown>>): Promise<void>;
}

export interface ReaderRequest extends ModelRequest {
  /** The answer as it is opened for the model, for example `{"selected_tools": ["`. */
  opening: string;
  /** To which the tokens count. Default: `selection`. */
  stage?: Stage | undefined;
}

export interface ModelLimits {
  contextTokens: number;
  /** Most values in an enum of a response schema, and most characters of all values when there are over 250. */
  enumValues: number;
  enumCharacters: number;
  /** Most tools of which the server takes schemas in one request. */
  tools: number;
}

/** Values as JSON writes them, by keys that hold no text of a prompt. */
export interface Readings {
  get(key: string): unknown;
  /** A disk that refuses costs the keeping, never the request. */
  set(key: string, value: unknown): void;
}

export interface Model {
  /** Names the model in logs, results and cache keys; changes when the weights do. Holds no address of a server. */
  readonly id: string;
  readonly limits: ModelLimits;
  /** The way of answering that suits it best when the caller says `auto`. */
  readonly preferredAnswer: 'rank' | 'list';
  /**
   * @throws WinnowError `model_unavailable`, `model_refused`, `model_failed`, `model_timeout`,
   * `context_exceeded`, `cancelled`. The error's details carry `usage` where tokens were spent.
   */
  complete(request: CompletionRequest): Promise<Completion>;
  /** Absent where next-token probabilities for a raw prompt can't be had. Errors as for `complete`. */
  openReader?(request: ReaderRequest): Promise<TokenReader>;
  /** What was read of prompts without a request, where it outlives the process. */
  readonly readings?: Readings | undefined;
  /** By the model's own tokenizer, else an estimate. */
  countTokens(text: string): number;
  /** Gives memory and connections back. Idempotent. */
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

/** The same error, its details telling what was spent until then, by stage where several had a part. */
export function withUsage(error: WinnowError, usage: Usage | Readonly<Record<Stage, Usage>>): WinnowError {
  const { code, message, issues, details, cause } = error;
  return new WinnowError(code, message, { issues, details: { ...details, usage: { ...usage } }, cause });
}

/** Tokens that a failed call spent, where the error tells; else one call. */
export function spentUsage(error: unknown): Usage {
  return { ...noUsage(), calls: 1, ...Object(error instanceof WinnowError ? error.details.usage : undefined) };
}

/** Awaits a call. Where it fails, what it spent is counted all the same. */
export async function countFailed<T>(call: Promise<T>, usage: Usage): Promise<T> {
  try {
    return await call;
  } catch (error) {
    addUsage(usage, spentUsage(error));
    throw error;
  }
}

export interface WrappedCalls {
  complete: Model['complete'];
  /** Called only where the inner model has readers; `open` opens one of them. */
  openReader(request: ReaderRequest, open: NonNullable<Model['openReader']>): Promise<TokenReader>;
}

/** A model in front of another, for caches and budgets: it answers for the inner one, and is the same in all else. */
export function wrapModel(model: Model, { complete, openReader }: WrappedCalls): Model {
  const { id, limits, preferredAnswer, readings } = model;
  const open = model.openReader?.bind(model);
  const countTokens = (text: string) => model.countTokens(text);
  const outer = { id, limits, preferredAnswer, readings, complete, countTokens, close: () => model.close() };
  return open ? { ...outer, openReader: (request) => openReader(request, open) } : outer;
}

/** What came of a call; of a reader, when it closes, with what was found. */
export interface CallEnd {
  readonly completion?: Completion;
  readonly reading?: Readonly<Record<string, unknown>>;
  readonly error?: WinnowError;
  readonly usage: Usage;
}

/** The model, and each call of it watched: `begin` is told of its beginning, what it returns of its end. */
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
        usage: () => reader.usage(),
        weigh: (path, candidates) => watched(reader.weigh(path, candidates)),
        likeliest: (path, count) => watched(reader.likeliest(path, count)),
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
