/** The embedded model: llama.cpp in this process, without key or server. */
import type {
  ControlledEvaluateIndexOutput,
  ControlledEvaluateInputItem,
  LlamaContextSequence,
  Token,
} from 'node-llama-cpp';
import type { JsonSchema } from '../../catalog/tool.js';
import { throwIfCancelled, toWinnowError, WinnowError } from '../../errors.js';
import {
  type Completion,
  type Model,
  noUsage,
  type ReaderRequest,
  type TokenReader,
  type Usage,
  withUsage,
} from '../model.js';
import { gbnfFromSchema } from './gbnf.js';
import { createPrefixStore, createReadingStore, fileIdentity } from './prefix-store.js';
import { createPromptTokenizer, loadRuntime, type Runtime, type RuntimeOptions } from './runtime.js';
import { createMutex, createSequencePool, rewind } from './sequences.js';

interface EmbeddedModelOptions extends RuntimeOptions {
  /** Folder of saved prefixes and readings; see `prefix-store.ts`. */
  prefixFolder: string;
  onWarning?: ((message: string) => void) | undefined;
}

/** Loads the model. @throws WinnowError `model_unavailable` */
export async function createEmbeddedModel(options: EmbeddedModelOptions): Promise<Model> {
  return createModelOn(await loadRuntime(options), options);
}

/** Least room for an answer. */
const LEAST_TOKENS = 64;

/** Exported for tests: makes the model on a loaded runtime. */
export function createModelOn(runtime: Runtime, { modelFile, prefixFolder, onWarning }: EmbeddedModelOptions): Model {
  const id = fileIdentity(modelFile);
  const limit = runtime.context.contextSize;
  const identity = `${id}:${limit}:${runtime.version}`;
  const prepare = createSequencePool(runtime, createPrefixStore({ folder: prefixFolder, identity, onWarning }));
  const toTokens = createPromptTokenizer(runtime);
  const mutex = createMutex();
  let closing: Promise<void> | undefined;

  /** Waits for its turn, evaluates the prompt, keeps `room` tokens for the answer, and calls `goOn`. */
  const begin = <T>({ prompt, opening, signal }: Asked, room: number, goOn: (begun: Begun) => Promise<T>): Promise<T> =>
    countingUsage((usage) =>
      mutex.hold(signal, async (release) => {
        const prepared = toTokens(prompt, opening);
        const { tokens, stable } = prepared;
        if (tokens.length + room > limit) throw contextExceeded(tokens.length, room, limit);
        usage.calls = 1;
        const sequence = await prepare(prepared, usage, signal);
        return goOn({ sequence, tokens, stable, usage, signal, release });
      }),
    );

  return {
    id,
    limits: { contextTokens: limit, enumValues: 100_000, enumCharacters: 10_000_000, tools: 100_000 },
    preferredAnswer: 'rank',
    readings: createReadingStore({ folder: prefixFolder, identity }),
    countTokens: (text) => runtime.model.tokenize(text).length,
    complete: (request) =>
      begin({ ...request, opening: '' }, Math.min(LEAST_TOKENS, request.maxTokens), async (begun) => {
        const room = Math.min(request.maxTokens, limit - begun.tokens.length);
        const completion = await write(runtime, begun, { room, schema: request.schema?.schema });
        begun.release();
        return completion;
      }),
    openReader: (request) => begin(request, LEAST_TOKENS, async (begun) => createTokenReader(runtime, begun)),
    close() {
      closing ??= mutex.close().then(() => runtime.close());
      return closing;
    },
  };
}

/** Runs one call and turns any error into a WinnowError whose details have the usage. */
async function countingUsage<T>(call: (usage: Usage) => Promise<T>): Promise<T> {
  const usage = noUsage();
  try {
    return await call(usage);
  } catch (thrown) {
    const error = toWinnowError(thrown);
    // An error of the runtime is a failure of the model, not of Winnow.
    const isOwn = error.code !== 'internal';
    const message = `The local model failed: ${error.message}`;
    throw withUsage(isOwn ? error : new WinnowError('model_failed', message, { cause: thrown }), usage);
  }
}

function contextExceeded(promptTokens: number, room: number, contextTokens: number): WinnowError {
  const message = `The prompt has ${promptTokens} tokens and needs room for ${room}; the context of the local model holds ${contextTokens}.`;
  return new WinnowError('context_exceeded', message, { details: { promptTokens, contextTokens } });
}

type Asked = Pick<ReaderRequest, 'prompt' | 'opening' | 'signal'>;

interface Begun {
  sequence: LlamaContextSequence;
  tokens: Token[];
  /** Number of tokens before the request. */
  stable: number;
  usage: Usage;
  signal: AbortSignal | undefined;
  /** Ends the turn. A failure ends it automatically. */
  release(): void;
}

async function write(
  { library, llama, model }: Runtime,
  { sequence, tokens, usage, signal }: Begun,
  { room, schema }: { room: number; schema: JsonSchema | undefined },
): Promise<Completion> {
  const grammar = schema && (await llama.createGrammar({ grammar: gbnfFromSchema(schema) }));
  const state = grammar && new library.LlamaGrammarEvaluationState({ model, grammar });
  const written: Token[] = [];
  let finish: Completion['finish'] = 'stop';
  const rest = tokens.slice(sequence.nextTokenIndex);
  usage.read += rest.length;
  const evaluated = sequence.evaluate(rest, {
    temperature: 0,
    ...(state ? { grammarEvaluationState: state } : {}),
  });
  for await (const token of evaluated) {
    throwIfCancelled(signal);
    written.push(token);
    usage.written += 1;
    if (endsInLoop(written)) finish = 'loop';
    else if (written.length >= room) finish = 'length';
    if (finish !== 'stop') break;
  }
  return { text: model.detokenize(written), finish, usage };
}

