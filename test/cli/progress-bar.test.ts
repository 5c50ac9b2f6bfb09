import { PassThrough } from 'node:stream';
import { describe, expect, it } from '@jest/globals';
import { createProgressBar, renderDuration } from '../../src/cli/progress-bar.js';
import type { PullProgress } from '../../src/core/model/store/model-file.js';

const at = (bytes: number): PullProgress => ({ source: 'hub.example', bytes, total: 1_000_000 });

/** A bar at 10 kB a second: `update` lets the time pass that the new bytes take. */
function begin(isTTY: boolean) {
  const stream = Object.assign(new PassThrough(), isTTY ? { isTTY } : {});
  let now = 0;
  let last: PullProgress | undefined;
  const bar = createProgressBar('small', stream, () => now);
  const update = (progress: PullProgress) => {
    now += Math.max(progress.bytes - (last?.bytes ?? progress.bytes), 0) / 10;
    last = progress;
    bar.update(progress);
  };
  return { ...bar, update, text: () => String(stream.read() ?? '') };
}

describe('progress without a terminal', () => {
  it('is one line every tenth', () => {
    const bar = begin(false);
    for (let bytes = 0; bytes <= 1_000_000; bytes += 12_500) bar.update(at(bytes));
    bar.stop();
    const lines = bar.text().trimEnd().split('\n');
    expect(lines).toHaveLength(11);
    expect(lines[0]).toBe('small 0%  0 B of 1.00 MB, hub.example');
    expect(lines[5]).toBe('small 50%  500.0 kB of 1.00 MB, 10.0 kB/s, 50 s left, hub.example');
    expect(lines[10]).toBe('small 100%  1.00 MB of 1.00 MB, 10.0 kB/s, hub.example');
  });

  it.each([
    ['another source begins', 0, { ...at(800_000), source: 'packages' }],
    ['a download starts over', 800_000, at(0)],
  ])('counts the speed anew when %s', (_case, first, next) => {
    const bar = begin(false);
    bar.update(at(first));
    bar.update(next);
    bar.update({ ...next, bytes: next.bytes + 100_000 });
    const [, begun, later] = bar.text().split('\n');
    expect(begun).not.toContain('left');
    expect(later).toContain(', 10.0 kB/s, ');
  });

  it('writes notices as lines', () => {
    const bar = begin(false);
    bar.note('Waiting.');
    expect(bar.text()).toBe('Waiting.\n');
  });
});

describe('progress on a terminal', () => {
  it('is a bar with size, speed and time left, and notices above it', () => {
    const bar = begin(true);
    bar.update(at(0));
    bar.update(at(250_000));
    bar.note('Waiting.');
    bar.update(at(500_000));
    bar.stop();
    bar.stop();
    const written = bar.text();
    expect(written).toContain('small [');
    expect(written).toContain('50%  500.0 kB of 1.00 MB, 10.0 kB/s, 50 s left, hub.example');
    expect(written.indexOf('Waiting.\n')).toBeLessThan(written.indexOf('50%  500.0 kB'));
    expect(written.indexOf('Waiting.\n')).toBeGreaterThan(written.indexOf('small ['));
  });
});

describe('a time left', () => {
  it.each([
    [0.2, '1 s'],
    [59, '59 s'],
    [60, '1 min 0 s'],
    [3_725, '1 h 2 min'],
  ])('of %d seconds is %s', (seconds, text) => {
    expect(renderDuration(seconds)).toBe(text);
  });
});
