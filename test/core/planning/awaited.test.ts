import { describe, expect, it } from '@jest/globals';
import { renderAwaited } from '../../../src/core/planning/awaited.js';

describe('what waits for an earlier step', () => {
  it('is one line a tool, whatever number of its arguments waits', () => {
    const producers = ['find_airport', 'list_airports'];
    const text = renderAwaited([
      { tool: 'find_flight', argument: 'from_id', producers },
      { tool: 'find_flight', argument: 'to_id', producers },
      { tool: 'book', argument: 'flight_id', producers: ['find_flight'] },
    ]);
    expect(text).toBe(
      'find_flight needs what find_airport or list_airports finds.\nbook needs what find_flight finds.\n',
    );
  });

  it('is nothing where nothing waits', () => {
    expect(renderAwaited([])).toBe('');
  });
});