const MIN_ROUNDS = 4;
const MIN_LOOP_TOKENS = 32;
const MAX_PERIOD = 64;

/**
 * Whether tokens end in one block, repeated at least four times and over at least 32 tokens. A small model in such a loop
 * writes nothing useful any more.
 */
export function endsInLoop(tokens: readonly number[]): boolean {
  for (let period = 1; period <= MAX_PERIOD; period++) {
    const length = Math.max(MIN_LOOP_TOKENS, period * MIN_ROUNDS);
    if (length > tokens.length) return false;
    const end = tokens.slice(-length);
    if (end.every((token, place) => place < period || token === end[place - period])) return true;
  }
  return false;
}

/** Each evaluation returns this many of the likeliest tokens, so a second query at the same place is free. */
const TOP = 50;

interface Weights {
  readonly logits: ReadonlyMap<Token, number>;
  /** A logit less `shift` is the natural logarithm of a probability among all tokens. */
  readonly shift: number;
}

/** Evaluates no place twice, and the tokens common to two queries only once. */
function createTokenReader({ model }: Runtime, begun: Begun): TokenReader {
  const { sequence, tokens: base, stable, usage, signal, release } = begun;
  const request = base.slice(stable);
  const places = new Map<string, Weights>();

  /** Evaluates the tokens that the sequence does not have yet, and those ahead, in one batch. */
  const read = async (path: readonly Token[], wanted: readonly Token[], ahead: readonly Query[] = []) => {
    throwIfCancelled(signal);
    const known = places.get(path.join());
    if (known && wanted.every((token) => known.logits.has(token))) return known;
    const tokens = [...base, ...path];
    await rewind(sequence, tokens);
    const rest = tokens.slice(sequence.nextTokenIndex);
    const token = rest.pop();
    if (token === undefined) throw new WinnowError('internal', 'A token reader has no prompt.');
    const queries = [{ token, wanted }, ...ahead];
    usage.read += rest.length + queries.length;
    const output = await sequence.controlledEvaluate([...rest, ...queries.map(toInput)]);
    const found = output.slice(rest.length).map(toWeights);
    for (const [index, weights] of found.entries())
      if (weights) places.set([...path, ...ahead.slice(0, index).map((next) => next.token)].join(), weights);
    if (!found[0]) throw new WinnowError('model_failed', 'The local model gave no token weights.');
    return found[0];
  };
  return {
    tokenize: (text) => model.tokenize(text, false),
    detokenize: (tokens) => model.detokenize(ownTokens(tokens)),
    usage: () => ({ ...usage }),
    async weigh(path, candidates, ahead = []) {
      const wanted = ownTokens(candidates);
      const next = ahead.map((one) => ({
        token: one.token as Token,
        wanted: one.candidates && ownTokens(one.candidates),
      }));
      const { logits, shift } = await read(ownTokens(path), wanted, next);
      return wanted.map((token) => (logits.get(token) ?? Number.NEGATIVE_INFINITY) - shift);
    },
    async likeliest(path, count, isWriting = false) {
      const own = ownTokens(path);
      const next = (isWriting ? copiedNext(own, request) : []).map((token) => ({ token, wanted: [] }));
      const { logits, shift } = await read(own, [], next);
      return [...logits]
        .sort(([, one], [, other]) => other - one)
        .slice(0, count)
        .map(([token, logit]) => ({ token, text: model.detokenize([token]), probability: Math.exp(logit - shift) }));
    },
    close: async () => release(),
  };
}

/** Tokens of a copy that are evaluated ahead. */
const COPIED = 6;

/**
 * How the request goes on where most of the last tokens of the path are. A text in the model's own words often repeats the request,
 * and one evaluation then serves several of its tokens (prompt lookup decoding: Saxena, 2023).
 */
function copiedNext(path: readonly Token[], request: readonly Token[]): Token[] {
  let [start, longest] = [0, 0];
  for (let end = 1; end < request.length; end++) {
    let length = 0;
    while (length < end && length < path.length && request[end - 1 - length] === path.at(-1 - length)) length++;
    if (length > 0 && length >= longest) [start, longest] = [end, length];
  }
  return longest > 0 ? request.slice(start, start + COPIED) : [];
}

/** Tokens that this reader gave out. */
function ownTokens(tokens: readonly unknown[]): Token[] {
  return tokens.map((token) => token as Token);
}

interface Query {
  readonly token: Token;
  /** The tokens whose weights are wanted after it, beside the likeliest; undefined if none are. */
  readonly wanted: readonly Token[] | undefined;
}

function toInput({ token, wanted }: Query): ControlledEvaluateInputItem {
  if (!wanted) return token;
  return [token, { generateNext: { logits: { filter: { tokens: wanted, includeTop: TOP } }, totalLogitWeight: true } }];
}

function toWeights(output: ControlledEvaluateIndexOutput | undefined): Weights | undefined {
  const { logits, totalLogitWeight = 1 } = output?.next ?? {};
  return logits && { logits, shift: Math.max(...logits.values()) + Math.log(totalLogitWeight) };
}
