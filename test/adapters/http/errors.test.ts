import { connect } from 'node:net';
import { text as readAll } from 'node:stream/consumers';
import { describe, expect, it } from 'vitest';
import { problemSchema } from '../../../src/adapters/http/problem.js';
import { ERROR_TABLE, type ErrorCode, WinnowError } from '../../../src/core/errors.js';
import type { Planner } from '../../../src/core/planner.js';
import {
  ASKED,
  answeringPlanner,
  closeAtOnce,
  createHangingModel,
  parseEvents,
  plannerOf,
  portOf,
  post,
  recordLog,
  startServer,
  throwingPlanner,
} from './setup.js';

const CODES = Object.keys(ERROR_TABLE) as ErrorCode[];
/** Of these the caller reads message and issues; they speak of its own request. */
const TOLD = [
  'invalid_request',
  'unauthenticated',
  'forbidden',
  'not_found',
  'plan_invalid',
  'overloaded',
  'quota_exceeded',
  'conflict',
  'key_reused',
  'outcome_unknown',
  'cancelled',
];

function errorOf(code: ErrorCode): WinnowError {
  const cause = new Error('cause at /srv/keys');
  return new WinnowError(code, 'words at /srv/keys', {
    issues: ['issue at /srv/keys'],
    details: { key: 'detail at /srv/keys' },
    cause,
  });
}

/** Throws the error whose code is the message, after the stage that it tells. */
function failingPlanner(): Planner {
  const of = ({ message }: { message: string }) => throwingPlanner(errorOf(message as ErrorCode), { after: 'scope' });
  return {
    ...throwingPlanner(new Error('nobody asks for this')),
    plan: (request, call) => of(request).plan(request, call),
    select: (request, call) => of(request).select(request, call),
  };
}

describe('an error of the planner', () => {
  const headers = { 'x-request-id': 'r-1' };

  it('is a problem document with its status from the table', async () => {
    const { url } = await startServer({ planner: failingPlanner() });
    for (const code of CODES) {
      const response = await post(`${url}/v1/plan`, { message: code }, { headers });
      const problem = problemSchema.parse(await response.json());
      const isTold = TOLD.includes(code);
      expect([code, response.status]).toEqual([code, ERROR_TABLE[code].httpStatus]);
      expect(response.headers.get('content-type')).toBe('application/problem+json');
      const isLater = ['overloaded', 'quota_exceeded'].includes(code);
      expect([code, response.headers.get('retry-after')]).toEqual([code, isLater ? '5' : null]);
      expect(problem).toEqual({
        type: `urn:winnow:problem:${code}`,
        title: ERROR_TABLE[code].meaning,
        status: ERROR_TABLE[code].httpStatus,
        detail: isTold ? 'words at /srv/keys' : 'The log of the server tells more under this request id.',
        code,
        issues: isTold ? ['issue at /srv/keys'] : [],
        requestId: 'r-1',
      });
    }
  });

  it('tells the same document inside an event stream', async () => {
    const { url } = await startServer({ planner: failingPlanner() });
    for (const code of CODES) {
      const ask = (more = {}) => post(`${url}/v1/select`, { message: code }, { headers: { ...headers, ...more } });
      const alone = await (await ask()).json();
      const streamed = await ask({ accept: 'text/event-stream' });
      expect(alone).toMatchObject({ code });
      expect(parseEvents(await streamed.text()).at(-1)).toEqual({ event: 'error', data: alone });
    }
  });

  it('is in the log in full where the server is at fault', async () => {
    const { logger, lines } = recordLog();
    const { url } = await startServer({ planner: failingPlanner(), logger });
    const codes = CODES.filter((one) => ERROR_TABLE[one].httpStatus >= 500);
    expect(codes.length).toBeGreaterThan(5);
    for (const code of codes) {
      await post(`${url}/v1/plan`, { message: code }, { headers });
      const details = { key: 'detail at /srv/keys' };
      const line = { level: 'error', requestId: 'r-1', route: '/v1/plan', code, details, msg: 'words at /srv/keys' };
      expect(lines()).toContainEqual(expect.objectContaining(line));
    }
  });

  it('that is no WinnowError is internal: its words and stack are in the log alone', async () => {
    const { logger, text } = recordLog();
    const { url } = await startServer({ planner: throwingPlanner(new Error('secret words')), logger });
    const responses = [await post(`${url}/v1/plan`, ASKED), await fetch(`${url}/v1/tools`)];
    for (const response of responses) {
      const body = await response.text();
      expect(response.status).toBe(500);
      expect(body).toContain('"internal"');
      expect(body).not.toMatch(/secret words|\.ts|node_modules/);
    }
    expect(text()).toContain('secret words');
    expect(text()).toMatch(/setup\.ts|errors\.test\.ts/);
  });
});

