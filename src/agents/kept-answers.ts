/**
 * A request that its caller sends twice under one key is done once, whichever server of the store gets it. The answer of
 * the first is that of the second. What may have had its effect is never done again by itself.
 */
import { toWinnowError, WinnowError } from '../core/errors.js';
import { createKeyedDigest } from './approvals/keyed-digest.js';
import { overQuota } from './quotas.js';
import { FAILURE_TABLE } from './sandbox/failure.js';
import type { AnswerRecord } from './store/answers.js';
import type { Store } from './store/store.js';

export interface KeyedRequest {
  /** Whose key it is. Undefined: the operator's own program. */
  owner: string | undefined;
  key: string;
  /** All that makes a request the same one, as JSON can hold it. */
  request: unknown;
}

export interface KeptAnswers {
  /**
   * @throws WinnowError `key_reused`, `conflict` while the first one runs, `outcome_unknown`, `quota_exceeded`,
   *   `store_failed`, or what the work throws
   */
  once(request: KeyedRequest, work: () => Promise<unknown>): Promise<{ answer: unknown; isReplayed: boolean }>;
}

export interface KeptAnswersParts {
  store: Pick<Store, 'answers' | 'keys'>;
  /** Of all answers of one owner, as JSON. */
  maxBytes: number;
  clock: () => Date;
}

/** A server that works on a request says so again after a third of it, in milliseconds. */
const LEASE_MS = 60_000;

export function createKeptAnswers({ store: { answers, keys }, maxBytes, clock }: KeptAnswersParts): KeptAnswers {
  const digest = createKeyedDigest(keys);
  const lease = () => new Date(clock().getTime() + LEASE_MS).toISOString();
  return {
    async once({ owner = '', key, request }, work) {
      const requestHash = (await digest())(request);
      const place = { owner, key };
      const createdAt = clock().toISOString();
      const claimed = await answers.claim({ ...place, requestHash, createdAt, until: lease() }, maxBytes);
      if (claimed === 'full')
        throw overQuota('answerBytes', maxBytes, 'Ask without a key, or wait until older answers are gone.');
      if (claimed !== 'taken') return { answer: replay(claimed, requestHash, clock()), isReplayed: true };
      const renewal = setInterval(() => answers.setUntil(place, lease()).catch(() => undefined), LEASE_MS / 3).unref();
      try {
        const answer = await work();
        await (hasHadNoEffect(answer) ? answers.forget(place) : answers.keep(place, answer));
        return { answer, isReplayed: false };
      } catch (error) {
        await (isRefusal(toWinnowError(error))
          ? answers.forget(place)
          : answers.setUntil(place, clock().toISOString()).catch(() => undefined));
        throw error;
      } finally {
        clearInterval(renewal);
      }
    },
  };
}

function replay({ content, until, ...kept }: AnswerRecord, requestHash: string, now: Date): unknown {
  if (kept.requestHash !== requestHash)
    throw new WinnowError('key_reused', 'This key stands for another request: choose a new key for each request.');
  if (content !== undefined) return content;
  if (until > now.toISOString())
    throw new WinnowError('conflict', 'The first request with this key is still under way: ask again in a moment.');
  const todo = 'look whether it had its effect, and ask with a new key if it had not';
  throw new WinnowError('outcome_unknown', `The first request with this key broke off: ${todo}.`);
}

/** A refused call can be made again under its key, for example when it has been approved. */
function hasHadNoEffect(answer: unknown): boolean {
  const { ok, code } = Object(answer);
  return ok === false && (!isFailureOfCall(code) || FAILURE_TABLE[code].ran === 'no');
}

function isFailureOfCall(code: unknown): code is keyof typeof FAILURE_TABLE {
  return typeof code === 'string' && Object.hasOwn(FAILURE_TABLE, code);
}

/** Of a request that was not begun. What failed on the way, or was cancelled, may have had a part of its effect. */
function isRefusal({ code, meaning }: WinnowError): boolean {
  return code === 'overloaded' || (code !== 'cancelled' && meaning.httpStatus < 500);
}
