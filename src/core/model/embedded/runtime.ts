/**
 * The one place that loads the local runtime. It is an optional dependency: where it is missing or can't run,
 * everything else works and the error says what to do.
 */
import { availableParallelism } from 'node:os';
import type { ChatWrapper, Llama, LlamaContext, LlamaModel } from 'node-llama-cpp';
import { messageOf, WinnowError } from '../../errors.js';

export type Library = typeof import('node-llama-cpp');

export interface Runtime {
  /** Of the package and of the llama.cpp in it: a state that another one saved may be laid out differently. */
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
  /** Tokens of one sequence: prompt and answer. The model's own limit is a bound. */
  contextTokens: number;
  /** Prompts kept in memory side by side. */
  sequences: number;
  /** More than the cores that are there makes it ten times slower. */
  threads?: number | undefined;
}

const WHAT_TO_DO =
  'Use an OpenAI-compatible endpoint instead (--base-url URL --model NAME), or install the runtime: npm install node-llama-cpp.';

/** @throws WinnowError `model_unavailable` when the runtime or the file can't be loaded. */
export async function loadRuntime(options: RuntimeOptions): Promise<Runtime> {
  const library = await importLibrary();
  try {
    const llama = await library.getLlama({
      build: 'never',
      skipDownload: true,
      progressLogs: false,
      maxThreads: options.threads ?? availableParallelism(),
      logLevel: library.LlamaLogLevel.error,
      // Its own would write to the console.
      logger: () => undefined,
    });
    const model = await llama.loadModel({ modelPath: options.modelFile });
    const contextSize = Math.min(options.contextTokens, model.trainContextSize);
    const context = await model.createContext({ contextSize, sequences: options.sequences, batchSize: 512 });
    const chat = library.resolveChatWrapper(model);
    const { release } = llama.llamaCppRelease;
    const version = `node-llama-cpp ${await library.getModuleVersion()}, llama.cpp ${release}`;
    return { version, library, llama, model, context, chat, close: () => llama.dispose() };
  } catch (error) {
    const message = messageOf(error);
    throw new WinnowError(
      'model_unavailable',
      `The local model ${options.modelFile} can't be loaded: ${message}. ${WHAT_TO_DO}`,
      { cause: error },
    );
  }
}

/** @throws WinnowError `model_unavailable` where it is not installed. */
export async function importLibrary(): Promise<Library> {
  try {
    return await import('node-llama-cpp');
  } catch (error) {
    throw new WinnowError(
      'model_unavailable',
      `The local runtime (package node-llama-cpp) is not installed here. ${WHAT_TO_DO}`,
      { cause: error },
    );
  }
}
