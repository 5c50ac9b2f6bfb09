import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type CaseRecord, caseRecordSchema } from '../../../src/eval/record.js';
import { renderReport } from '../../../src/eval/report/render-report.js';
import type { CaseRow, ReportRun } from '../../../src/eval/report/report-data.js';
import { SOURCE_FOLDER } from '../../../src/page/page-files.js';
import { temporaryFolder } from '../../support/temporary-folder.js';
import { describeRun } from './describe-run.js';
import { createRecord, generateRun } from './generated-run.js';

const folder = temporaryFolder();

const linesOf = (html: string, kind: string): string[] =>
  [
    ...html.matchAll(new RegExp(`<script type="text/plain" data-block="${kind}">([A-Za-z0-9+/=]*)</script>`, 'gu')),
  ].flatMap(([, packed = '']) => gunzipSync(Buffer.from(packed, 'base64')).toString('utf8').split('\n'));

async function render(records: readonly CaseRecord[], run: Partial<ReportRun> = {}): Promise<string> {
  const out = join(folder, 'report.html');
  await renderReport({ run: describeRun(records, run), records, promptText: (hash) => `text of ${hash}`, out });
  return readFileSync(out, 'utf8');
}

describe('the generated records', () => {
  it('have the form of the records of a run', () => {
    for (const record of generateRun({ cases: 40 }).records()) expect(caseRecordSchema.parse(record)).toEqual(record);
  });
});

describe('a report', () => {
  it('holds every record as it is, and each stable part once', async () => {
    const records = [...generateRun({ cases: 150, seed: 2 }).records()];
    const html = await render(records);
    const kept = linesOf(html, 'cases').map((line): CaseRecord => JSON.parse(line).record);
    expect(kept).toEqual(JSON.parse(JSON.stringify(records)));
    expect(html.match(/data-block="cases"/gu)?.length).toBeGreaterThan(1);
    expect(linesOf(html, 'rows').map((line) => JSON.parse(line).id)).toEqual(records.map(({ id }) => id));
    const hashes = new Set(records.flatMap(({ calls }) => calls.map(({ system }) => system)));
    const prompts = linesOf(html, 'prompts').map((line): string => JSON.parse(line));
    expect(prompts.sort()).toEqual([...hashes].map((hash) => `text of ${hash}`).sort());
  });

  it('says with each call where its stable part stands, and that one was not kept', async () => {
    const record = createRecord({
      number: 0,
      keep: (text) => (text.startsWith('You write') ? 'planning' : 'selection'),
    });
    const out = join(folder, 'kept.html');
    const promptText = (hash: string) => (hash === 'planning' ? 'the text' : undefined);
    await renderReport({ run: describeRun([record]), records: [record], promptText, out });
    const [line = ''] = linesOf(readFileSync(out, 'utf8'), 'cases');
    expect(JSON.parse(line).prompts).toEqual([null, [0, 0]]);
  });

  it('holds both runs of a comparison, each row with its run and its case', async () => {
    const [before, records] = [2, 3].map((seed) => [...generateRun({ cases: 80, seed }).records()]);
    const out = join(folder, 'two.html');
    const comparison = { metrics: [], settings: ['options.maxTools: 8 there, 5 here'] };
    const of = (some: readonly CaseRecord[] = []) => ({
      ...{ run: describeRun(some), records: some, promptText: () => undefined },
    });
    await renderReport({ ...of(records), before: { ...of(before), comparison }, out });
    const html = readFileSync(out, 'utf8');
    const blocks = [...html.matchAll(/data-block="cases">([^<]*)</gu)].map(([, packed = '']) =>
      gunzipSync(Buffer.from(packed, 'base64')).toString('utf8').split('\n'),
    );
    const rows = linesOf(html, 'rows').map((line): CaseRow => JSON.parse(line));
    expect(blocks.length).toBeGreaterThan(1);
    const read = ({ place: [block, line] }: CaseRow) => JSON.parse(blocks[block]?.[line] ?? 'null').record;
    expect(rows.filter(({ run }) => run === 0).map(read)).toEqual(JSON.parse(JSON.stringify(before)));
    expect(rows.filter(({ run }) => run === 1).map(read)).toEqual(JSON.parse(JSON.stringify(records)));
    expect(html).toContain('"settings":["options.maxTools: 8 there, 5 here"]');
  });

  it('takes records as they come', async () => {
    async function* records() {
      yield* generateRun({ cases: 25 }).records();
    }
    const out = join(folder, 'streamed.html');
    await renderReport({ run: describeRun([]), records: records(), promptText: () => undefined, out });
    expect(linesOf(readFileSync(out, 'utf8'), 'rows')).toHaveLength(25);
  });

  it('takes its page from folders that the package holds, also after the build', () => {
    const { files } = JSON.parse(readFileSync('package.json', 'utf8'));
    const found = ['src', 'dist'].map((zone) => new URL(SOURCE_FOLDER, `file:///${zone}/page/page-files.js`).pathname);
    expect(found).toEqual(['/src/', '/src/']);
    expect(files).toEqual(expect.arrayContaining(['src/page', 'src/eval/report/page', 'src/adapters/console/page']));
  });

  it('names no address outside itself and lets none be reached', async () => {
    const html = await render([createRecord({ number: 0 })]);
    const policy = /<meta http-equiv="Content-Security-Policy" content="([^"]*)">/u.exec(html)?.[1];
    expect(policy).toMatch(/^default-src 'none'; script-src 'sha256-[^']+'; style-src 'sha256-[^']+'; img-src data:;/u);
    expect(html.replaceAll('http://www.w3.org/2000/svg', '')).not.toMatch(
      /https?:\/\/|@import ["'u]|<link rel="stylesheet"|<script src/u,
    );
  });

  it('puts no text of a case, a run or a prompt into the page as markup', async () => {
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: 'grapheme', maxLength: 20 }), async (text) => {
        const marked = `<x-evil>${text}</script><!--`;
        const record = { ...createRecord({ number: 1 }), id: marked, query: marked, tags: [marked] };
        const html = await render([record], { name: marked, settings: { [marked]: marked } });
        expect(html).not.toContain('<x-evil>');
        const [line = ''] = linesOf(html, 'cases');
        expect(JSON.parse(line).record.query).toBe(marked);
      }),
      { numRuns: 5 },
    );
  });

  it('says which file cannot be written', async () => {
    const out = join(folder, 'no-such-folder', 'report.html');
    const rendered = renderReport({ run: describeRun([]), records: [], promptText: () => undefined, out });
    await expect(rendered).rejects.toMatchObject({ code: 'invalid_option', message: expect.stringContaining(out) });
  });

  it('leaves the last report in place, and no part of a new one, when the records break off', async () => {
    const before = await render([createRecord({ number: 0 })]);
    function* broken() {
      yield createRecord({ number: 1 });
      throw new Error('the disk is gone');
    }
    const out = join(folder, 'report.html');
    await expect(
      renderReport({ run: describeRun([]), records: broken(), promptText: () => undefined, out }),
    ).rejects.toThrow('the disk is gone');
    expect(readFileSync(out, 'utf8')).toBe(before);
    expect(readdirSync(folder).filter((name) => name.includes('unfinished'))).toEqual([]);
  });
});
