/**
 * A model that notes how it failed, whatever a contestant made of that: a fallback behind a server that is down says
 * nothing of who fell back.
 */
import { toWinnowError, type WinnowError } from '../../../src/core/errors.js';
import type { Model } from '../../../src/core/model/model.js';
import { watchReader, wrapModel } from '../../../src/core/model/wrap-model.js';

export interface WatchedModel {
  readonly model: Model;
  /** The last failure since this was asked; for one request at a time. */
  takeFailure(): WinnowError | undefined;
}

export function watchModel(model: Model): WatchedModel {
  let failure: WinnowError | undefined;
  const note = (thrown: unknown): void => {
    const error = toWinnowError(thrown);
    if (isOfTheModel(error)) failure = error;
  };
  return {
    model: wrapModel(model, {
      async complete(request) {
        try {
          return await model.complete(request);
        } catch (error) {
          note(error);
          throw error;
        }
      },
      openReader: (request, open) =>
        watchReader(open, request, { onRefused: note, onClose: (_, failed) => failed && note(failed.error) }),
    }),
    takeFailure() {
      const taken = failure;
      failure = undefined;
      return taken;
    },
  };
}

/** HTTP statuses by which a server refuses the form of a request, not who sends it. */
const OF_THE_FORM: readonly unknown[] = [400, 422];

/** A prompt that is too long, or a schema that the server does not take, is the doing of who asks. */
function isOfTheModel({ code, details }: WinnowError): boolean {
  if (code === 'model_refused') return !OF_THE_FORM.includes(details.status);
  return code !== 'context_exceeded';
}
