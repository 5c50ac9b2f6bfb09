/** What an operator sees of a call in a trace: what was decided and what ran, each with its tool, and no argument. */
import { afterEach, describe, expect, it } from '@jest/globals';
import { trace } from '@opentelemetry/api';
import { recordSpans } from '../support/record-spans.js';
import { setUp } from './setup.js';

describe('the spans of a call', () => {
  afterEach(() => trace.disable());

  it('are of the decision and of the run, which is not there where the call is refused', async () => {
    const spans = recordSpans();
    const { router } = setUp();
    const { id } = await router.createSession({ user: 'ann' });
    const read = { tool: 'file_read', arguments: { path: 'very-secret' } };
    await router.call(id, read);
    await router.enable(id, { names: ['file_read'] });
    await router.call(id, read);
    const attributes = { 'winnow.tool': 'file_read' };
    expect(spans).toMatchObject([
      { name: 'winnow.decide', attributes, ended: 1 },
      { name: 'winnow.decide', attributes, ended: 1 },
      { name: 'winnow.call', attributes, ended: 1 },
    ]);
    expect(JSON.stringify(spans)).not.toContain('very-secret');
  });
});
