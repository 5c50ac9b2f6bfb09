/** What a record says in place of a verdict where the model server, or Winnow, failed: no answer is no wrong answer. */
import type { CaseRecord } from './record.js';

type Failure = Readonly<Pick<NonNullable<CaseRecord['error']>, 'code' | 'message'>> & {
  readonly issues: readonly string[];
};

/** All of them share one cause; what failed is told by the code. */
export function noAnswer({ code, message, issues }: Failure) {
  return {
    outcome: 'error',
    error: { code, message, issues: [...issues] },
    scores: {},
    cause: 'error',
  } satisfies Partial<CaseRecord>;
}
