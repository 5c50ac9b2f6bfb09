import { PassThrough } from 'node:stream';
import { describe, expect, it } from '@jest/globals';
import { createProgressBar, renderDuration, renderProgress } from '../../src/cli/progress-bar.js';
import type { PullProgress } from '../../src/core/model/store/progress.js';

const at = (bytes: number): PullProgress => ({
  source: 'hub',
  bytes,
  total: 1_000_000,
  bytesPerSecond: bytes === 0 ? 0 : 10_000,
  secondsLeft: bytes === 0 ? undefined : (1_000_000 - bytes) / 10_000,
});

function collect(isTTY: boolean) {
  const stream = Object.assign(new PassThrough(), isTTY ? { isTTY } : {});
  const text = () => String(stream.read() ?? '');
  return { stream, text };
}

describe('progress without a terminal', () => {
  it('is one line every tenth', () => {
    const { stream, text } = collect(false);
    const bar = createProgressBar('small', stream);
    for (let bytes = 0; bytes <= 1_000_000; bytes += 12_500) bar.update(at(bytes));
    bar.stop();
    const lines = text().trimEnd().split('\n');
    expect(lines).toHaveLength(11);
    expect(lines[0]).toBe('small 0%  0 B of 1.00 MB, hub');
    expect(lines[5]).toBe('small 50%  500.0 kB of 1.00 MB, 10.0 kB/s, 50 s left, hub');
    expect(lines[10]).toBe('small 100%  1.00 MB of 1.00 MB, 10.0 kB/s, hub');
  });

  it('writes notices as lines', () => {
    const { stream, text } = collect(false);
    createProgressBar('small', stream).note('Waiting.');
    expect(text()).toBe('Waiting.\n');
  });
});

describe('progress on a terminal', () => {
  it('is a bar with size, speed and time left, and notices above it', () => {
    const { stream, text } = collect(true);
    const bar = createProgressBar('small', stream);
    bar.update(at(250_000));
    bar.note('Trying again.');
    bar.update(at(500_000));
    bar.stop();
    bar.stop();
    const written = text();
    expect(written).toContain('small [');
    expect(written).toContain('25%  250.0 kB of 1.00 MB, 10.0 kB/s, 1 min 15 s left, hub');
    expect(written.indexOf('Trying again.\n')).toBeLessThan(written.indexOf('50%  500.0 kB'));
    expect(written.indexOf('Trying again.\n')).toBeGreaterThan(written.indexOf('25%'));
  });
});

describe('a line of progress', () => {
  it('has no time left when all is there', () => {
    expect(renderProgress(at(1_000_000))).toBe('1.00 MB of 1.00 MB, 10.0 kB/s, hub');
  });

  it.each([
    [0.2, '1 s'],
    [59, '59 s'],
    [60, '1 min 0 s'],
    [3_725, '1 h 2 min'],
  ])('shows %d seconds as %s', (seconds, text) => {
    expect(renderDuration(seconds)).toBe(text);
  });
});
