/** The form in which servers are asked, and plans from one that takes strict schemas alone. */
import { afterEach, describe, expect, it } from 'vitest';
import { createOpenAIModel } from '../../../../src/core/model/openai/openai-model.js';
import {
  type RecordedRequest,
  type ScriptedServer,
  type ServerScript,
  startScriptedServer,
} from '../../../support/scripted-server.js';
import { answer, answerJson, fail, refusesJsonSchema, send } from '../../../support/server-behaviours.js';
import { makeTool, naming, plannerOf } from '../../selection/setup.js';
import { errorOf, PLAIN, startModel, WITH_SCHEMA } from './setup.js';

const OK = answerJson({ names: [] });

function formatsOf(requests: readonly RecordedRequest[]): string[] {
  return requests.map(({ body }) => {
    const format = body.response_format;
    return typeof format === 'object' && format !== null && 'type' in format ? String(format.type) : 'text';
  });
}

const schemaOf = ({ body }: Pick<RecordedRequest, 'body'>) => Object(body.response_format).json_schema?.schema;

describe('the form in which a server is asked', () => {
  it('steps down to JSON mode once and remembers it, with the probe counted', async () => {
    const { server, model } = await startModel([refusesJsonSchema(), OK, OK]);
    const first = await model.complete(WITH_SCHEMA);
    const second = await model.complete(WITH_SCHEMA);
    expect(formatsOf(server.requests)).toEqual(['json_schema', 'json_object', 'json_object']);
    expect([first.usage.calls, second.usage.calls]).toEqual([2, 1]);
  });

  it('steps down to plain text where JSON mode is unknown too', async () => {
    const { server, model } = await startModel([refusesJsonSchema(), fail(400, 'bad request'), OK, OK]);
    await model.complete(WITH_SCHEMA);
    await model.complete(WITH_SCHEMA);
    expect(formatsOf(server.requests)).toEqual(['json_schema', 'json_object', 'text', 'text']);
  });

  it.each([
    [404, 'response_format is not supported'],
    [422, 'response_format is not supported'],
    [501, 'response_format is not supported'],
    [500, 'failed to parse grammar'],
    [500, 'JSON schema conversion failed: unrecognized schema'],
    [500, 'invalid JSON schema in format'],
    [500, 'failed to load model vocabulary required for format'],
    [500, 'Failed to initialize samplers: std::exception'],
  ])('steps down on %i when the server says: %s', async (status, message) => {
    const { server, model } = await startModel([fail(status, message), OK]);
    await model.complete(WITH_SCHEMA);
    expect(formatsOf(server.requests)).toEqual(['json_schema', 'json_object']);
  });

  it('does not step down when the context is too small', async () => {
    const { server, model } = await startModel([fail(400, "This model's maximum context length is 4096 tokens.")]);
    await expect(model.complete(WITH_SCHEMA)).rejects.toMatchObject({ code: 'context_exceeded' });
    expect(server.requests).toHaveLength(1);
  });

  it('asks without a format when there is no schema, and learns nothing from it', async () => {
    const { server, model } = await startModel([OK, OK]);
    await model.complete(PLAIN);
    await model.complete(WITH_SCHEMA);
    expect(formatsOf(server.requests)).toEqual(['text', 'json_schema']);
  });

  const planOf = (tool: string) => ({ ...WITH_SCHEMA, schema: { name: 'plan', schema: { const: tool } } });
  const isOf = (tools: string, { body }: RecordedRequest) => tools.includes(schemaOf({ body })?.const ?? '-');

  it('asks for each schema in the strictest form again after it disliked one, and remembers that one', async () => {
    const { server, model } = await startModel((request) => (isOf('b', request) ? refusesJsonSchema() : OK));
    for (const tool of ['b', 'a', 'b', 'c']) await model.complete(planOf(tool));
    expect(formatsOf(server.requests)).toEqual([
      ...['json_schema', 'json_object'],
      ...['json_schema', 'json_object', 'json_schema'],
    ]);
  });

  it('asks for no schema in a form in which two of that name were refused and none was taken', async () => {
    const { server, model } = await startModel((request) => (isOf('abc', request) ? refusesJsonSchema() : OK));
    for (const tool of ['a', 'b', 'c']) await model.complete(planOf(tool));
    expect(formatsOf(server.requests)).toEqual([
      ...['json_schema', 'json_object', 'json_schema', 'json_object'],
      ...['json_object'],
    ]);
  });

  it('remembers a form for each schema by its name, and the temperature for all', async () => {
    const plan = { ...WITH_SCHEMA, schema: { name: 'plan', schema: { type: 'object' } } };
    const { server, model } = await startModel(({ body }) => {
      if (body.temperature !== undefined) return fail(400, "Unsupported value: 'temperature'.");
      return JSON.stringify(body.response_format).includes('"plan"') ? refusesJsonSchema() : OK;
    });
    for (const request of [plan, WITH_SCHEMA, plan, WITH_SCHEMA]) await model.complete(request);
    const asked = server.requests.map(({ body }) => body.temperature);
    expect(formatsOf(server.requests)).toEqual([
      ...['json_schema', 'json_schema', 'json_object'],
      ...['json_schema', 'json_object', 'json_schema'],
    ]);
    expect(asked.filter((temperature) => temperature !== undefined)).toHaveLength(1);
  });

  it('remembers nothing when no form is answered', async () => {
    const no = fail(400, 'no such thing');
    const { server, model } = await startModel([no, no, no, OK]);
    const error = await errorOf(model.complete(WITH_SCHEMA));
    await model.complete(WITH_SCHEMA);
    expect(error).toMatchObject({ code: 'model_refused', details: { usage: { calls: 3 } } });
    expect(formatsOf(server.requests)).toEqual(['json_schema', 'json_object', 'text', 'json_schema']);
  });

  it('leaves the temperature out for a server that refuses it, and keeps the schema', async () => {
    const refusesTemperature = send(400, {
      error: { message: "Unsupported value: 'temperature' does not support 0." },
    });
    const { server, model } = await startModel([refusesTemperature, OK, answer('yes')]);
    await model.complete(WITH_SCHEMA);
    await model.complete(PLAIN);
    expect(server.requests.map(({ body }) => body.temperature)).toEqual([0, undefined, undefined]);
    expect(formatsOf(server.requests)).toEqual(['json_schema', 'json_schema', 'text']);
  });

  it('limits the answer by the newer field for a model that refuses the older one, and remembers it', async () => {
    const refusesLimit = fail(400, "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead.");
    const { server, model } = await startModel([refusesLimit, OK, answer('yes')]);
    await model.complete(WITH_SCHEMA);
    await model.complete(PLAIN);
    const limits = server.requests.map(({ body }) => [body.max_tokens, body.max_completion_tokens]);
    expect(limits).toEqual([
      [50, undefined],
      [undefined, 50],
      [undefined, 50],
    ]);
    expect(formatsOf(server.requests)).toEqual(['json_schema', 'json_schema', 'text']);
  });
});

