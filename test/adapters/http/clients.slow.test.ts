/** Clients that others' generators make of the OpenAPI document: linted, generated, compiled, and used on a real server. */
import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { beforeEach, describe, expect, vi } from 'vitest';
import { createMcpEndpoint } from '../../../src/adapters/mcp/http-endpoint.js';
import { temporaryFolder } from '../../support/temporary-folder.js';
import { testOrSkip, whyNot } from '../../support/test-or-skip.js';
import { createWorld } from '../mcp/setup.js';
import { OPERATOR_TOKEN, readingPlanner, startAgentServer } from './agents/setup.js';

// Packages are fetched and compiled.
vi.setConfig({ testTimeout: 600_000, hookTimeout: 600_000 });

const run = promisify(execFile);

/** What each program does: a plan, a request with a slip, and a session that is asked for twice under one key. */
const SAID = { tools: ['file_read'], code: 'invalid_request', isOneSession: true };

const TYPESCRIPT = `
import createClient from 'openapi-fetch';
import type { paths } from './types.js';
declare const process: { argv: string[] };
declare const console: { log(text: string): void };
const [, , baseUrl = '', token] = process.argv;
const client = createClient<paths>({ baseUrl, headers: { authorization: 'Bearer ' + token } });
const { data } = await client.POST('/v1/plan', { body: { message: 'Read the file' } });
// A text would be a stream of events.
const plan = typeof data === 'object' && data.kind === 'plan' ? data : undefined;
const tools: string[] = plan?.steps.map(({ tool }) => tool) ?? [];
// @ts-expect-error: a message is a text
const { error } = await client.POST('/v1/plan', { body: { message: 7 } });
const open = () => client.POST('/v1/sessions', { body: {}, params: { header: { 'idempotency-key': 'typescript' } } });
const [one, other] = [await open(), await open()];
const isOneSession = one.data !== undefined && one.data.id === other.data?.id;
console.log(JSON.stringify({ tools, code: error?.code, isOneSession }));
`;

const PYTHON = `
import json, sys
from winnow_client import AuthenticatedClient
from winnow_client.api.default import create_session, plan
from winnow_client.models import Plan, PlanRequest, SessionRequest
client = AuthenticatedClient(base_url=sys.argv[1], token=sys.argv[2])
result = plan.sync(client=client, body=PlanRequest(message='Read the file'))
assert isinstance(result, Plan), result
problem = plan.sync(client=client, body=PlanRequest(message=7))
ids = {create_session.sync(client=client, body=SessionRequest(), idempotency_key='python').id for _ in range(2)}
print(json.dumps({'tools': [step.tool for step in result.steps], 'code': problem.code, 'isOneSession': len(ids) == 1}))
`;

const GO = `
package main

import (
	"context"
	"encoding/json"
	"net/http"
	"os"
	"strings"

	winnow "example.org/use/winnow"
)

func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

func main() {
	ctx := context.Background()
	client := must(winnow.NewClientWithResponses(os.Args[1], winnow.WithRequestEditorFn(
		func(_ context.Context, request *http.Request) error {
			request.Header.Set("authorization", "Bearer "+os.Args[2])
			return nil
		})))
	answer := must(client.PlanWithResponse(ctx, nil, winnow.PlanRequest{Message: "Read the file"}))
	plan := must(answer.JSON200.AsPlan())
	tools := []string{}
	for _, step := range plan.Steps {
		tools = append(tools, step.Tool)
	}
	wrong := must(client.PlanWithBodyWithResponse(ctx, nil, "application/json", strings.NewReader("{}")))
	key := "go"
	open := func() string {
		params := &winnow.CreateSessionParams{IdempotencyKey: &key}
		return must(client.CreateSessionWithResponse(ctx, params, winnow.CreateSessionJSONRequestBody{})).JSON201.Id
	}
	json.NewEncoder(os.Stdout).Encode(map[string]any{
		"tools": tools, "code": wrong.ApplicationproblemJSONDefault.Code, "isOneSession": open() == open(),
	})
}
`;

const folder = temporaryFolder();
const at = (name: string) => join(folder, name);

