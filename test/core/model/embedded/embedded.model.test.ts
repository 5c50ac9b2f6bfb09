/** The embedded model with real weights: `npm run test:model`. It fetches the default model when it is not here. */
import { mkdtemp, readdir, rm, truncate } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createCatalog } from '../../../../src/core/catalog/catalog.js';
import { createEmbeddedModel } from '../../../../src/core/model/embedded/embedded-model.js';
import type { Model, Prompt } from '../../../../src/core/model/model.js';
import { ensureModel } from '../../../../src/core/model/store/model-file.js';
import { createPlanner } from '../../../../src/core/planner.js';
import { loadFixture } from '../../../support/fixtures.js';
import { describeModelContract } from '../contract.js';

const OPENING = '{"selected_tools": ["';
const lines = Array.from(
  { length: 60 },
  (_, place) => `- tool_${place}: does the thing number ${place} for the user`,
).join('\n');
const prompt = (user: string): Prompt => ({ system: `Choose tools.\n${lines}`, user });

async function open(prefixFolder: string, onWarning?: (message: string) => void): Promise<Model> {
  const { path } = await ensureModel();
  return createEmbeddedModel({ modelFile: path, contextTokens: 4096, prefixFolder, onWarning });
}

describeModelContract('embedded', async () => open(await mkdtemp(join(tmpdir(), 'winnow-prefix-'))), {
  timeoutMs: 600_000,
});

describe('the evaluated prefix', () => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'winnow-prefix-'));
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  async function readFor(model: Model, user: string): Promise<number> {
    const reader = await model.openReader?.({ prompt: prompt(user), opening: OPENING });
    if (!reader) throw new Error('the embedded model has a reader');
    await reader.weigh([], reader.tokenize('tool'));
    await reader.close();
    return reader.usage().read;
  }

  it('is read once, and after a restart not at all', async () => {
    const first = await open(folder);
    const cold = await readFor(first, 'do the thing number seven');
    const warm = await readFor(first, 'do the thing number nine, please');
    await first.complete({ stage: 'planning', prompt: { system: 'Say yes.', user: 'Well?' }, maxTokens: 3 });
    const afterPlanning = await readFor(first, 'do the thing number twelve');
    await first.close();
    const second = await open(folder);
    const restarted = await readFor(second, 'do the thing number four');
    await second.close();
    expect(cold).toBeGreaterThan(600);
    expect(Math.max(warm, afterPlanning, restarted)).toBeLessThan(20 + 64);
  });

  it('is all that a second selection does not read, and the first after a restart', async () => {
    const { tools } = (await loadFixture('hydrology')).catalog;
    const [catalog, prefixFolder] = [createCatalog(tools), await mkdtemp(join(folder, 'planner-'))];
    const openPlanner = async () => {
      const model = await createEmbeddedModel({ modelFile: (await ensureModel()).path, prefixFolder });
      return { model, planner: createPlanner({ catalog, model }) };
    };
    const readBeyond = async ({ model, planner }: Awaited<ReturnType<typeof openPlanner>>, message: string) => {
      const { usage } = await planner.select({ message });
      return usage.selection.read - (await model.countTokens(message));
    };
    const first = await openPlanner();
    expect(await readBeyond(first, '盘石头水库当前水位')).toBeGreaterThan(1_000);
    expect(await readBeyond(first, '修武站水位和雨量')).toBeLessThanOrEqual(64);
    await first.model.close();
    const second = await openPlanner();
    expect(await readBeyond(second, '小南海水库昨天的入库流量过程')).toBeLessThanOrEqual(64);
    await second.model.close();
  });

  it('is not used, with a warning, when the file is damaged, and read anew', async () => {
    const [state] = (await readdir(folder)).filter((name) => name.endsWith('.state'));
    await truncate(join(folder, state ?? ''), 1000);
    const warnings: string[] = [];
    const model = await open(folder, (message) => warnings.push(message));
    expect(await readFor(model, 'do the thing number two')).toBeGreaterThan(600);
    await model.close();
    expect(warnings.join()).toContain('is not used');
  });
});
