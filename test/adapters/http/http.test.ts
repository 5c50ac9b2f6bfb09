/** What holds for any route: streams of events, how the server stops, and the document that describes it. */
import { once } from 'node:events';
import { connect } from 'node:net';
import { text as readAll } from 'node:stream/consumers';
import { describe, expect, it } from '@jest/globals';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { acceptsEventStream } from '../../../src/adapters/http/answer-work.js';
import { loadCatalog } from '../../../src/core/catalog/load.js';
import { readVersion } from '../../../src/core/environment.js';
import { ERROR_TABLE, WinnowError } from '../../../src/core/errors.js';
import type { Planner } from '../../../src/core/planner.js';
import { requestSchema } from '../../../src/core/request.js';
import { createScriptedModel } from '../../support/scripted-model.js';
import {
  ASKED,
  answeringPlanner,
  createHangingModel,
  PLAN,
  parseEvents,
  plannerOf,
  portOf,
  post,
  SELECTION,
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

/** Waits with `plan` until it is let go. */
function createHeldPlanner(onEnd?: () => void): { planner: Planner; asked: Promise<void>; letGo(): void } {
  const free = answeringPlanner();
  let begin: () => void = () => {};
  let letGo: () => void = () => {};
  const asked = new Promise<void>((resolve) => {
    begin = resolve;
  });
  const held = new Promise<void>((resolve) => {
    letGo = resolve;
  });
  const planner: Planner = {
    ...free,
    async plan(request, call) {
      begin();
      await held;
      const result = await free.plan(request, call);
      onEnd?.();
      return result;
    },
  };
  return { planner, asked, letGo: () => letGo() };
}

describe('close()', () => {
  it('lets a running request end, refuses new ones, and only then closes the model', async () => {
    const order: string[] = [];
    const { planner, asked, letGo } = createHeldPlanner(() => order.push('answered'));
    const onClose = async () => void order.push('model closed');
    const { app, url } = await startServer({ planner, onClose });
    const running = post(`${url}/v1/plan`, ASKED);
    await asked;
    const closed = app.close();
    await expect(fetch(`${url}/readyz`)).rejects.toThrow('fetch failed');
    expect(order).toEqual([]);
    letGo();
    expect((await running).status).toBe(200);
    await closed;
    expect(order).toEqual(['answered', 'model closed']);
  });

  it('answers 503 to a request that comes on a connection of before', async () => {
    const { planner, asked, letGo } = createHeldPlanner();
    const { app, url } = await startServer({ planner });
    const running = post(`${url}/v1/plan`, ASKED);
    await asked;
    const opened = once(app.server, 'connection');
    const socket = connect(portOf(url), '127.0.0.1');
    await opened;
    const closed = app.close();
    await expect(fetch(`${url}/readyz`)).rejects.toThrow('fetch failed');
    socket.write('GET /readyz HTTP/1.1\r\nhost: x\r\n\r\n');
    const text = await readAll(socket);
    expect(text).toMatch(/^HTTP\/1\.1 503 /);
    expect(text).toMatch(/\r\nconnection: close\r\n/i);
    expect(text).toMatch(/\r\nretry-after: 5\r\n/);
    expect(text).toContain('"detail":"The server is stopping."');
    letGo();
    expect((await running).status).toBe(200);
    await closed;
  });

  it.each(['application/json', 'text/event-stream'])(
    'cancels at the limit what still runs, and says so (%s)',
    async (accept) => {
      const { model, asked, cancelled } = createHangingModel();
      const { app, url } = await startServer({ planner: plannerOf(model), options: { stopTimeoutMs: 10 } });
      const running = post(`${url}/v1/plan`, ASKED, { headers: { accept } });
      await asked;
      const closed = app.close();
      expect(await cancelled).toBe('cancelled');
      expect(await (await running).text()).toContain('The server stopped before the answer was ready.');
      await closed;
    },
  );

  it('cuts connections whose request cannot be cancelled', async () => {
    const { planner, asked } = createHeldPlanner();
    const { app, url } = await startServer({ planner, options: { stopTimeoutMs: 10 } });
    const running = post(`${url}/v1/plan`, ASKED).catch((error: Error) => error.message);
    await asked;
    await app.close();
    expect(await running).toBe('fetch failed');
  });
});

type Json = Record<string, unknown>;

async function startDocumented(parts: Partial<Parameters<typeof startServer>[0]> = {}) {
  const { app, url } = await startServer({ planner: answeringPlanner(), ...parts });
  const document = JSON.parse(await (await fetch(`${url}/openapi.json`)).text());
  return { app, url, document };
}

/** Checks values against a component; a schema that is none makes the compilation throw. */
function validatorOf(document: Json) {
  const ajv = new Ajv2020({ strict: false, allErrors: true, validateFormats: false });
  ajv.addSchema({ $id: 'openapi', ...document });
  return (name: string, value: unknown) => {
    const validate = ajv.getSchema(`openapi#/components/schemas/${name}`);
    if (!validate) throw new Error(`no schema ${name}`);
    validate(value);
    return validate.errors ?? [];
  };
}

function valuesOf(value: unknown, key: string): unknown[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, part]) => [...(name === key ? [part] : []), ...valuesOf(part, key)]);
}

