/**
 * A model that notes how it failed, whatever a contestant made of that: a fallback behind a server that is down says
 * nothing of who fell back.
 */
import type { WinnowError } from '../../../src/core/errors.js';
import { type Model, watchModel } from '../../../src/core/model/model.js';

export interface WatchedModel {
  readonly model: Model;
  /** The last failure since this was asked; for one request at a time. */
  takeFailure(): WinnowError | undefined;
}

export function watchFailures(model: Model): WatchedModel {
  let failure: WinnowError | undefined;
  return {
    model: watchModel(model, () => ({ error }) => {
      if (error && isOfTheModel(error)) failure = error;
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
