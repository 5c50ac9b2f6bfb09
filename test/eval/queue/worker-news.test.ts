import { describe, expect, it } from 'vitest';
import { createWorkerNews } from '../../../src/eval/queue/queue-command.js';

function news() {
  const clock = { milliseconds: 0 };
  const notices: string[] = [];
  const tell = createWorkerNews(
    (text) => notices.push(text),
    () => clock.milliseconds,
  );
  const at = (milliseconds: number, workers: Record<string, string>) => {
    clock.milliseconds = milliseconds;
    tell(workers);
    return notices.splice(0);
  };
  return { at };
}

describe('what is told of the workers', () => {
  it('is each that takes part or refuses, once', () => {
    const { at } = news();
    expect(at(0, { a: '', b: 'model: other.' })).toEqual([
      'The worker a takes part.',
      'The worker b refuses: model: other.',
    ]);
    expect(at(9_000, { a: '', b: 'model: other.' })).toEqual([]);
    expect(at(9_500, { a: '', b: '' })).toEqual(['The worker b takes part.']);
  });

  it('is, after a while and once, that none takes part; one that refuses does not count', () => {
    const { at } = news();
    expect(at(4_999, {})).toEqual([]);
    expect(at(5_000, { b: 'no.' })).toEqual([
      'The worker b refuses: no.',
      expect.stringContaining('No worker takes part yet'),
    ]);
    expect(at(9_000, { b: 'no.' })).toEqual([]);
  });
});