const TOOLS = [
  makeTool('find_station', {
    inputSchema: { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] },
    outputSchema: { type: 'object', properties: { stcd: { type: 'string' } } },
  }),
];
const PLAN = {
  kind: 'plan',
  steps: [{ id: 's1', tool: 'find_station', arguments: { name: '盘石头水库', stcd: null }, dependsOn: null }],
};
const PLANNED = [{ id: 's1', tool: 'find_station', arguments: { name: '盘石头水库' } }];

const servers = new Set<ScriptedServer>();
afterEach(async () => {
  for (const server of servers) await server.close();
  servers.clear();
});

async function startPlanner(behave: ServerScript, passthroughTools = 15) {
  const server = await startScriptedServer(behave);
  servers.add(server);
  const model = createOpenAIModel({ baseUrl: server.baseUrl, model: 'scripted', retryDelayMs: 0 });
  return { server, planner: plannerOf({ tools: TOOLS, model, options: { passthroughTools } }) };
}

/** As OpenAI: the root is an object. */
const refusesForms: ServerScript = (request) =>
  schemaOf(request)?.anyOf ? fail(400, 'schema must be a JSON Schema of type: "object"') : answerJson(PLAN);

describe('a server that takes strict schemas alone', () => {
  it('gives a plan in JSON mode at the second request, and straight away from then on', async () => {
    const { server, planner } = await startPlanner(refusesForms);
    const first = await planner.plan({ message: '盘石头水库当前水位' });
    const second = await planner.plan({ message: '盘石头水库当前水位' });
    expect(first).toMatchObject({ kind: 'plan', steps: PLANNED, usage: { planning: { calls: 2 } } });
    expect(second).toMatchObject({ kind: 'plan', steps: PLANNED, usage: { planning: { calls: 1 } } });
    expect(formatsOf(server.requests)).toEqual(['json_schema', 'json_object', 'json_object']);
  });

  it('takes the schema of a selection as it is', async () => {
    const { server, planner } = await startPlanner(() => answer(naming('find_station')), 0);
    const selection = await planner.select({ message: 'x' });
    expect(selection).toMatchObject({ mode: 'selected', usage: { selection: { calls: 1 } } });
    const schema = schemaOf(server.requests[0] as RecordedRequest);
    expect(schema).toMatchObject({ type: 'object', additionalProperties: false });
    expect(schema.required).toEqual(Object.keys(schema.properties));
  });

  it('has an answer that was cut repaired under the same form', async () => {
    const cut = answer(JSON.stringify(PLAN).slice(0, 60), { finish: 'length' });
    const { server, planner } = await startPlanner((request, index) =>
      index === 1 ? cut : refusesForms(request, index),
    );
    expect(await planner.plan({ message: 'x' })).toMatchObject({ kind: 'plan', steps: PLANNED });
    expect(formatsOf(server.requests)).toEqual(['json_schema', 'json_object', 'json_object']);
  });
});
