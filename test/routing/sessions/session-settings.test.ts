import { describe, expect, it } from '@jest/globals';
import { parseSessionSettings } from '../../../src/routing/sessions/session-settings.js';
import { setUp } from '../setup.js';

describe('the settings of sessions', () => {
  it('are a day without life, and visible from the next request, where nothing is said', () => {
    expect(parseSessionSettings({})).toEqual({ sessionIdleMs: 86_400_000, visibleFrom: 'next_request' });
  });

  it('are taken in minutes', () => {
    expect(parseSessionSettings({ idleMinutes: 1.5, visibleFrom: 'next_turn' })).toEqual({
      sessionIdleMs: 90_000,
      visibleFrom: 'next_turn',
    });
  });

  it('reach the agent: enabling says from when its client shows the tool', async () => {
    const { router } = setUp({ options: parseSessionSettings({ visibleFrom: 'next_turn' }) });
    const { id } = await router.createSession();
    expect(await router.enable(id, { names: ['lsp_open'] })).toMatchObject({
      callable_from: 'now',
      visible_from: 'next_turn',
    });
  });

  it.each([
    ['a time that is none', { idleMinutes: 0 }, 'sessions.idleMinutes'],
    ['another unit', { idleHours: 2 }, 'idleHours'],
    ['an unknown moment', { visibleFrom: 'never' }, 'sessions.visibleFrom'],
    ['no settings', 7, 'sessions'],
  ])('refuse %s, naming the field', (_, input, field) => {
    expect(() => parseSessionSettings(input)).toThrow(
      expect.objectContaining({ code: 'invalid_option', message: expect.stringContaining(field) }),
    );
  });
});