describe('GET /openapi.json', () => {
  it('is OpenAPI 3.1 and documents every route of the server', async () => {
    const { app, document } = await startDocumented();
    expect(document.openapi).toBe('3.1.1');
    expect(document.info).toMatchObject({ title: 'Winnow', version: readVersion() });
    const documented = Object.entries<Json>(document.paths).flatMap(([path, item]) =>
      Object.keys(item).map((method) => `${method.toUpperCase()} ${path}`),
    );
    expect(documented).toEqual([
      'POST /v1/plan',
      'POST /v1/select',
      'GET /v1/tools',
      'GET /healthz',
      'GET /readyz',
      'GET /openapi.json',
    ]);
    for (const line of documented) {
      const [method = '', url = ''] = line.split(' ');
      expect([line, app.hasRoute({ method, url })]).toEqual([line, true]);
    }
    expect(app.printRoutes({ commonPrefix: false }).match(/─ /g)).toHaveLength(documented.length);
  });

  it('has a schema behind every reference', async () => {
    const { document } = await startDocumented();
    const references = valuesOf(document, '$ref').map(String);
    expect(references.length).toBeGreaterThan(20);
    for (const reference of references) {
      const found = reference
        .slice(2)
        .split('/')
        .reduce<unknown>((part, key) => Object(part)[key], document);
      expect([reference, typeof found]).toEqual([reference, 'object']);
    }
  });

  it('tells that every failure is a problem, with each code of the error table and its status', async () => {
    const { document } = await startDocumented();
    const { description } = document.components.schemas.Problem.properties.code;
    for (const [code, { httpStatus, meaning }] of Object.entries(ERROR_TABLE))
      expect(description).toContain(`\`${code}\` (${httpStatus}): ${meaning}`);
    for (const { post, get } of Object.values<Json>(document.paths))
      expect(Object(post ?? get).responses.default.content).toEqual({
        'application/problem+json': { schema: { $ref: '#/components/schemas/Problem' } },
      });
  });

  it('describes each field of a request', async () => {
    const { document } = await startDocumented();
    expect(Object.keys(document.components.schemas.PlanRequest.properties)).toEqual([
      ...Object.keys(requestSchema.shape),
      'tools',
    ]);
    expect(document.components.schemas.PlanRequest.required).toEqual(['message']);
  });

  it('describes what the server really answers', async () => {
    const model = createScriptedModel({ answers: ({ stage }) => (stage === 'selection' ? SELECTION : PLAN) });
    const { url, document } = await startDocumented({ planner: plannerOf(model) });
    const validate = validatorOf(document);
    const answers: [string, Response][] = [
      ['PlanResult', await post(`${url}/v1/plan`, ASKED)],
      ['SelectResult', await post(`${url}/v1/select`, ASKED)],
      ['ToolList', await fetch(`${url}/v1/tools`)],
      ['Problem', await post(`${url}/v1/plan`, {})],
      ['Problem', await fetch(`${url}/v1/plan`)],
    ];
    for (const [name, response] of answers) expect([name, validate(name, await response.json())]).toEqual([name, []]);
    const stream = await post(`${url}/v1/plan`, ASKED, { headers: { accept: 'text/event-stream' } });
    for (const { event, data } of parseEvents(await stream.text())) {
      expect([event, validate(event === 'stage' ? 'TraceEvent' : 'PlanResult', data)]).toEqual([event, []]);
    }
    expect(validate('PlanRequest', ASKED)).toEqual([]);
    expect(validate('PlanRequest', { mesage: 'x' })).not.toEqual([]);
    expect(validate('PlanResult', { kind: 'plan' })).not.toEqual([]);
  });

  it('can itself be read as a catalogue of tools', async () => {
    const { url } = await startDocumented();
    const { catalog, issues } = await loadCatalog({ sources: [`openapi:${url}/openapi.json`] });
    expect(catalog.tools.map(({ name }) => name)).toEqual([
      'plan',
      'select',
      'list_tools',
      'health',
      'readiness',
      'openapi',
    ]);
    expect(issues.filter(({ level }) => level === 'warning')).toEqual([]);
  });
});

describe.each(['/healthz', '/readyz'])('GET %s', (path) => {
  it('is ok while requests are taken', async () => {
    const { url } = await startServer({ planner: answeringPlanner() });
    const response = await fetch(`${url}${path}`);
    expect([response.status, await response.json()]).toEqual([200, { status: 'ok' }]);
  });
});
