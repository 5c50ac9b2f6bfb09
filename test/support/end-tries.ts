/** For the tests of what becomes of a pattern that runs away: its time is over as soon as it is tried. */
import { Script } from 'node:vm';
import { jest } from '@jest/globals';

/** Until `mockRestore`. Patterns that are tried directly are none of these. */
export function endTries() {
  return jest.spyOn(Script.prototype, 'runInContext').mockImplementation(() => {
    throw new Error('Its time is over.');
  });
}
