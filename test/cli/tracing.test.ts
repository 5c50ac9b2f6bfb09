/** Traces over OTLP/HTTP as a receiver gets them: what is below what, where a trace goes on, and what stands in no span. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { trace } from '@opentelemetry/api';
import { afterEach, expect, it, vi } from 'vitest';
import { recordSpans } from '../support/record-spans.js';
import { startScriptedServer } from '../support/scripted-server.js';
import { answer } from '../support/server-behaviours.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { listen, type Span, startReceiver, valuesOf } from '../support/trace-receiver.js';
import { start } from './mcp-setup.js';
import { configured, NO_MODEL, serve } from './serve-setup.js';

// A process loads its sources one by one.
vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

const SELECTION = '{"selected_tools": ["look_up"], "reason": "it looks up"}';
const PLAN = '{"kind": "plan", "steps": [{"id": "s1", "tool": "look_up", "arguments": {}}]}';
const PARENT = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
const [, TRACE, CALLER] = PARENT.split('-');

const ends: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0)) await end();
});

function inEnvironment(given: Readonly<Record<string, string>>): void {
  Object.assign(process.env, given);
  ends.push(() => {
    for (const name of Object.keys(given)) delete process.env[name];
  });
}

/** A catalogue of one operation that a server of the test answers, and a model that plans it. */
async function setUp(location?: string) {
  const receiver = await startReceiver();
  const upstream = location === undefined ? await listen('{"found": 1}') : await listen('', 302, { location });
  const model = await startScriptedServer(({ body }) =>
    answer(JSON.stringify(body).includes('selected_tools') ? SELECTION : PLAN),
  );
  ends.push(() => model.close());
  const document = {
    openapi: '3.1.0',
    info: { title: 'Words', version: '1' },
    servers: [{ url: upstream.url }],
    paths: { '/words': { get: { operationId: 'look_up', summary: 'Looks up a word.', responses: {} } } },
  };
  const path = join(temporaryFolder(), 'words.json');
  writeFileSync(path, JSON.stringify(document));
  const config = {
    catalog: [`openapi:${path}`],
    model: { baseUrl: model.baseUrl, name: 'm' },
    options: { passthroughTools: 0, fillTokens: 0, answer: 'list', planning: 'write' },
    http: { privateAddresses: ['127.0.0.0/8'], hosts: location === undefined ? [] : [location] },
  };
  return { receiver, upstream, model, config };
}

it('a plan and a call are one trace with their caller, the model server and the server of the tool', async () => {
  const { receiver, upstream, model, config } = await setUp();
  const { address, ask, stop } = await serve(...configured({ ...config, tracing: { endpoint: receiver.url } }));
  const headers = { 'x-winnow-user': 'ann', traceparent: PARENT, baggage: 'secret=of-the-caller' };
  const plan = await ask('POST /v1/plan', { message: 'Look up the word very-secret' }, headers);
  expect(plan).toMatchObject({ kind: 'plan' });
  const { id } = await ask('POST /v1/sessions', {}, headers);
  await ask(`POST /v1/sessions/${id}/enable`, { names: ['look_up'] }, headers);
  expect(await ask(`POST /v1/sessions/${id}/call`, { tool: 'look_up', arguments: {} }, headers)).toMatchObject({
    ok: true,
  });
  await fetch(`${address}/healthz`);
  await stop();

  expect(receiver.asked.map(({ path }) => path)).toContain('/v1/traces');
  const { named } = receiver;
  const request = named('POST /v1/plan');
  expect(request).toMatchObject({ traceId: TRACE, parentSpanId: CALLER, kind: 2 });
  expect(valuesOf(request)).toMatchObject({ 'http.route': '/v1/plan', 'http.response.status_code': 200 });
  expect(named('winnow.select')).toMatchObject({ traceId: TRACE, parentSpanId: request?.spanId });
  expect(named('winnow.plan')).toMatchObject({ traceId: TRACE, parentSpanId: request?.spanId });
  const chats = receiver.spans().filter(({ name }) => name === 'chat m');
  expect(chats.map(({ parentSpanId }) => parentSpanId)).toEqual([
    named('winnow.select')?.spanId,
    named('winnow.plan')?.spanId,
  ]);
  expect(valuesOf(chats[0])).toMatchObject({
    'gen_ai.operation.name': 'chat',
    'gen_ai.request.model': 'm',
    'gen_ai.usage.input_tokens': 10,
    'gen_ai.usage.output_tokens': 5,
  });
  const sentTo = (span: Span | undefined) => `00-${TRACE}-${span?.spanId}-01`;
  expect(model.requests.map(({ headers }) => headers.traceparent)).toEqual(chats.map(sentTo));
  expect(upstream.asked[0]?.headers.traceparent).toBe(sentTo(named('execute_tool look_up')));
  expect([...model.requests, ...upstream.asked].filter(({ headers }) => 'baggage' in headers)).toEqual([]);
  expect(receiver.spans().filter(({ name }) => name.includes('healthz'))).toEqual([]);
  expect(receiver.asked.map(({ body }) => body).join()).not.toMatch(/very-secret|of-the-caller|Looks up/u);
});

