import { describe, expect, it } from '@jest/globals';
import type { TelemetryEvent } from '../../../src/routing/records.js';
import { createSearchFollower, type SearchOutcome } from '../../../src/routing/telemetry/follow-searches.js';
import { call, enable, expire, search } from './setup.js';

function outcomesOf(events: readonly TelemetryEvent[], maxSessions?: number): SearchOutcome[] {
  const outcomes: SearchOutcome[] = [];
  const follower = createSearchFollower({ onOutcome: (_, outcome) => outcomes.push(outcome), maxSessions });
  for (const event of events) follower.observe(event);
  follower.end();
  return outcomes;
}

describe('what becomes of a search', () => {
  const found = search('s', ['a', 'b', 'c']);

  it.each<[string, TelemetryEvent[], SearchOutcome]>([
    ['its first tool was enabled', [enable('s', 'a')], { kind: 'used', tool: 'a', place: 0 }],
    ['its third tool was called', [call('s', 'c')], { kind: 'used', tool: 'c', place: 2 }],
    ['another tool was enabled than it found', [enable('s', 'z')], { kind: 'used', tool: 'z', place: -1 }],
    ['a tool was called that it has no part in', [call('s', 'z')], { kind: 'left' }],
    ['a tool only came along', [enable('s', 'a', { via: 'related' })], { kind: 'left' }],
    ['nothing came', [], { kind: 'left' }],
    ['something ended', [expire('s', 'a', 0)], { kind: 'left' }],
    ['another session used its tool', [enable('other', 'a')], { kind: 'left' }],
  ])('when %s', (_, events, outcome) => {
    expect(outcomesOf([found, ...events])).toEqual([outcome]);
  });

  it('is "again" when the next thing is a search in this turn or the next, and "left" when that comes later', () => {
    expect(outcomesOf([found, search('s', [])])[0]).toEqual({ kind: 'again' });
    expect(outcomesOf([found, search('s', [], { turn: 2 })])[0]).toEqual({ kind: 'again' });
    expect(outcomesOf([found, search('s', [], { turn: 3 })])[0]).toEqual({ kind: 'left' });
  });

  it('is told once, by the first use', () => {
    expect(outcomesOf([found, enable('s', 'b'), call('s', 'b'), enable('s', 'a')])).toEqual([
      { kind: 'used', tool: 'b', place: 1 },
    ]);
  });

  it('is "left" for the session that is silent longest when there are too many', () => {
    expect(outcomesOf([search('one', ['a']), search('two', ['a']), enable('one', 'a')], 1)).toEqual([
      { kind: 'left' },
      { kind: 'left' },
    ]);
  });
});