interface Fault {
  path?: string;
  method?: string;
  type?: string;
  body?: string;
  status: number;
  code: ErrorCode;
  allow?: string;
}

describe('a fault of HTTP', () => {
  it.each<[string, Fault]>([
    ['an unknown path', { path: '/v1/plan2', status: 404, code: 'not_found' }],
    [
      'an unknown path with a body that is not JSON',
      { path: '/x', type: 'text/plain', body: 'x', status: 404, code: 'not_found' },
    ],
    ['a path with a slash too many', { path: '/v1/plan/', status: 404, code: 'not_found' }],
    ['a wrong method', { method: 'GET', status: 405, code: 'invalid_request', allow: 'POST' }],
    [
      'a wrong method with a broken body',
      { path: '/v1/tools', body: '{', status: 405, code: 'invalid_request', allow: 'GET, HEAD' },
    ],
    [
      'a body that is too long',
      { body: JSON.stringify({ message: 'x'.repeat(3000) }), status: 413, code: 'invalid_request' },
    ],
    ['a body of another type', { type: 'text/plain', status: 415, code: 'invalid_request' }],
    ['a form', { type: 'application/x-www-form-urlencoded', status: 415, code: 'invalid_request' }],
    ['malformed JSON', { body: '{"message": ', status: 400, code: 'invalid_request' }],
    ['an empty body', { body: '', status: 400, code: 'invalid_request' }],
    [
      'JSON that poisons prototypes',
      { body: '{"__proto__": {"user": "bob"}, "message": "x"}', status: 400, code: 'invalid_request' },
    ],
    ['a body that is no object', { body: '["x"]', status: 400, code: 'invalid_request' }],
    ['an unknown field', { body: '{"message": "x", "mesage": "y"}', status: 400, code: 'invalid_request' }],
    ['a broken URL', { path: '/v1/%zz', status: 400, code: 'invalid_request' }],
    ['an unknown query field', { path: '/v1/tools?usr=a', method: 'GET', status: 400, code: 'invalid_request' }],
    ['two users', { path: '/v1/tools?user=a&user=b', method: 'GET', status: 400, code: 'invalid_request' }],
  ])('%s is a problem document', async (_name, fault) => {
    const { path = '/v1/plan', method = 'POST', type = 'application/json', body = JSON.stringify(ASKED) } = fault;
    const { url } = await startServer({ planner: answeringPlanner(), options: { bodyLimitBytes: 2000 } });
    const hasBody = method === 'POST';
    const headers = { 'x-request-id': 'r-1', ...(hasBody ? { 'content-type': type } : {}) };
    const response = await fetch(`${url}${path}`, { method, headers, ...(hasBody ? { body } : {}) });
    expect(response.status).toBe(fault.status);
    expect(response.headers.get('content-type')).toBe('application/problem+json');
    expect(response.headers.get('x-request-id')).toBe('r-1');
    expect(response.headers.get('allow')).toBe(fault.allow ?? null);
    expect(problemSchema.parse(await response.json())).toMatchObject({
      status: fault.status,
      code: fault.code,
      requestId: 'r-1',
    });
  });

  it('says how long a body may be', async () => {
    const { url } = await startServer({ planner: answeringPlanner(), options: { bodyLimitBytes: 2000 } });
    const response = await post(`${url}/v1/plan`, { message: 'x'.repeat(3000) });
    expect(await response.json()).toMatchObject({ status: 413, detail: expect.stringContaining('at most 2000 bytes') });
  });

  it('names the fields that are wrong', async () => {
    const { url } = await startServer({ planner: answeringPlanner() });
    const response = await post(`${url}/v1/plan`, { message: ' ', maxTools: 0 });
    expect(await response.json()).toMatchObject({
      issues: [expect.stringMatching(/^message: /), expect.stringMatching(/^maxTools: /)],
    });
  });

  it.each([
    ['what is no HTTP', 'HELLO\r\n\r\n', 400],
    ['headers that are too large', `GET /healthz HTTP/1.1\r\nhost: x\r\nx: ${'y'.repeat(20_000)}\r\n\r\n`, 431],
  ])('%s is answered by a problem document on the socket', async (_name, bytes, status) => {
    const { url } = await startServer({ planner: answeringPlanner() });
    const socket = connect(portOf(url), '127.0.0.1');
    socket.write(bytes);
    const [head = '', body = ''] = (await readAll(socket)).split('\r\n\r\n');
    expect(head).toMatch(new RegExp(`^HTTP/1.1 ${status} .*\r\ncontent-type: application/problem\\+json\r\n`));
    expect(problemSchema.parse(JSON.parse(body))).toMatchObject({ status, code: 'invalid_request' });
  });
});

