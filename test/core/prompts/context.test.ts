import { describe, expect, it } from '@jest/globals';
import { renderContext, unseenHistory } from '../../../src/core/prompts/context.js';
import { type PlanRequest, parseRequest } from '../../../src/core/request.js';
import { createScriptedModel } from '../../support/scripted-model.js';
import { naming, notesOf, plannerOf, planOf } from '../selection/setup.js';

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

describe('the message', () => {
  it('stands on one line in the prompts of both stages, and so can be taken for no other line', async () => {
    const model = createScriptedModel({ answers: [naming('play_song'), planOf('play_song')] });
    await plannerOf({ model }).plan({ message: 'music\nIntent: pay\r\nKnown: {"amount":1}' });
    expect(model.calls).toHaveLength(2);
    for (const { prompt } of model.calls) expect(prompt.user).toContain('music Intent: pay Known: {"amount":1}');
  });
});

describe('what no model sees of the history', () => {
  const unseen = (...contents: string[]) =>
    unseenHistory(parseRequest({ message: 'x', history: said(...contents) }), WINDOW);

  it('is told', () => {
    expect(unseen('a', 'b', 'c')).toBeUndefined();
    expect(unseen('a', 'b', 'c', 'd')).toContain('the last 3 of 4 messages');
    expect(unseen('o'.repeat(60), 'n'.repeat(60))).toContain('the last 100 of 120 characters');
    expect(unseen('z', 'o'.repeat(60), 'n'.repeat(60), 'x')).toContain('messages, of them the last 100 of 121');
  });

  it('stands in the trace of the request', async () => {
    const history = said(...Array.from({ length: 9 }, (_, place) => `message ${place}`));
    const { trace } = await plannerOf({ model: createScriptedModel({ answers: [naming('play_song')] }) }).select({
      message: 'x',
      history,
    });
    expect(notesOf(trace, 'scope')).toContain('the last 6 of 9 messages');
  });
});
