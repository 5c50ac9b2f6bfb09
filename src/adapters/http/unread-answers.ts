/** Limits what the clients of a user have asked for and not read: it would fill the memory. */
import type { FastifyInstance } from 'fastify';
import { accountOf } from '../../agents/contracts.js';
import { createUserCounts } from '../../agents/quotas.js';
import { WinnowError } from '../../core/errors.js';

/** A single answer may have more. */
const MOST_UNREAD_BYTES = 64 * 2 ** 20;
/** A client that reads nothing for so long has presumably gone. */
const UNREAD_MS = 60_000;

/** Streams have a limit of their own. */
export function boundUnreadAnswers(app: FastifyInstance): void {
  const unread = createUserCounts();
  app.addHook('onSend', async ({ identity }, { raw }, payload) => {
    if (typeof payload !== 'string' && !Buffer.isBuffer(payload)) return payload;
    raw.setTimeout(UNREAD_MS, () => raw.destroy());
    const user = accountOf(identity?.caller);
    const bytes = payload.length;
    const others = unread.of(user);
    if (others > 0 && others + bytes > MOST_UNREAD_BYTES)
      throw new WinnowError('quota_exceeded', `${others} bytes of answers to you are not read yet. Read them first.`);
    unread.add(user, bytes);
    raw.once('close', () => unread.add(user, -bytes));
    return payload;
  });
}