describe('the log', () => {
  it('holds one line a request, without body, query, header or user', async () => {
    const { logger, lines, text } = recordLog();
    const { url } = await startServer({ planner: answeringPlanner(), logger });
    await post(`${url}/v1/plan`, { message: 'private words', user: 'anna' }, { headers: { cookie: 'of-anna' } });
    await post(`${url}/v1/plan`, '{"message": "private words" oops');
    await post(`${url}/v1/plan`, { message: 'private words', intent: 7 });
    await fetch(`${url}/v1/tools?user=anna`);
    expect(lines().map(({ method, route, status }) => [method, route, status])).toEqual([
      ['POST', '/v1/plan', 200],
      ['POST', '/v1/plan', 400],
      ['POST', '/v1/plan', 400],
      ['GET', '/v1/tools', 200],
    ]);
    expect(text()).not.toMatch(/private|anna/);
  });

  it('has no line of an error when the client left', async () => {
    const { logger, lines } = recordLog();
    const { model, asked, cancelled } = createHangingModel();
    const { app, url } = await startServer({ planner: plannerOf(model), logger });
    const leave = new AbortController();
    const gone = post(`${url}/v1/plan`, ASKED, { signal: leave.signal }).catch(() => 'gone');
    await asked;
    leave.abort();
    await cancelled;
    await gone;
    await closeAtOnce(app);
    expect(lines().map(({ level, msg, status }) => [level, msg, status])).toEqual([['info', 'the client left', 499]]);
  });
});

describe('a body that is nested without end', () => {
  it.each([
    ['lists', `${'['.repeat(50_000)}${']'.repeat(50_000)}`],
    ['objects', `${'{"a":'.repeat(50_000)}1${'}'.repeat(50_000)}`],
  ])('of %s is refused before anything is made of it', async (_, deep) => {
    const { url } = await startServer({ planner: answeringPlanner() });
    const body = `{"message": "a \\"[[{", "entities": {"a": ${deep}}}`;
    const headers = { 'content-type': 'application/json' };
    const response = await fetch(`${url}/v1/plan`, { method: 'POST', headers, body });
    expect(await response.json()).toMatchObject({ code: 'invalid_request', detail: expect.stringContaining('levels') });
    expect(response.status).toBe(400);
  });
});

it('a body of more values than its size is for is refused before it is parsed', async () => {
  const { url } = await startServer({ planner: answeringPlanner() });
  const body = JSON.stringify({ message: 'x', history: Array.from({ length: 200_000 }, () => ({})) });
  const headers = { 'content-type': 'application/json' };
  const response = await fetch(`${url}/v1/plan`, { method: 'POST', headers, body });
  expect(response.status).toBe(400);
  expect(await response.json()).toMatchObject({ detail: expect.stringContaining('more values than its size') });
});

it.each([
  ['head', 'POST /v1/plan HTTP/1.1\r\nhost: a\r\n'],
  ['body', 'POST /v1/plan HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\ncontent-length: 9\r\n\r\n{'],
])('a %s that does not come to its end is given up after the time to receive it', async (_, start) => {
  const { url } = await startServer({ planner: answeringPlanner(), options: { receiveTimeoutMs: 200 } });
  const socket = connect(portOf(url), '127.0.0.1');
  socket.write(start);
  expect(await readAll(socket)).toContain('408');
});
