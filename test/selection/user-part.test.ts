import { describe, expect, it } from '@jest/globals';
import { type PlanRequest, parseRequest } from '../../src/request.js';
import { renderContext } from '../../src/selection/user-part.js';

const WINDOW = { historyMessages: 3, historyCharacters: 100 };

function lines(request: Omit<PlanRequest, 'message'>, window = WINDOW): string[] {
  return renderContext(parseRequest({ message: 'x', ...request }), window)
    .split('\n')
    .slice(0, -1);
}

function said(...contents: string[]): NonNullable<PlanRequest['history']> {
  return contents.map((content) => ({ role: 'user', content }));
}

describe('what goes before the message', () => {
  it('is nothing when nothing is known', () => {
    expect(renderContext(parseRequest({ message: 'x', entities: {}, history: [] }), WINDOW)).toBe('');
  });

  it('is history, intent and entities, a line each', () => {
    const request = { intent: 'a\nb', entities: { x: '1\n2' }, history: said('first\nsecond') };
    expect(lines(request)).toEqual(['Earlier messages:', 'user: first second', 'Intent: a b', 'Known: {"x":"1\\n2"}']);
  });

  it('holds the last messages only, in their order', () => {
    expect(lines({ history: said('a', 'b', 'c', 'd') })).toEqual([
      'Earlier messages:',
      'user: b',
      'user: c',
      'user: d',
    ]);
  });

  it('shortens the oldest first, and shows where', () => {
    const shown = lines({ history: said('o'.repeat(60), 'n'.repeat(60)) });
    expect(shown[2]).toBe(`user: ${'n'.repeat(60)}`);
    expect(shown[1]).toMatch(/^user: o{39}…$/);
  });

  it('leaves out what has no room at all', () => {
    expect(lines({ history: said('old', 'n'.repeat(200)) })).toEqual(['Earlier messages:', `user: ${'n'.repeat(99)}…`]);
  });

  it.each([
    { historyMessages: 0, historyCharacters: 100 },
    { historyMessages: 3, historyCharacters: 0 },
  ])('is without history when the window is %j', (window) => {
    expect(lines({ history: said('a') }, window)).toEqual([]);
  });
});
