import { it } from 'vitest';
import { checkIsolationRuns } from './isolation-runs.js';

// More of them: isolation.property.slow.test.ts; a thousand: test/bench/isolation.mjs.
it('any two users, whatever they ask, get the answers that each would get alone', () => checkIsolationRuns(4), 120_000);
