import { describe, expect, it } from '@jest/globals';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { loadCatalog } from '../../src/core/catalog/load.js';
import { ERROR_TABLE } from '../../src/core/errors.js';
import { requestSchema } from '../../src/core/request.js';
import { readVersion } from '../../src/core/version.js';
import { createScriptedModel } from '../support/scripted-model.js';
import { ASKED, answeringPlanner, PLAN, parseEvents, plannerOf, post, SELECTION, startServer } from './setup.js';

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

  it.each(['/v1/plan', '/v1/select'])('lists for %s every status of the error table, with each code', async (path) => {
    const { document } = await startDocumented();
    for (const [code, { httpStatus, meaning }] of Object.entries(ERROR_TABLE)) {
      expect(document.paths[path].post.responses[httpStatus]).toEqual({
        $ref: `#/components/responses/Problem${httpStatus}`,
      });
      const response = document.components.responses[`Problem${httpStatus}`];
      expect(response.description).toContain(`\`${code}\`: ${meaning}`);
      expect(response.content).toEqual({
        'application/problem+json': { schema: { $ref: '#/components/schemas/Problem' } },
      });
    }
    expect(Object.keys(document.paths[path].post.responses)).toContain('415');
  });

  it('describes each field of a request', async () => {
    const { document } = await startDocumented();
    expect(Object.keys(document.components.schemas.PlanRequest.properties)).toEqual(Object.keys(requestSchema.shape));
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
