/**
 * A request that its caller sends twice under one idempotency key is processed once, by whichever server gets it first.
 * The second gets the first one's answer. What may have taken effect is never repeated automatically. Answers may hold
 * secrets, so the caller's key encrypts them; the store has only a hash of the key.
 */
import { createHash } from 'node:crypto';
import { toWinnowError, WinnowError } from '../core/errors.js';
import { createKeyedDigest } from './approvals/canonical-json.js';
import { overQuota } from './quotas.js';
import { meaningOf } from './sandbox/failure.js';
import { seal, unseal } from './sealing.js';
import type { Store } from './store/sql/sql-store.js';
import type { AnswerRecord } from './store/store.js';

interface KeyedRequest {
  /** The owner of the key. Undefined: the operator's own program. */
  owner: string | undefined;
  key: string;
  /** All that identifies the request, as JSON. */
  request: unknown;
  /** False: it only reads, so a failure leaves its key free. */
  hasEffect: boolean;
}

interface KeptAnswersParts {
  store: Pick<Store, 'answers' | 'keys'>;
  /** Total size of one owner's answers, as JSON. */
  maxBytes: number;
  clock: () => Date;
}

/** Milliseconds. A server that works on a request renews its lease after a third of it. */
const LEASE_MS = 60_000;

export type KeptAnswers = ReturnType<typeof createKeptAnswers>;

export function createKeptAnswers({ store: { answers, keys }, maxBytes, clock }: KeptAnswersParts) {
  const digest = createKeyedDigest(keys);
  const lease = () => new Date(clock().getTime() + LEASE_MS).toISOString();
  return {
    /**
     * @throws WinnowError `key_reused`, `conflict` while the first one runs, `outcome_unknown`, `quota_exceeded`,
     *   `store_failed`, or what the work throws
     */
    async once({ owner = '', key, request, hasEffect }: KeyedRequest, work: () => Promise<unknown>) {
      const requestHash = (await digest())(request);
      const place = { owner, key: createHash('sha256').update(key).digest('hex') };
      const createdAt = clock().toISOString();
      const claimed = await answers.claim({ ...place, requestHash, createdAt, until: lease() }, maxBytes);
      if (claimed === 'full')
        throw overQuota('answerBytes', maxBytes, { next: 'Ask without a key, or wait until older answers are gone.' });
      if (claimed !== 'taken') return { answer: replay(claimed, { requestHash, key, now: clock() }), isReplayed: true };
      const renewal = setInterval(() => answers.setUntil(place, lease()).catch(() => undefined), LEASE_MS / 3).unref();
      try {
        const answer = await work();
        await (hasHadNoEffect(answer) ? answers.forget(place) : answers.keep(place, seal(answer, key)));
        return { answer, isReplayed: false };
      } catch (error) {
        await (!hasEffect || isRefusal(toWinnowError(error))
          ? answers.forget(place)
          : answers.setUntil(place, clock().toISOString()).catch(() => undefined));
        throw error;
      } finally {
        clearInterval(renewal);
      }
    },
  };
}

interface Asking {
  readonly requestHash: string;
  readonly key: string;
  readonly now: Date;
}

function replay({ content, until, ...kept }: AnswerRecord, { requestHash, key, now }: Asking): unknown {
  if (kept.requestHash !== requestHash)
    throw new WinnowError('key_reused', 'This key stands for another request: choose a new key for each request.');
  if (content !== undefined) return unseal(String(content), key);
  if (until > now.toISOString())
    throw new WinnowError('conflict', 'The first request with this key is still under way: ask again in a moment.');
  const todo = 'look whether it had its effect, and ask with a new key if it had not';
  throw new WinnowError('outcome_unknown', `The first request with this key broke off: ${todo}.`);
}

/** A refused call can be repeated under its key, for example after its approval. */
function hasHadNoEffect(answer: unknown): boolean {
  const { ok, code } = Object(answer);
  return ok === false && meaningOf(String(code)).ran === 'no';
}

/** `conflict` can also mean that a run lost its lease on the way. */
const MAY_HAVE_BEGUN: ReadonlySet<string> = new Set(['cancelled', 'conflict', 'outcome_unknown']);

/** Whether the request never began. One that failed on the way, or was cancelled, may have had a partial effect. */
function isRefusal({ code, meaning }: WinnowError): boolean {
  return code === 'overloaded' || (!MAY_HAVE_BEGUN.has(code) && meaning.httpStatus < 500);
}
