import { describe, expect, it } from '@jest/globals';
import { formatBytes } from '../../../../src/core/model/store/format-bytes.js';
import { createMeter, type PullProgress } from '../../../../src/core/model/store/progress.js';

describe('the meter', () => {
  const measure = (bytes: number, steps: readonly [seconds: number, bytes: number][]) => {
    const seen: PullProgress[] = [];
    let seconds = 0;
    const now = () => seconds * 1000;
    const meter = createMeter({
      source: 'hub',
      total: 1_000,
      bytes,
      now,
      onProgress: (progress) => seen.push(progress),
    });
    for (const [at, position] of steps) {
      seconds = at;
      meter(position);
    }
    return seen.map(({ bytesPerSecond, secondsLeft }) => [bytesPerSecond, secondsLeft]);
  };

  it('knows no time left before the first bytes, then the average speed', () => {
    expect(
      measure(0, [
        [0, 0],
        [2, 200],
        [4, 600],
        [5, 1_000],
      ]),
    ).toEqual([
      [0, undefined],
      [100, 8],
      [150, 400 / 150],
      [200, 0],
    ]);
  });

  it('does not count as speed what an earlier run has brought', () => {
    expect(measure(800, [[1, 900]])).toEqual([[100, 1]]);
  });

  it('measures anew when the download starts over', () => {
    expect(
      measure(800, [
        [1, 900],
        [10, 0],
        [12, 500],
      ]),
    ).toEqual([
      [100, 1],
      [0, undefined],
      [250, 2],
    ]);
  });
});

describe('a size for people', () => {
  it.each([
    [0, '0 B'],
    [999, '999 B'],
    [1_000, '1.00 kB'],
    [52_428_800, '52.4 MB'],
    [1_117_320_768, '1.12 GB'],
  ])('of %d bytes is %s', (bytes, text) => {
    expect(formatBytes(bytes)).toBe(text);
  });
});
