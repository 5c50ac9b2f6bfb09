/**
 * Loads the local runtime and tokenizes prompts for it. The runtime is an optional dependency: if it is missing or can't
 * run, everything else works and the error says what to do.
 */
import { availableParallelism } from 'node:os';
import type { ChatHistoryItem, ChatWrapper, Llama, LlamaContext, LlamaModel, Token } from 'node-llama-cpp';
import { messageOf, WinnowError } from '../../errors.js';
import { keepLatest } from '../../kept.js';
import type { Prompt } from '../model.js';

type Library = typeof import('node-llama-cpp');

export interface Runtime {
  /** Version of the package and of its llama.cpp: other versions may save states in another layout. */
  readonly version: string;
  readonly library: Library;
  readonly llama: Llama;
  readonly model: LlamaModel;
  readonly context: LlamaContext;
  readonly chat: ChatWrapper;
  close(): Promise<void>;
}

export interface RuntimeOptions {
  modelFile: string;
  /** Prompt and answer together, in tokens. Default: 16,384, or what the model was trained for. */
  contextTokens?: number | undefined;
  /** Default: the available cores. More threads than cores are ten times slower. */
  threads?: number | undefined;
}

/** Prompts kept in memory at once; each takes memory for a whole context. */
const SEQUENCES = 2;

const WHAT_TO_DO =
  'Use an OpenAI-compatible endpoint instead (--base-url URL --model NAME), or install the runtime: npm install node-llama-cpp.';

function unavailable(what: string, cause: unknown): WinnowError {
  return new WinnowError('model_unavailable', `${what}. ${WHAT_TO_DO}`, { cause });
}

/** @throws WinnowError `model_unavailable` when the runtime or the file can't be loaded. */
export async function loadRuntime({
  modelFile,
  contextTokens = 16_384,
  threads = availableParallelism(),
}: RuntimeOptions): Promise<Runtime> {
  const library = await importLibrary();
  try {
    const llama = await library.getLlama({
      build: 'never',
      skipDownload: true,
      progressLogs: false,
      maxThreads: threads,
      logLevel: library.LlamaLogLevel.error,
      // The default logger writes to the console.
      logger: () => undefined,
    });
    const model = await llama.loadModel({ modelPath: modelFile });
    const contextSize = Math.min(contextTokens, model.trainContextSize);
    const context = await model.createContext({ contextSize, sequences: SEQUENCES, batchSize: 512 });
    const chat = library.resolveChatWrapper(model);
    const version = `node-llama-cpp ${await library.getModuleVersion()}, llama.cpp ${llama.llamaCppRelease.release}`;
    return { version, library, llama, model, context, chat, close: () => llama.dispose() };
  } catch (error) {
    throw unavailable(`The local model ${modelFile} can't be loaded: ${messageOf(error)}`, error);
  }
}

/** @throws WinnowError `model_unavailable` where it is not installed. */
export async function importLibrary(): Promise<Library> {
  const isMissing = (cause: unknown) =>
    unavailable('The local runtime (package node-llama-cpp) is not installed here', cause);
  const library = await import('node-llama-cpp').catch((error: unknown) => {
    throw isMissing(error);
  });
  // An entry of `overrides` puts an empty package in its place.
  if (typeof library.getLlama !== 'function')
    throw isMissing('The package is empty: an entry of "overrides" replaces it.');
  return library;
}

/** Cached beginnings of prompts per model: finding one means tokenizing two prompts. */
const MAX_KEPT = 4;

/** A prompt in the model's own chat format. */
export interface PromptTokens {
  readonly tokens: Token[];
  readonly stable: number;
  /** Number of tokens that stay the same whatever follows the lead of the user part; without a lead, as `stable`. */
  readonly led: number;
}

/** @param opening the beginning of the answer, which the model continues */
type PromptTokenizer = (prompt: Prompt, opening: string) => PromptTokens;

export function createPromptTokenizer({ chat, model }: Pick<Runtime, 'chat' | 'model'>): PromptTokenizer {
  const tokenize = (prompt: Prompt, opening: string): Token[] => {
    const chatHistory: ChatHistoryItem[] = [
      { type: 'system', text: prompt.system },
      { type: 'user', text: prompt.user },
      { type: 'model', response: [opening] },
    ];
    return chat.generateContextState({ chatHistory }).contextText.tokenize(model.tokenizer);
  };
  const kept = new Map<string, Token[]>();
  const beginningOf = (system: string, lead: string): Token[] => {
    const key = `${lead.length} ${lead}${system}`;
    const read = () => {
      const one = tokenize({ system, user: `${lead}a` }, '');
      return one.slice(0, commonLength(one, tokenize({ system, user: `${lead}#` }, '')));
    };
    const beginning = kept.get(key) ?? read();
    keepLatest(kept, [key, beginning], MAX_KEPT);
    return beginning;
  };
  return (prompt, opening) => {
    const tokens = tokenize(prompt, opening);
    const lengthOf = (lead: string) => commonLength(tokens, beginningOf(prompt.system, lead));
    const stable = lengthOf('');
    return { tokens, stable, led: prompt.lead ? lengthOf(prompt.lead) : stable };
  };
}

export function commonLength(one: readonly Token[], other: readonly Token[]): number {
  const shorter = Math.min(one.length, other.length);
  for (let index = 0; index < shorter; index++) if (one[index] !== other[index]) return index;
  return shorter;
}
