/**
 * A model that writes down what it was asked and what it answered, request by request. One recorded model serves all
 * cases, since a planner keeps what it has prepared for a model; calls are told apart by the request's id.
 */
import { createHash } from 'node:crypto';
import { keepLatest } from '../core/kept.js';
import {
  type CallEnd,
  type CompletionRequest,
  type Model,
  type Prompt,
  type ReaderRequest,
  watchModel,
} from '../core/model/model.js';
import { millisecondsSince } from './milliseconds-since.js';
import type { ModelCall } from './record.js';

/** A call as it is recorded; what came of a ranking is known only to those who read. */
export interface RecordedCall extends ModelCall {
  readonly isReading: boolean;
  readonly errorCode?: string;
  /** The text behind the hash `system`. */
  readonly stablePart: string;
}

type Asked = CompletionRequest | ReaderRequest;

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
  wasRemembered: (request: Asked) => boolean;
  /** Told of each stable part of a prompt, at least once. */
  onStablePart: (hash: string, text: string) => void;
}

export function createRecorder(model: Model, options: RecorderOptions): Recorder {
  const calls = new Map<string, RecordedCall[]>();
  const stablePart = createStableParts(options.onStablePart);
  const record = (request: Asked, end: CallEnd, milliseconds: number) => {
    const requestId = request.about?.requestId ?? '';
    const call: RecordedCall = {
      stage: request.stage ?? 'selection',
      isReading: 'opening' in request,
      answer: end.completion?.text ?? '',
      ...(end.error ? { error: `${end.error.code}: ${end.error.message}`, errorCode: end.error.code } : {}),
      usage: { ...end.usage },
      milliseconds,
      system: stablePart(request.prompt),
      stablePart: request.prompt.system,
      user: request.prompt.user,
      fromCache: options.wasRemembered(request),
    };
    calls.set(requestId, [...(calls.get(requestId) ?? []), call]);
  };
  const recorded = (inner: Model) =>
    watchModel(inner, (request) => {
      const startedAt = performance.now();
      return (end) => record(request, end, millisecondsSince(startedAt));
    });
  const { planningModel } = options;
  return {
    model: recorded(model),
    planningModel: planningModel && recorded(planningModel),
    take(requestId) {
      const taken = calls.get(requestId) ?? [];
      calls.delete(requestId);
      return taken;
    },
  };
}

/** Hashing a long stable part again and again would cost more than all else here. */
const MAX_KEPT_PARTS = 200;

function createStableParts(onStablePart: RecorderOptions['onStablePart']): (prompt: Prompt) => string {
  const known = new Map<string, string>();
  return ({ system }) => {
    const hash = known.get(system) ?? createHash('sha256').update(system).digest('hex').slice(0, 16);
    if (!known.has(system)) onStablePart(hash, system);
    keepLatest(known, [system, hash], MAX_KEPT_PARTS);
    return hash;
  };
}
