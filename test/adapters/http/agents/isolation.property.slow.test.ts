import { it } from 'vitest';
import { checkIsolationRuns } from './isolation-runs.js';

it(
  'any two users, whatever they ask, get the answers that each would get alone',
  () => checkIsolationRuns(20),
  300_000,
);
