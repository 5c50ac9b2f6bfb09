/** What can be said of a case, in the order in which it is shown: its name in a sentence, on a button, and as a sign. */

/** @import { CaseState } from '../case-index.ts' */

/** @type {Record<CaseState, {word: string, label: string, sign: string, note?: string}>} */
export const STATES = {
  right: { word: 'right', label: 'Right', sign: '✓' },
  wrong: { word: 'wrong', label: 'Wrong', sign: '✗' },
  unjudged: {
    word: 'not judged',
    label: 'Not judged',
    sign: '?',
    note: 'Neither right nor wrong: of a selection that was skipped it cannot be said where no tool fits',
  },
  error: { word: 'error', label: 'Errors', sign: '!', note: 'No answer: the model server or Winnow failed' },
};

export const STATE_NAMES = /** @type {const} */ (['right', 'wrong', 'unjudged', 'error']);
