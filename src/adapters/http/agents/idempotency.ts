/** `Idempotency-Key`: the server runs a request once, even if its client repeats it, for example after a lost connection. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { KeptAnswers } from '../../../agents/kept-answers.js';
import { WinnowError } from '../../../core/errors.js';
import type { Stop } from '../graceful-stop.js';

export const KEY_HEADER = 'idempotency-key';
export const REPLAYED_HEADER = 'idempotency-replayed';
const KEY_TEXT =
  'Your key for this request, up to 255 characters, for example a UUID. The same request with the same key runs once, and ' +
  `its answer is repeated with \`${REPLAYED_HEADER}: true\`, for a day at least. A refused request leaves the key free. ` +
  'Another request with the key gets 422; 409 while the first one runs, or if it broke off with unknown outcome.';
export const KEY_HEADERS = { [KEY_HEADER]: KEY_TEXT };
const KEY = /^[\x21-\x7e]{1,255}$/u;

/** Does the work, or returns its earlier answer. Without a key, `signal` ends the work. */
export type Once = (
  request: FastifyRequest,
  reply: FastifyReply,
  call: { signal: AbortSignal; hasEffect: boolean },
  work: (signal: AbortSignal) => Promise<unknown>,
) => Promise<unknown>;

/**
 * Work with a key continues when its client disconnects, since the client will retry; a graceful stop waits for it.
 *
 * @param answers undefined: the server keeps no answers, and a key is refused
 */
export function createOnce(app: FastifyInstance, answers: KeptAnswers | undefined, stop: Stop): Once {
  const running = new Set<Promise<unknown>>();
  app.addHook('preClose', async () => void (await Promise.allSettled(running)));
  return async (request, reply, { signal, hasEffect }, work) => {
    const { method, url, body, identity } = request;
    if (method !== 'POST' || request.headers[KEY_HEADER] === undefined) return work(signal);
    if (!answers) throw unusable('this server keeps no answers; leave the header out');
    const key = keyOf(request);
    const owner = identity.caller?.user;
    // With the identity, so that a caller who has lost rights does not get the earlier answer.
    const asked = { owner, key, request: { method, url, body, identity }, hasEffect };
    const doing = answers.once(asked, () => work(stop.signal));
    running.add(doing);
    try {
      const { answer, isReplayed } = await doing;
      if (isReplayed && !reply.sent) reply.header(REPLAYED_HEADER, 'true');
      return answer;
    } finally {
      running.delete(doing);
    }
  };
}

function keyOf({ headers }: FastifyRequest): string {
  const key = headers[KEY_HEADER];
  if (typeof key === 'string' && KEY.test(key)) return key;
  throw unusable('one key of 1 to 255 visible ASCII characters, without spaces');
}

function unusable(why: string): WinnowError {
  const issues = [`${KEY_HEADER}: ${why}`];
  return new WinnowError('invalid_request', `The header is not usable: ${issues[0]}.`, { issues });
}
