import { describe, expect, it } from '@jest/globals';
import { WinnowError } from '../../src/core/errors.js';
import { acceptsEventStream } from '../../src/server/accepts-event-stream.js';
import {
  ASKED,
  answeringPlanner,
  createHangingModel,
  parseEvents,
  plannerOf,
  post,
  startServer,
  throwingPlanner,
} from './setup.js';

const STREAM = { headers: { accept: 'text/event-stream', 'x-request-id': 'r-1' } };

describe('the event stream', () => {
  it.each(['/v1/plan', '/v1/select'])(
    'of %s tells each stage and then the result, which holds the same trace',
    async (path) => {
      const { url } = await startServer({ planner: answeringPlanner() });
      const response = await post(`${url}${path}`, ASKED, STREAM);
      expect(response.status).toBe(200);
      expect(response.headers.get('content-type')).toBe('text/event-stream');
      expect(response.headers.get('x-request-id')).toBe('r-1');
      const events = parseEvents(await response.text());
      const last = events.pop();
      expect(last?.event).toBe('result');
      expect(events.length).toBeGreaterThan(1);
      expect(events.map(({ event }) => event)).toEqual(events.map(() => 'stage'));
      expect(last?.data.trace).toEqual(events.map(({ data }) => data));
    },
  );

  it('tells a stage while the model is still at work, and keeps the connection alive with comments', async () => {
    const { model, asked } = createHangingModel();
    const { url } = await startServer({ planner: plannerOf(model), options: { heartbeatMs: 5 } });
    const leave = new AbortController();
    const response = await post(`${url}/v1/plan`, ASKED, { ...STREAM, signal: leave.signal });
    await asked;
    let text = '';
    for await (const chunk of response.body ?? []) {
      text += Buffer.from(chunk).toString();
      if (text.split('\n\n: still at work\n\n: still at work\n\n').length > 1) break;
    }
    expect(text).toMatch(/^event: stage\ndata: \{"stage":"scope".*\n\n(event: stage\n.*\n\n)*(: still at work\n\n)+/);
    leave.abort();
  });

  it('ends with the problem document when the work fails', async () => {
    const error = new WinnowError('plan_invalid', 'No plan.', { issues: ['s1: no such tool'] });
    const { url } = await startServer({ planner: throwingPlanner(error, { after: 'scope' }) });
    const events = parseEvents(await (await post(`${url}/v1/plan`, ASKED, STREAM)).text());
    expect(events).toEqual([
      { event: 'stage', data: { stage: 'scope', milliseconds: 0, note: 'it begins' } },
      {
        event: 'error',
        data: expect.objectContaining({ code: 'plan_invalid', status: 502, requestId: 'r-1', issues: error.issues }),
      },
    ]);
  });

  it('does not open for a request that fails before its first stage', async () => {
    const { url } = await startServer({ planner: throwingPlanner(new WinnowError('model_timeout', 'Too slow.')) });
    const failed = await post(`${url}/v1/plan`, ASKED, STREAM);
    const refused = await post(`${url}/v1/plan`, { message: '' }, STREAM);
    expect([failed.status, refused.status]).toEqual([504, 400]);
    for (const response of [failed, refused]) {
      expect(response.headers.get('content-type')).toBe('application/problem+json');
    }
    expect(await refused.json()).toMatchObject({ code: 'invalid_request' });
  });
});

describe('acceptsEventStream', () => {
  it.each([
    ['text/event-stream', true],
    ['TEXT/Event-Stream; charset=utf-8', true],
    ['text/event-stream, */*', true],
    ['text/event-stream, application/json;q=0.9', true],
    ['text/event-stream, application/json', true],
    ['application/json, text/event-stream', false],
    ['text/event-stream;q=0.5, application/json', false],
    ['text/event-stream;q=0', false],
    ['application/json', false],
    ['*/*', false],
    ['', false],
    [undefined, false],
  ])('of %s is %s', (accept, expected) => {
    expect(acceptsEventStream(accept)).toBe(expected);
  });
});