it('a trace does not go on to where the server of a tool redirects', async () => {
  const other = await listen('{"found": 1}');
  const { receiver, upstream, config } = await setUp(other.url);
  const { ask, stop } = await serve(...NO_MODEL, ...configured({ ...config, tracing: { endpoint: receiver.url } }));
  const { id } = await ask('POST /v1/sessions', {});
  await ask(`POST /v1/sessions/${id}/enable`, { names: ['look_up'] });
  await ask(`POST /v1/sessions/${id}/call`, { tool: 'look_up', arguments: {} });
  await stop();
  const traced = (server: typeof other) => server.asked.map(({ headers }) => 'traceparent' in headers);
  expect([traced(upstream), traced(other)]).toEqual([[true], [false]]);
});

it('the variables of OpenTelemetry win over the file, and name the service', async () => {
  const [receiver, other] = [await startReceiver(), await startReceiver()];
  const given = { OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: `${receiver.url}/of/its/own`, OTEL_SERVICE_NAME: 'tools-of-ann' };
  inEnvironment(given);
  const { ask, stop } = await serve(...NO_MODEL, ...configured({ tracing: { endpoint: other.url } }));
  await ask('GET /v1/tools');
  await stop();
  expect(receiver.asked.map(({ path }) => path)).toEqual(['/of/its/own']);
  expect(receiver.named('GET /v1/tools')).not.toHaveProperty('parentSpanId');
  const [{ resource }] = receiver.resources();
  expect(valuesOf(resource)).toMatchObject({
    'service.name': 'tools-of-ann',
    'service.version': expect.stringMatching(/\d/u),
  });
  expect(other.asked).toEqual([]);
});

it('a receiver that takes nothing is told in the log while the server answers', async () => {
  const { url } = await listen('{}', 401);
  inEnvironment({ OTEL_BSP_SCHEDULE_DELAY: '10' });
  const { ask, logged, stop } = await serve(...NO_MODEL, ...configured({ tracing: { endpoint: url } }));
  expect(await ask('GET /v1/tools')).toMatchObject({ tools: expect.any(Array) });
  await logged('Traces: ');
  await stop();
});

it.each([
  ['OTEL_SDK_DISABLED', 'true'],
  ['OTEL_TRACES_EXPORTER', 'none'],
])('nothing is sent where %s is %s', async (name, value) => {
  const { url, asked } = await startReceiver();
  inEnvironment({ [name]: value });
  const { ask, stop } = await serve(...NO_MODEL, ...configured({ tracing: { endpoint: url } }));
  await ask('GET /v1/tools');
  await stop();
  expect(asked).toEqual([]);
});

it('an SDK that the process has already gets the spans, and stays', async () => {
  const { url, asked } = await startReceiver();
  const spans = recordSpans();
  ends.push(() => trace.disable());
  const { ask, stop } = await serve(...NO_MODEL, ...configured({ tracing: { endpoint: url } }));
  await ask('GET /v1/tools');
  await stop();
  trace.getTracer('another').startActiveSpan('later', {}, (span) => span.end());
  expect([asked, spans]).toMatchObject([[], [{ name: 'GET /v1/tools', ended: 1 }, { name: 'later' }]]);
});

it('of winnow mcp, a call is below the span that the client names', async () => {
  const { receiver, model, config } = await setUp();
  const words = configured({ ...config, catalog: undefined, tracing: { endpoint: receiver.url } });
  const { client } = await start(words);
  const asked = { name: 'plan', arguments: { message: 'List the files' }, _meta: { traceparent: PARENT } };
  await client.callTool(asked);
  await client.callTool({ name: 'of my own making' });
  await client.close();
  await receiver.received('tools/call plan');
  expect(receiver.named('tools/call plan')).toMatchObject({ traceId: TRACE, parentSpanId: CALLER });
  expect(receiver.named('winnow.select')).toMatchObject({
    traceId: TRACE,
    parentSpanId: receiver.named('tools/call plan')?.spanId,
  });
  expect(receiver.named('tools/call')).not.toHaveProperty('parentSpanId');
  expect(model.requests.map(({ headers }) => headers.traceparent?.slice(0, 35))).toContain(`00-${TRACE}`);
});
