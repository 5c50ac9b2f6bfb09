/** What the server sends for the console: its files, who gets them, their headers; and what its modules make of a result. */
import { readFileSync } from 'node:fs';
import { request as httpRequest } from 'node:http';
import { resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import { describe, expect, it } from 'vitest';
import { readConsole } from '../../../src/adapters/console/console.js';
import { createAuthenticate } from '../../../src/adapters/http/auth/authenticate.js';
import { learntEntrySchema } from '../../../src/agents/adaptation/entry.js';
import { heldToolSchema } from '../../../src/agents/definitions.js';
import { indexStatusSchema } from '../../../src/agents/index/tool-index.js';
import { triedCallSchema } from '../../../src/agents/policy/trial.js';
import { approvalSchema, auditEntrySchema } from '../../../src/agents/records.js';
import { conditionSchema, stepStateSchema } from '../../../src/agents/runs/plan-run.js';
import { listedRunSchema } from '../../../src/agents/runs/run-view.js';
import { RUNNERS } from '../../../src/agents/sandbox/executors/executor.js';
import { flagSchema } from '../../../src/core/catalog/scan.js';
import { RISKS } from '../../../src/core/catalog/tool.js';
import { argumentSourcesSchema, type PlanResult, resultSchema, selectionSchema } from '../../../src/core/result.js';
import { parseCase } from '../../../src/eval/case.js';
import { configured, NO_MODEL, serve } from '../../cli/serve-setup.js';
import { answeringPlanner, startServer } from '../http/setup.js';

const pages = await readConsole();
const start = (parts = {}) => startServer({ planner: answeringPlanner(), pages, ...parts });

/** `fetch` chooses some headers itself. */
function answerTo(url: string, headers: Record<string, string>): Promise<{ status: number | undefined; body: string }> {
  return new Promise((resolve, reject) => {
    const sent = httpRequest(url, { headers }, async (response) =>
      resolve({ status: response.statusCode, body: await text(response) }),
    );
    sent.on('error', reject).end();
  });
}

describe('the files of the console', () => {
  it('name nothing outside of the server, and import only files that are served', () => {
    const paths = pages.map(({ path }) => path);
    expect(new Set(paths).size).toBe(paths.length);
    for (const { path, text } of pages) {
      expect([path, text.match(/sourceMappingURL=|@import ["'u]|\bunsafeHTML\b/u)?.[0]]).toEqual([path, undefined]);
      const imports = [...text.matchAll(/^(?:import|export|\})[^'"\n]*\bfrom ['"]([^'"\n]+)['"]/gmu)];
      for (const [, from = ''] of imports)
        expect([path, from, paths.includes(new URL(from, `http://host${path}`).pathname)]).toEqual([path, from, true]);
      const own = path.startsWith('/console/') && !/lit-html|dagre|diff/u.test(path);
      if (own) expect([path, text.match(/https?:\/\//u)]).toEqual([path, null]);
    }
    const page = pages.find(({ path }) => path === '/')?.text ?? '';
    expect(page).not.toMatch(/<script(?![^>]*src=)|<style|\son\w+=|style=/u);
    for (const [, target = ''] of page.matchAll(/(?:src|href)="(console[^"]*)"/gu))
      expect(paths).toContain(`/${target}`);
  });

  it('have a strict policy, their type and an ETag that answers 304', async () => {
    const { url } = await start();
    for (const { path, type } of pages) {
      const response = await fetch(`${url}${path}`);
      const { headers } = response;
      expect([path, response.status, headers.get('content-type')]).toEqual([path, 200, type]);
      expect(headers.get('content-security-policy')).toBe(
        "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; " +
          "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
      );
      expect(headers.get('x-content-type-options')).toBe('nosniff');
      expect(headers.get('referrer-policy')).toBe('no-referrer');
      expect(headers.get('cache-control')).toBe('no-cache');
      const known = { 'if-none-match': headers.get('etag') ?? '' };
      expect((await fetch(`${url}${path}`, { headers: known })).status).toBe(304);
      expect(await response.text()).toBe(pages.find((one) => one.path === path)?.text);
    }
    expect((await fetch(`${url}/console/..%2f..%2fpackage.json`)).status).toBe(404);
    expect((await fetch(`${url}/console/`)).status).toBe(404);
  });

  it('need no proof, where the data behind them does', async () => {
    const tokens = [{ token: 'the-token-of-ann', user: 'ann', roles: [] }];
    const { url } = await start({ authenticate: createAuthenticate({ tokens }) });
    expect((await fetch(`${url}/`)).status).toBe(200);
    expect((await fetch(`${url}/console/app.js`)).status).toBe(200);
    expect((await fetch(`${url}/v1/tools`)).status).toBe(401);
    const { paths } = JSON.parse(await (await fetch(`${url}/openapi.json`)).text());
    expect(Object.keys(paths).filter((path) => path === '/' || path.startsWith('/console'))).toEqual([]);
  });

  const OPENED = { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' };
  it.each<[string, string, Record<string, string>, number]>([
    ['a link elsewhere opens the page', '/', OPENED, 200],
    ['a link elsewhere opens no data', '/v1/tools', OPENED, 403],
    ['a link elsewhere opens no other file', '/console/app.js', OPENED, 403],
    ['a page elsewhere puts it into no frame', '/', { ...OPENED, 'sec-fetch-dest': 'iframe' }, 403],
    ['a page elsewhere reads nothing', '/', { ...OPENED, origin: 'https://evil.example' }, 403],
    ['a name that is bound to this machine gets nothing', '/', { ...OPENED, host: 'evil.example' }, 403],
  ])('%s', async (_, path, headers, status) => {
    const { url } = await start();
    expect((await answerTo(`${url}${path}`, headers)).status).toBe(status);
  });
});

it('who comes from a page of another place gets no button under their next click, but a link', async () => {
  const { url } = await start();
  const bodyFor = async (site: string) => {
    const headers = { 'sec-fetch-site': site, 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' };
    return (await answerTo(`${url}/`, headers)).body;
  };
  for (const site of ['cross-site', 'same-site']) {
    expect(await bodyFor(site)).toContain('href="?#try"');
    expect(await bodyFor(site)).not.toContain('script');
  }
  for (const site of ['same-origin', 'none']) expect(await bodyFor(site)).toContain('console/app.js');
});

describe('winnow serve', () => {
  it('says where the console is, and has none where the configuration takes it away', async () => {
    const served = await serve(...NO_MODEL);
    await served.logged('listening');
    expect(served.log.lines().find(({ msg }) => msg === 'listening')).toMatchObject({ console: `${served.address}/` });
    expect(await (await fetch(served.address)).text()).toContain('console/app.js');
    const runs = async ({ address }: { address: string }) => (await fetch(`${address}/v1/evaluations`)).json();
    expect(await runs(served)).toMatchObject({ folder: resolve('.winnow/eval') });
    await served.stop();
    const without = await serve(...NO_MODEL, ...configured({ server: { console: false }, evaluations: '/none' }));
    expect(await runs(without)).toEqual({ folder: '/none', runs: [], unreadable: [] });
    expect((await fetch(without.address)).status).toBe(404);
    expect((await fetch(`${without.address}/console/app.js`)).status).toBe(404);
    await without.logged('listening');
    expect(without.log.lines().find(({ msg }) => msg === 'listening')).not.toHaveProperty('console');
    await without.stop();
  });
});

describe('the words of the console', () => {
  const read = (language: string): Record<string, string> =>
    JSON.parse(readFileSync(`src/adapters/console/page/words.${language}.json`, 'utf8'));

  it('are there in each language, with the same places for values', () => {
    const [english, chinese] = [read('en'), read('zh')];
    expect(Object.keys(chinese)).toEqual(Object.keys(english));
    const places = (text = '') => (text.match(/\{\w+\}/gu) ?? []).sort();
    for (const [word, text] of Object.entries(english))
      expect([word, places(chinese[word])]).toEqual([word, places(text)]);
  });
});

describe('the words of the API', () => {
  const { tools, mode, dropped } = selectionSchema.shape;
  const { event, outcome } = auditEntrySchema.shape;
  const names: [string, readonly string[]][] = [
    ['via', tools.element.shape.via.options],
    ['mode', mode.options],
    ['dropped', dropped.element.shape.reason.options],
    ['source', argumentSourcesSchema.valueType.shape.source.options],
    ['kind', resultSchema.options.map(({ shape }) => shape.kind.value)],
    ['risk', RISKS],
    ['runner', RUNNERS],
    ['run_state', listedRunSchema.shape.state.options],
    ['step', stepStateSchema.shape.status.options],
    ['is', conditionSchema.shape.is.options],
    ['state', approvalSchema.shape.state.options],
    ['event', event.options],
    ['outcome', outcome.options],
    ['held', heldToolSchema.shape.is.options],
    ['flag', flagSchema.shape.kind.options],
    ['learnt', learntEntrySchema.shape.state.options],
    ['index', indexStatusSchema.shape.state.options],
    ['decision', triedCallSchema.shape.decision.options],
  ];
  it.each(names)('are there for each %s, and for no other', (group, options) => {
    const words = Object.keys(JSON.parse(readFileSync('src/adapters/console/page/words.en.json', 'utf8')));
    const known = words.filter((word) => word.startsWith(`${group}.`)).map((word) => word.slice(group.length + 1));
    expect(known.sort()).toEqual([...options].sort());
  });
});

interface CaseModule {
  toCaseLine(request: Record<string, unknown>, result: PlanResult): string;
}
const { toCaseLine }: CaseModule = await import(
  new URL('../../../src/adapters/console/page/case-line.js', import.meta.url).href
);

const usage = { calls: 0, read: 0, cached: 0, written: 0 };
const common = {
  selection: {
    mode: 'selected',
    reason: '',
    tools: [
      { name: 'find', via: 'model' },
      { name: 'more', via: 'model', fill: true },
    ],
    dropped: [],
    leftOut: 0,
  },
  usage: { selection: usage, planning: usage, schemaTokens: { all: 0, loaded: 0 }, milliseconds: 0 },
  trace: [],
} satisfies Omit<PlanResult & { kind: 'clarification' }, 'kind' | 'question' | 'missing' | 'unserved'>;
const step = (id: string, tool: string, values: Record<string, unknown>, ...dependsOn: string[]) => ({
  ...{ id, tool, arguments: values, purpose: '', dependsOn },
});

describe('a result that is saved as a case', () => {
  const place = { suite: 'mine', file: 'case.jsonl', line: 1 };

  it('is a line that eval reads, with references in the form of cases', () => {
    const steps = [
      step('s1', 'find', { name: 'a "quoted" name' }),
      step('s2', 'read', { id: '${s1.items[0].id}', text: 'of ${s1.name}: ${s9.x}', nested: [{ of: '${s1}' }] }, 's1'),
    ];
    const result: PlanResult = { ...common, kind: 'plan', goal: '', steps, levels: [['s1'], ['s2']], unserved: [] };
    const request = { message: 'Read it', today: '2026-11-25', user: 'ann', maxTools: 3 };
    const { case: one, unknownFields } = parseCase(toCaseLine(request, result), place);
    expect(unknownFields).toEqual([]);
    expect(one.request).toEqual({ message: 'Read it', today: '2026-11-25', user: 'ann' });
    expect(one.expected).toMatchObject({ tools: ['find', 'read'], edges: [[0, 1]], kind: 'plan' });
    expect(one.expected.steps?.map((each) => each.arguments)).toEqual([
      { name: 'a "quoted" name' },
      { id: '$0.items[0].id', text: 'of $0.name: ${s9.x}', nested: [{ of: '$0' }] },
    ]);
  });

  it.each<[string, PlanResult, object]>([
    [
      'a question back',
      { ...common, kind: 'clarification', question: 'Which?', missing: ['id'], unserved: [] },
      { tools: ['find'] },
    ],
    ['no plan', { ...common, kind: 'unplannable', reason: 'none' }, { tools: [] }],
  ])('keeps that it was %s', (_, result, expected) => {
    const { case: one } = parseCase(toCaseLine({ message: 'Do it' }, result), place);
    expect(one.expected).toEqual({ ...expected, kind: result.kind });
  });
});
