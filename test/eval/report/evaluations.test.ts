/** The runs that a server shows: found in a folder, listed and packed as the report has them, for operators alone. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { summarise } from '../../../src/eval/evaluate.js';
import type { CaseRecord } from '../../../src/eval/record.js';
import { openEvaluations } from '../../../src/eval/report/evaluations.js';
import { readSummary } from '../../../src/eval/run-store.js';
import type { RunStart } from '../../../src/eval/run-summary.js';
import { startAgentServer } from '../../adapters/http/agents/setup.js';
import { temporaryFolder } from '../../support/temporary-folder.js';
import { aRecord, aStart, inRun } from '../setup.js';

const unpack = async (block: string) =>
  (await promisify(gunzip)(Buffer.from(block, 'base64')))
    .toString()
    .split('\n')
    .map((line) => JSON.parse(line));

async function addRun(path: string, records: readonly CaseRecord[], more: Partial<RunStart> = {}) {
  mkdirSync(path, { recursive: true });
  await inRun(path, async (store) => {
    await store.keep(records);
    await summarise(store, aStart({ planned: records.length, cases: records.length, ...more }));
  });
}

async function start(folder = temporaryFolder()) {
  const { ask } = await startAgentServer({ evaluations: openEvaluations(folder) });
  const get = (path: string, who = { user: 'olga', roles: 'operator' }) =>
    ask(`GET /v1/evaluations${path}`, undefined, who);
  return { folder, get };
}

describe('the runs of a server', () => {
  it('are none where there is no folder, and nothing is made there', async () => {
    const { folder, get } = await start(join(temporaryFolder(), 'nowhere'));
    expect((await get('')).body).toEqual({ folder, runs: [], unreadable: [] });
    expect((await get('/a')).status).toBe(404);
  });

  it('are listed with their main metrics, in groups of the same cases; what can not be read is said', async () => {
    const { folder, get } = await start();
    await addRun(join(folder, 'a'), [aRecord()], { name: 'first' });
    await addRun(join(folder, 'b'), [aRecord({ scores: { right: 0 } })], { name: 'second', planned: 2 });
    const other = [{ name: 'other', catalog: 'tools', tools: 3, caseHash: 'ee' }];
    await addRun(join(folder, 'c'), [aRecord()], { suites: other });
    mkdirSync(join(folder, 'd'));
    writeFileSync(join(folder, 'd', 'run.db'), '');
    const { runs, unreadable } = (await get('')).body;
    expect(runs).toMatchObject([
      { id: 'a', name: 'first', group: 0, suites: 'set', done: 1, planned: 1 },
      { id: 'b', name: 'second', group: 0, done: 1, planned: 2 },
      { id: 'c', group: 1, suites: 'other' },
    ]);
    const names = (await readSummary(join(folder, 'a'))).metrics.filter((one) => one.primary && one.count > 0);
    expect(runs[0].metrics.map(({ name }: { name: string }) => name)).toEqual(names.map(({ name }) => name));
    expect(unreadable).toEqual([expect.stringContaining(join(folder, 'd'))]);
  });

  it('have a report with whole cases, alone or beside an earlier run', async () => {
    const { folder, get } = await start();
    await addRun(join(folder, 'a'), [aRecord({ scores: { right: 0 } })], { name: 'first' });
    await addRun(join(folder, 'b'), [aRecord(), aRecord({ id: 'c2' })], { name: 'second' });
    const { data, blocks } = (await get('/b')).body;
    expect(data.runs).toMatchObject([{ name: 'second', planned: 2 }]);
    expect(await unpack(blocks.rows[0])).toMatchObject([
      { id: 'c1', place: [0, 0] },
      { id: 'c2', place: [0, 1] },
    ]);
    expect(await unpack(blocks.cases[0])).toMatchObject([{ record: { id: 'c1' } }, { record: { id: 'c2' } }]);
    const both = (await get('/b?before=a')).body;
    expect(both.data).toMatchObject({ runs: [{ name: 'first' }, { name: 'second' }], comparison: { settings: [] } });
    expect((await unpack(both.blocks.rows[0])).map(({ run, id }) => `${run} ${id}`)).toEqual(['0 c1', '1 c1', '1 c2']);
  });

  it('are for operators, and named by their folder alone', async () => {
    const { folder, get } = await start();
    await addRun(join(folder, 'in', 'a'), [aRecord()]);
    await addRun(join(folder, 'b'), [aRecord()]);
    for (const path of ['', '/b']) expect((await get(path, { user: 'ann', roles: 'lead' })).status).toBe(404);
    for (const id of ['in%2Fa', '..', '%2E%2E%2Fb', 'c', 'b?before=in%2Fa'])
      expect((await get(`/${id}`)).status).toBe(404);
    expect((await get('/b?befor=a')).status).toBe(400);
  });
});