function fetchPackages(): string | undefined {
  writeFileSync(at('package.json'), '{"private": true, "type": "module"}');
  const tools = ['openapi-typescript@7.13.0', 'typescript@5.9.3', 'openapi-fetch@0.17.0', '@redocly/cli@2.77.0'];
  return whyNot(folder, 'npm', 'install', '--no-audit', '--no-fund', ...tools);
}

/** What has a default may be left out of a request. */
const GENERATE = ['openapi.json', '-o', 'types.ts', '--default-non-nullable', 'false'];
const PIP = ['-m', 'pip', 'install', '--quiet', '--target', at('python'), 'openapi-python-client==0.26.1'];
const OAPI_CODEGEN = 'github.com/oapi-codegen/oapi-codegen/v2/cmd/oapi-codegen@v2.8.2';

describe('clients of the OpenAPI document', () => {
  let url = '';
  beforeEach(async () => {
    const { parts } = await createWorld();
    const server = await startAgentServer({ mcp: createMcpEndpoint(parts), planner: readingPlanner() });
    url = server.url;
    writeFileSync(at('openapi.json'), await (await fetch(`${url}/openapi.json`)).text());
  });

  const program = (name: string, text: string) => writeFileSync(at(name), text);
  /** What a program says of the server, and of what it was answered. */
  const saidBy = async (file: string, words: readonly string[], env: Record<string, string> = {}) => {
    const { stdout } = await run(file, [...words, url, OPERATOR_TOKEN], {
      cwd: folder,
      env: { ...process.env, NODE_OPTIONS: '', ...env },
    });
    return JSON.parse(stdout);
  };

  const packages = fetchPackages();

  testOrSkip('the document has nothing that Redocly finds wrong', packages, async () => {
    // Failures are `default`, and OpenAPI 3.1 has no place for what the events of a stream hold.
    const skipped = ['operation-4xx-response', 'no-unused-components'].flatMap((rule) => ['--skip-rule', rule]);
    const words = ['node_modules/@redocly/cli/bin/cli.js', 'lint', 'openapi.json', '--extends', 'recommended'];
    const { stdout } = await run(process.execPath, [...words, '--format', 'json', ...skipped], { cwd: folder });
    expect(JSON.parse(stdout).problems).toEqual([]);
  });

  testOrSkip('TypeScript, by openapi-typescript and openapi-fetch', packages, async () => {
    program('use.ts', TYPESCRIPT);
    await run('node_modules/.bin/openapi-typescript', GENERATE, { cwd: folder });
    const options = ['--strict', '--skipLibCheck', '--module', 'nodenext', '--target', 'es2022'];
    await run('node_modules/.bin/tsc', [...options, 'use.ts'], { cwd: folder });
    expect(await saidBy(process.execPath, ['use.js'])).toEqual(SAID);
  });

  testOrSkip('Python, by openapi-python-client', whyNot(folder, 'python3', ...PIP), async () => {
    program('use.py', PYTHON);
    const env = { ...process.env, PYTHONPATH: `${at('python')}:${at('pyclient')}` };
    const words = ['-m', 'openapi_python_client', 'generate', '--path', 'openapi.json', '--output-path', 'pyclient'];
    const { stdout, stderr } = await run('python3', words, { cwd: folder, env });
    // What it can't make it leaves out, with a warning.
    expect(`${stdout}${stderr}`).not.toMatch(/Unable to|removal of/u);
    expect(await saidBy('python3', ['use.py'], { PYTHONPATH: env.PYTHONPATH })).toEqual(SAID);
  });

  testOrSkip('Go, by oapi-codegen', whyNot(folder, 'go', 'version'), async () => {
    program('go.mod', 'module example.org/use\n\ngo 1.22\n');
    program('main.go', GO);
    const go = (...words: string[]) => run('go', words, { cwd: folder, env: { ...process.env, GOFLAGS: '-mod=mod' } });
    await run('mkdir', ['-p', 'winnow'], { cwd: folder });
    await go(
      'run',
      OAPI_CODEGEN,
      '-generate',
      'types,client',
      '-package',
      'winnow',
      '-o',
      'winnow/w.go',
      'openapi.json',
    );
    await go('mod', 'tidy');
    await go('build', '-o', 'use-go', '.');
    expect(await saidBy(at('use-go'), [])).toEqual(SAID);
  });
});
