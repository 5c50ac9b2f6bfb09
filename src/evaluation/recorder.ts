/**
 * A model that writes down what it was asked and what it answered, request by request. One recorded model serves all
 * cases, since a planner keeps what it has prepared for a model; calls are told apart by the request's id.
 */
import { createHash } from 'node:crypto';
import { toWinnowError } from '../core/errors.js';
import {
  type Completion,
  type CompletionRequest,
  type Model,
  noUsage,
  type Prompt,
  type ReaderRequest,
  type TokenReader,
  type Usage,
} from '../core/model/model.js';
import { watchReader, wrapModel } from '../core/model/wrap-model.js';
import { millisecondsSince } from './milliseconds-since.js';
import type { ModelCall } from './record.js';

/** A call as it is recorded; what came of a ranking is known only to those who read. */
export interface RecordedCall extends ModelCall {
  readonly isReading: boolean;
  readonly errorCode?: string;
  /** The text behind the hash `system`. */
  readonly stablePart: string;
}

export interface Recorder {
  model: Model;
  /** Its calls are written down among those of `model`. */
  planningModel: Model | undefined;
  /** The calls of a request, in the order of their end; forgotten with this call. */
  take(requestId: string): RecordedCall[];
}

export interface RecorderOptions {
  /** Default: `model` plans too. */
  planningModel?: Model | undefined;
  wasRemembered: (request: CompletionRequest | ReaderRequest) => boolean;
  /** Told of each stable part of a prompt, at least once. */
  onStablePart: (hash: string, text: string) => void;
}

export function createRecorder(model: Model, options: RecorderOptions): Recorder {
  const calls = new Map<string, RecordedCall[]>();
  const stablePart = createStableParts(options.onStablePart);
  const record: Record = (request, outcome) => {
    const requestId = request.about?.requestId ?? '';
    const call: RecordedCall = {
      ...outcome,
      system: stablePart(request.prompt),
      stablePart: request.prompt.system,
      user: request.prompt.user,
      fromCache: options.wasRemembered(request),
    };
    calls.set(requestId, [...(calls.get(requestId) ?? []), call]);
  };
  const { planningModel } = options;
  return {
    model: recorded(model, record),
    planningModel: planningModel && recorded(planningModel, record),
    take(requestId) {
      const taken = calls.get(requestId) ?? [];
      calls.delete(requestId);
      return taken;
    },
  };
}

function recorded(model: Model, record: Record): Model {
  return wrapModel(model, {
    complete: (request) => recordCompletion(model, request, record),
    openReader: (request, open) => recordReading(open, request, record),
  });
}

type Outcome = Omit<RecordedCall, 'system' | 'stablePart' | 'user' | 'fromCache'>;
type Record = (request: CompletionRequest | ReaderRequest, outcome: Outcome) => void;

async function recordCompletion(model: Model, request: CompletionRequest, record: Record): Promise<Completion> {
  const startedAt = performance.now();
  const common = { stage: request.stage, isReading: false };
  try {
    const completion = await model.complete(request);
    const { text: answer, usage } = completion;
    record(request, { ...common, answer, usage: { ...usage }, milliseconds: millisecondsSince(startedAt) });
    return completion;
  } catch (error) {
    record(request, { ...common, ...failed(error), milliseconds: millisecondsSince(startedAt) });
    throw error;
  }
}

/** One call a reading, when it is closed. */
function recordReading(
  open: NonNullable<Model['openReader']>,
  request: ReaderRequest,
  record: Record,
): Promise<TokenReader> {
  const startedAt = performance.now();
  const tell = (outcome: Pick<Outcome, 'answer' | 'usage'> & Partial<Outcome>) =>
    record(request, {
      stage: request.stage ?? 'selection',
      isReading: true,
      ...outcome,
      milliseconds: millisecondsSince(startedAt),
    });
  return watchReader(open, request, {
    onRefused: (error) => tell(failed(error)),
    onClose: (reader, failure, { fits }) =>
      tell({
        answer: fits === undefined ? '' : `fits ${fits}`,
        ...(failure ? failed(failure.error) : {}),
        usage: reader.usage(),
      }),
  });
}

function failed(thrown: unknown): { answer: string; error: string; errorCode: string; usage: Usage } {
  const { code, message, details } = toWinnowError(thrown);
  return {
    answer: '',
    error: `${code}: ${message}`,
    errorCode: code,
    usage: { ...noUsage(), ...Object(details.usage) },
  };
}

/** Hashing a long stable part again and again would cost more than all else here. */
const MAX_KEPT_PARTS = 200;

function createStableParts(onStablePart: RecorderOptions['onStablePart']): (prompt: Prompt) => string {
  const known = new Map<string, string>();
  return ({ system }) => {
    const hash = known.get(system) ?? createHash('sha256').update(system).digest('hex').slice(0, 16);
    if (!known.has(system)) onStablePart(hash, system);
    known.set(system, hash);
    const oldest = known.keys().next();
    if (known.size > MAX_KEPT_PARTS && !oldest.done) known.delete(oldest.value);
    return hash;
  };
}
