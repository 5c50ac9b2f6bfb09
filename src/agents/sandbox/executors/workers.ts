/**
 * Functions that are not trusted to yield: each call has its own thread, which ends with it. Endless loops are stopped,
 * memory is bounded, and calls share no state. A thread is no protection against hostile code, which could still open
 * files and sockets.
 */
import { types } from 'node:util';
import { deserialize } from 'node:v8';
import { type ResourceLimits, Worker } from 'node:worker_threads';
import { z } from 'zod';
import { WinnowError } from '../../../core/errors.js';
import { type CallFailure, describeThrown, fail } from '../failure.js';
import { type Executed, type Executor, type ExecutorCall, runnerOf } from './executor.js';

export interface WorkerFunction {
  /** The `file:` URL of an ES module. */
  readonly module: string | URL;
  /** Name of the exported function `(input, {user, session}) => output`. Default: the name of the tool. */
  readonly export?: string;
}

export interface WorkerOptions {
  /** Maximum heap of a call, in MiB. Default: 64. The engine does not count buffers. */
  readonly maxMemoryMb?: number;
}

/**
 * Source text, since a thread of compiled code would need a built file. The thread serializes the value itself, so
 * getters run there, and the main thread knows the size before it reads anything.
 */
const BOOTSTRAP = `
const { parentPort, workerData } = require('node:worker_threads');
const { serialize } = require('node:v8');
const words = (thrown) => {
  try { return String(thrown instanceof Error ? thrown.message || thrown.name : thrown); } catch { return 'a value that cannot be shown'; }
};
const answer = (facts) => parentPort.postMessage(facts);
(async () => {
  const { module, name, input, context, maxBytes } = workerData;
  const run = (await import(module))[name];
  if (typeof run !== 'function') return answer({ kind: 'missing' });
  let output;
  try { output = await run(input, context); } catch (thrown) { return answer({ kind: 'failed', reason: words(thrown) }); }
  let bytes;
  try { bytes = serialize(output); } catch (thrown) { return answer({ kind: 'unusable', reason: words(thrown) }); }
  if (bytes.length > maxBytes) return answer({ kind: 'large', size: bytes.length });
  answer({ kind: 'done', bytes });
})().catch((thrown) => answer({ kind: 'broken', reason: words(thrown) }));
`;

const answerSchema = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('missing') }),
  z.object({ kind: z.literal('large'), size: z.number() }),
  z.object({ kind: z.enum(['failed', 'unusable', 'broken']), reason: z.string() }),
  z.object({ kind: z.literal('done'), bytes: z.custom<Uint8Array>(types.isUint8Array) }),
]);

const DEFAULT_MEMORY_MB = 64;
const YOUNG_SHARE = 0.25;

/**
 * Name of a builtin system tool -> the module that holds its function.
 * @throws WinnowError `invalid_option` for a module that is no `file:` URL
 * @example
 * const workers = createWorkerExecutor({ file_read: { module: new URL('./tools.mjs', import.meta.url) } });
 */
export function createWorkerExecutor(
  functions: Readonly<Record<string, WorkerFunction>>,
  { maxMemoryMb = DEFAULT_MEMORY_MB }: WorkerOptions = {},
): Executor {
  const byName = new Map(
    Object.entries(functions).map(([name, one]) => [
      name,
      { module: fileUrl(name, one.module), export: one.export ?? name },
    ]),
  );
  const resourceLimits = {
    maxOldGenerationSizeMb: maxMemoryMb,
    maxYoungGenerationSizeMb: Math.max(1, Math.round(maxMemoryMb * YOUNG_SHARE)),
    stackSizeMb: 4,
  };
  return {
    canRun: (tool) => runnerOf(tool) === 'function' && byName.has(tool.name),
    async run(call) {
      const target = byName.get(call.tool.name);
      if (!target) return fail('not_runnable', `There is no function for ${call.tool.name}.`);
      return runInThread(call, { ...target, resourceLimits, maxBytes: call.maxReadBytes });
    },
  };
}

interface Target {
  readonly module: string;
  readonly export: string;
  readonly resourceLimits: ResourceLimits;
  readonly maxBytes: number;
}

async function runInThread(call: ExecutorCall, target: Target): Promise<Executed> {
  const { arguments: input, user, session, signal } = call;
  const { module, export: name, resourceLimits, maxBytes } = target;
  signal.throwIfAborted();
  const worker = new Worker(BOOTSTRAP, {
    eval: true,
    env: {},
    argv: [],
    execArgv: [],
    stdout: true,
    stderr: true,
    resourceLimits,
    workerData: { module, name, input, context: { user, session }, maxBytes },
  });
  // Output of functions must neither reach our stdout nor accumulate in memory.
  worker.stdout.resume();
  worker.stderr.resume();
  try {
    return await answerOf(worker, target, signal);
  } finally {
    await worker.terminate();
  }
}

function answerOf(worker: Worker, target: Target, signal: AbortSignal): Promise<Executed> {
  return new Promise((resolve) => {
    // The first of these counts. None uses `once`: a later event without a listener would throw here.
    worker.on('message', (message: unknown) => resolve(readAnswer(message, target)));
    worker.on('messageerror', (error) => resolve(fail('output_unusable', describeThrown(error))));
    worker.on('error', (error) => resolve(ofBrokenThread(error)));
    worker.on('exit', (code) =>
      resolve(fail('tool_failed', `The thread of the tool ended without a result (exit ${code}).`)),
    );
    signal.addEventListener('abort', () => resolve(fail('cancelled', 'The thread of the tool was ended.')), {
      once: true,
    });
  });
}

/** A function can post anything, so messages are untrusted. */
function readAnswer(message: unknown, target: Target): Executed {
  const parsed = answerSchema.safeParse(message);
  if (!parsed.success) return fail('output_unusable', 'The thread of the tool sent a message of an unknown form.');
  try {
    return toExecuted(parsed.data, target);
  } catch (thrown) {
    return fail('output_unusable', `The result can't be read: ${describeThrown(thrown)}`);
  }
}

function toExecuted(answer: z.infer<typeof answerSchema>, target: Target): Executed {
  switch (answer.kind) {
    case 'done':
      if (answer.bytes.length > target.maxBytes) return tooLarge(answer.bytes.length, target);
      return { ok: true, output: deserialize(answer.bytes) };
    case 'large':
      return tooLarge(answer.size, target);
    case 'unusable':
      return fail('output_unusable', `The result can't be handed over: ${answer.reason}`);
    case 'failed':
      return fail('tool_failed', `The tool failed: ${answer.reason}`);
    case 'missing':
      return fail('not_runnable', `The module of the tool exports no function "${target.export}".`);
    case 'broken':
      return fail('not_runnable', `The module of the tool can't be loaded: ${answer.reason}`);
  }
}

function tooLarge(size: number, { maxBytes }: Target): CallFailure {
  return fail('output_too_large', `The result has ${size} bytes; at most ${maxBytes} are read.`);
}

function ofBrokenThread(error: unknown): CallFailure {
  if (Object(error).code === 'ERR_WORKER_OUT_OF_MEMORY')
    return fail('tool_failed', 'The tool needed more memory than its thread has (maxMemoryMb).');
  return fail('tool_failed', `The thread of the tool broke: ${describeThrown(error)}`);
}

function fileUrl(name: string, module: string | URL): string {
  const text = String(module);
  if (URL.canParse(text) && new URL(text).protocol === 'file:') return text;
  throw new WinnowError(
    'invalid_option',
    `functions.${name}.module: "${text}" is no file: URL (pathToFileURL makes one).`,
  );
}
