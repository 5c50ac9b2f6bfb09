import { PassThrough } from 'node:stream';
import { describe, expect, it } from '@jest/globals';
import { createStageSpinner } from '../../src/cli/stage-spinner.js';

/** What is written while three stages are shown. */
function written(isTTY: boolean): string {
  const terminal = { isTTY, columns: 80, clearLine: () => true, cursorTo: () => true, moveCursor: () => true };
  const stream = Object.assign(new PassThrough(), terminal);
  const spinner = createStageSpinner('reading the request', stream);
  spinner.show('12 tools are seen');
  spinner.stop();
  spinner.stop();
  return String(stream.read() ?? '');
}

describe('the stage of a request', () => {
  it('is shown on a terminal', () => {
    expect(written(true)).toContain('12 tools are seen');
  });

  it('is written nowhere else, so that logs and pipes stay clean', () => {
    expect(written(false)).toBe('');
  });
});
