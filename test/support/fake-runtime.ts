/**
 * The local runtime without weights: a token is a code point, the model writes what `answer` says of the prompt and finds
 * each sign of it likely. It holds contexts, erases, saves and loads as the real one does, so that what is built on it
 * can be tested anywhere; whether the real one behaves so is for `npm run test:model`.
 */
import { readFile, writeFile } from 'node:fs/promises';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Token } from 'node-llama-cpp';
import type { Runtime } from '../../src/core/model/embedded/runtime.js';
import type { Prompt } from '../../src/core/model/model.js';

export interface FakeRuntimeOptions {
  /** What the model writes after a prompt. Default: nothing. */
  answer?: (prompt: string) => string;
  contextSize?: number;
  sequences?: number;
  version?: string;
  /** Waited for before tokens of a prompt are read: to hold the runtime there, or to make it fail. */
  onRead?: (tokens: number) => Promise<void> | void;
  /** Told before each token that is written, with the text so far. */
  onWrite?: (text: string) => void;
}

export interface FakeRuntime {
  runtime: Runtime;
  /** Tokens of prompts that were read, saved or loaded, in the order in which that happened. */
  readonly log: readonly string[];
  /** How often its memory was given back. */
  readonly closes: number;
}

const tokensOf = (text: string) => Array.from(text, (sign) => sign.codePointAt(0) ?? 0);
const textOf = (tokens: readonly number[]) => String.fromCodePoint(...tokens);
const UNLIKELY = -20;

export function createFakeRuntime(options: FakeRuntimeOptions = {}): FakeRuntime {
  const { contextSize = 4096, sequences = 2, version = 'fake 1', answer = () => '' } = options;
  const log: string[] = [];
  let closes = 0;
  const context = {
    contextSize,
    totalSequences: sequences,
    getSequence: () => createSequence({ ...options, answer }, log),
  };
  const model = {
    tokenizer: undefined,
    tokenize: tokensOf,
    detokenize: textOf,
    iterateAllTokens: () => tokensOf('{}[]",:abc'),
  };
  const library = { LlamaGrammarEvaluationState: class {}, TokenBias: { for: () => new Map() } };
  const llama = { createGrammar: async () => ({}) };
  const chat = { generateContextState };
  // The library's classes can't be made without weights, and of each only what Winnow asks for is here.
  return {
    log,
    get closes() {
      return closes;
    },
    runtime: Object.assign(Object.create(null), {
      version,
      library,
      llama,
      model,
      context,
      chat,
      close: async () => {
        closes += 1;
      },
    }),
  };
}

interface HistoryItem {
  text?: string;
  response?: readonly string[];
}

function generateContextState({ chatHistory }: { chatHistory: readonly HistoryItem[] }) {
  const [system, user, model] = chatHistory.map(({ text, response }) => text ?? response?.join('') ?? '');
  const text = chatText({ system: system ?? '', user: user ?? '' }) + (model ?? '');
  return { contextText: { tokenize: () => tokensOf(text) } };
}

/** A prompt as the fake chat format writes it, up to where the answer begins. */
export function chatText({ system, user }: Prompt): string {
  return `<s>${system}<u>${user}${ANSWER}`;
}

const ANSWER = '<a>';

function createSequence(
  { answer, onRead, onWrite }: FakeRuntimeOptions & Required<Pick<FakeRuntimeOptions, 'answer'>>,
  log: string[],
) {
  let held: number[] = [];
  const read = async (tokens: readonly number[]) => {
    await nextTurn();
    await onRead?.(tokens.length);
    held.push(...tokens);
    log.push(`read ${tokens.length}`);
  };
  /** What the model would write from the place where the answer begins. */
  const wholeAnswer = () => {
    const start = textOf(held).lastIndexOf(ANSWER) + ANSWER.length;
    return { whole: answer(textOf(held).slice(0, start)), start };
  };
  return {
    get contextTokens() {
      return [...held];
    },
    get nextTokenIndex() {
      return held.length;
    },
    async eraseContextTokenRanges(ranges: readonly { start: number; end: number }[]) {
      held = held.filter((_, place) => !ranges.some(({ start, end }) => start <= place && place < end));
    },
    evaluateWithoutGeneratingNewTokens: read,
    async *evaluate(tokens: readonly number[]) {
      await read(tokens);
      const { whole, start } = wholeAnswer();
      const written = textOf(held).slice(start);
      for (const token of tokensOf(whole.slice(written.length))) {
        await nextTurn();
        onWrite?.(textOf(held).slice(start));
        held.push(token);
        yield token;
      }
    },
    async controlledEvaluate(input: readonly (Token | [Token, Weighing])[]) {
      const before = held.length;
      await read(input.map((one) => (Array.isArray(one) ? one[0] : one)));
      const { whole, start } = wholeAnswer();
      return input.map((one, place) => {
        const written = textOf(held.slice(0, before + place + 1)).slice(start);
        const weigh = (candidate: Token) => (whole.startsWith(written + textOf([candidate])) ? 0 : UNLIKELY);
        if (!Array.isArray(one)) return { next: {} };
        const { tokens, includeTop } = one[1].generateNext.logits.filter;
        const likeliest = tokensOf(whole.slice(written.length)).slice(0, Math.min(1, includeTop));
        const asked = [...tokens, ...likeliest.map((token) => token as Token)];
        return { next: { logits: new Map(asked.map((candidate) => [candidate, weigh(candidate)])) } };
      });
    },
    async saveStateToFile(file: string) {
      await writeFile(file, JSON.stringify(held));
      log.push(`saved ${held.length}`);
    },
    async loadStateFromFile(file: string) {
      const state: number[] = JSON.parse(await readFile(file, 'utf8'));
      held = state;
      log.push(`loaded ${held.length}`);
    },
  };
}

interface Weighing {
  generateNext: { logits: { filter: { tokens: readonly Token[]; includeTop: number } } };
}
