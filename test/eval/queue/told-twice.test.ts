import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { createCatalog } from '../../../src/core/catalog/catalog.js';
import { openCases } from '../../../src/eval/case-source.js';
import { evaluate } from '../../../src/eval/evaluate.js';
import { openRunFolder } from '../../../src/eval/run-folder.js';
import { aFolder, aRecord, aStart } from '../setup.js';

describe('a result that a queue tells twice', () => {
  it('counts once', async () => {
    const path = aFolder();
    const caseFile = join(path, 'set.jsonl');
    writeFileSync(caseFile, '{"id":"c1","query":"q","expectedTools":["read_level"]}\n');
    const source = await openCases([{ name: 'set', catalog: createCatalog([]), caseFile }], { seed: 1 });
    const folder = await openRunFolder(path);
    const seen: string[] = [];
    const { summary, failure } = await evaluate({
      folder,
      source,
      repeats: 1,
      start: aStart(),
      dispatch: async (_, { onRecord }) => {
        await onRecord(aRecord());
        await onRecord(aRecord());
      },
      onRecord: ({ id }) => seen.push(id),
    });
    folder.close();
    expect([summary.counts.done, seen, failure]).toEqual([1, ['c1'], undefined]);
  });
});
