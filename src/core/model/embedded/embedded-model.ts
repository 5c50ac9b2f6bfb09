/**
 * The embedded model: llama.cpp in process, no key and no server. One call computes at a time, in the order of
 * arrival, since two at once on the same cores are slower than one after the other.
 */
import type { LlamaGrammar, Token } from 'node-llama-cpp';
import { throwIfCancelled, toWinnowError, WinnowError } from '../../errors.js';
import type { Completion, CompletionRequest, Model, Prompt, ReaderRequest, Usage } from '../model.js';
import { noUsage, withUsage } from '../model.js';
import { fileIdentity } from './file-identity.js';
import { gbnfFromSchema } from './gbnf.js';
import { endsInLoop } from './loop.js';
import { createPrefixStore } from './prefix-store.js';
import { createPromptTokenizer, type PromptTokens } from './prompt-tokens.js';
import { loadRuntime, type Runtime } from './runtime.js';
import { createSequencePool } from './sequence-pool.js';
import { createTokenReader } from './token-reader.js';
import { createTurnstile } from './turnstile.js';

export interface EmbeddedModelOptions {
  /** A GGUF file. */
  modelFile: string;
  /** Prompt and answer together, in tokens. Default: 16,384, or what the model was trained for. */
  contextTokens?: number | undefined;
  /** Prompts kept in memory side by side; each takes memory for a whole context. Default: 2. */
  sequences?: number | undefined;
  /** Default: the cores that are there. */
  threads?: number | undefined;
  /** Folder of evaluated prefixes. Without it nothing is kept across runs. */
  prefixFolder?: string | undefined;
  onWarning?: ((message: string) => void) | undefined;
}

/** Loads the model. @throws WinnowError `model_unavailable` */
export async function createEmbeddedModel(options: EmbeddedModelOptions): Promise<Model> {
  const { modelFile, contextTokens = 16_384, sequences = 2, threads } = options;
  return createModelOn(await loadRuntime({ modelFile, contextTokens, sequences, threads }), options);
}

/** Exported for tests: the model on a runtime that is loaded. */
export function createModelOn(
  runtime: Runtime,
  { modelFile, prefixFolder, onWarning }: Pick<EmbeddedModelOptions, 'modelFile' | 'prefixFolder' | 'onWarning'>,
): Model {
  const id = fileIdentity(modelFile);
  const store = prefixFolder
    ? createPrefixStore({
        folder: prefixFolder,
        identity: `${id}:${runtime.context.contextSize}:${runtime.version}`,
        ...(onWarning ? { onWarning } : {}),
      })
    : undefined;
  const pool = createSequencePool(runtime, store);
  const toTokens = createPromptTokenizer(runtime);
  const turnstile = createTurnstile();
  const grammars = new Map<string, Promise<LlamaGrammar>>();
  const limit = runtime.context.contextSize;
  let closing: Promise<void> | undefined;

  const fit = (prompt: Prompt, { opening, room }: { opening: string; room: number }): PromptTokens => {
    const prepared = toTokens(prompt, opening);
    if (prepared.tokens.length + room <= limit) return prepared;
    const message = `The prompt has ${prepared.tokens.length} tokens and needs room for ${room}; the context of the local model holds ${limit}.`;
    throw new WinnowError('context_exceeded', message, {
      details: { promptTokens: prepared.tokens.length, contextTokens: limit },
    });
  };

  return {
    id,
    limits: { contextTokens: limit, enumValues: 100_000, enumCharacters: 10_000_000, tools: 100_000 },
    preferredAnswer: 'rank',
    countTokens: (text) => runtime.model.tokenize(text).length,
    complete: (request) =>
      countingUsage((usage) =>
        turnstile.pass(request.signal, async () => {
          const prompt = fit(request.prompt, { opening: '', room: Math.min(64, request.maxTokens) });
          const grammar = request.schema && (await grammarOf(runtime, grammars, request.schema.schema));
          return generate(prompt, request, { grammar, usage });
        }),
      ),
    openReader: (request) =>
      countingUsage((usage) => turnstile.hold(request.signal, (leave) => openReader(request, { usage, leave }))),
    close() {
      closing ??= turnstile.close().then(() => runtime.close());
      return closing;
    },
  };

  async function generate(
    prompt: PromptTokens,
    request: CompletionRequest,
    { grammar, usage }: { grammar: LlamaGrammar | undefined; usage: Usage },
  ): Promise<Completion> {
    usage.calls = 1;
    const sequence = await pool.prepare(prompt, usage, request.signal);
    const { LlamaGrammarEvaluationState } = runtime.library;
    const state = grammar && new LlamaGrammarEvaluationState({ model: runtime.model, grammar });
    const written: Token[] = [];
    const room = Math.min(request.maxTokens, limit - prompt.tokens.length);
    usage.read += 1;
    const tokens = sequence.evaluate(prompt.tokens.slice(sequence.nextTokenIndex), {
      temperature: 0,
      ...(state ? { grammarEvaluationState: state } : {}),
    });
    let finish: Completion['finish'] = 'stop';
    for await (const token of tokens) {
      throwIfCancelled(request.signal);
      written.push(token);
      usage.written += 1;
      if (endsInLoop(written)) finish = 'loop';
      else if (written.length >= room) finish = 'length';
      if (finish !== 'stop') break;
    }
    return { text: runtime.model.detokenize(written), finish, usage };
  }

  async function openReader(request: ReaderRequest, { usage, leave }: { usage: Usage; leave: () => void }) {
    const { signal } = request;
    const prompt = fit(request.prompt, { opening: request.opening, room: 64 });
    usage.calls = 1;
    const sequence = await pool.prepare(prompt, usage, signal);
    return createTokenReader(runtime, { sequence, base: prompt.tokens, usage, signal, release: leave });
  }
}

/** Runs one call; whatever it throws leaves as a WinnowError whose details carry what was spent. */
async function countingUsage<T>(call: (usage: Usage) => Promise<T>): Promise<T> {
  const usage = noUsage();
  try {
    return await call(usage);
  } catch (thrown) {
    throw withUsage(toModelError(thrown), usage);
  }
}

/** What the runtime throws is a failure of the model, not of Winnow. */
function toModelError(thrown: unknown): WinnowError {
  const error = toWinnowError(thrown);
  if (error.code !== 'internal') return error;
  return new WinnowError('model_failed', `The local model failed: ${error.message}`, { cause: thrown });
}

const MAX_GRAMMARS = 64;

async function grammarOf(
  runtime: Runtime,
  known: Map<string, Promise<LlamaGrammar>>,
  schema: Parameters<typeof gbnfFromSchema>[0],
): Promise<LlamaGrammar> {
  const text = gbnfFromSchema(schema);
  let grammar = known.get(text);
  if (!grammar) {
    if (known.size >= MAX_GRAMMARS) known.clear();
    grammar = runtime.llama.createGrammar({ grammar: text });
    known.set(text, grammar);
  }
  return grammar;
}
