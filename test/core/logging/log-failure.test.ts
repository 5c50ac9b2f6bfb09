import { describe, expect, it } from '@jest/globals';
import { WinnowError } from '../../../src/core/errors.js';
import { logFailure } from '../../../src/core/logging/log-failure.js';
import { createLogger } from '../../../src/core/logging/logger.js';

const lineOf = (error: WinnowError): Record<string, unknown> => {
  const written: string[] = [];
  const logger = createLogger({ destination: { write: (line) => void written.push(line) } });
  logFailure(logger, error, { requestId: 'r-1' });
  return JSON.parse(written.join(''));
};

describe('the line of a failure', () => {
  it('has code, message and details', () => {
    const error = new WinnowError('model_failed', 'HTTP 500', { details: { status: 500 }, issues: ['hunter2'] });
    const line = { requestId: 'r-1', code: 'model_failed', msg: 'HTTP 500', details: { status: 500 } };
    expect(lineOf(error)).toMatchObject(line);
    expect(JSON.stringify(lineOf(error))).not.toContain('hunter2');
  });

  it('tells of a selection the facts, and not what the model wrote', () => {
    const tools = [{ name: 'log_in', via: 'model' }];
    const dropped = [{ name: 'hunter2', reason: 'unknown' }];
    const selection = { mode: 'selected', reason: 'The user says hunter2.', tools, dropped, leftOut: 0 };
    const line = lineOf(new WinnowError('plan_invalid', 'No plan.', { details: { selection } }));
    expect(line.details).toEqual({ selection: { mode: 'selected', tools, leftOut: 0 } });
  });
});
