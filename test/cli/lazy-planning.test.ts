/** A model that is opened when it is needed: once, again after a failure, and never for nothing. */
import { describe, expect, it } from '@jest/globals';
import { createLazyPlanning } from '../../src/cli/lazy-planning.js';
import type { PlanningSetup } from '../../src/cli/set-up.js';
import { createCatalog } from '../../src/core/catalog/catalog.js';
import { createCallLog } from '../../src/core/logging/call-log.js';
import { createLocalModels } from '../../src/core/model/create-model.js';
import { ASKED, answeringPlanner, TOOLS } from '../server/setup.js';
import { createScriptedModel } from '../support/scripted-model.js';

const CATALOG = createCatalog(TOOLS);

function setUp(open: (signal: AbortSignal, count: number) => Promise<void> = async () => {}) {
  const counts = { opened: 0, closed: 0, planners: 0 };
  const lazy = createLazyPlanning(async (signal): Promise<PlanningSetup> => {
    counts.opened += 1;
    await open(signal, counts.opened);
    return {
      plannerOf() {
        counts.planners += 1;
        return answeringPlanner();
      },
      model: createScriptedModel(),
      localModels: createLocalModels(),
      callLog: createCallLog({ destination: 'off' }),
      async close() {
        counts.closed += 1;
      },
    };
  });
  return { lazy, counts, planner: lazy.plannerOf(CATALOG) };
}

describe('planning that is opened late', () => {
  it('shows its tools without a model, opens one for all requests, and closes it', async () => {
    const { lazy, counts, planner } = setUp();
    expect(planner.view({ user: 'anna' }).tools).toHaveLength(3);
    expect(counts.opened).toBe(0);
    const results = await Promise.all([planner.plan(ASKED), planner.select(ASKED), planner.plan(ASKED)]);
    expect(results[0]).toMatchObject({ kind: 'plan' });
    expect(results[1]).toMatchObject({ mode: 'selected' });
    await lazy.plannerOf(CATALOG).plan(ASKED);
    await lazy.close();
    expect(counts).toEqual({ opened: 1, closed: 1, planners: 2 });
  });

  it('hands on where the rules of now are', async () => {
    const handed: unknown[] = [];
    const lazy = createLazyPlanning(
      async (): Promise<PlanningSetup> => ({
        plannerOf(_, rules) {
          handed.push(rules);
          return answeringPlanner();
        },
        model: createScriptedModel(),
        localModels: createLocalModels(),
        callLog: createCallLog({ destination: 'off' }),
        close: async () => {},
      }),
    );
    const rules = () => [];
    await lazy.plannerOf(CATALOG, rules).plan(ASKED);
    expect(handed).toEqual([rules]);
  });

  it('tries again where it failed', async () => {
    const { counts, planner } = setUp(async (_, count) => {
      if (count === 1) throw new Error('no model yet');
    });
    await expect(planner.plan(ASKED)).rejects.toThrow('no model yet');
    expect(await planner.plan(ASKED)).toMatchObject({ kind: 'plan' });
    expect(counts.opened).toBe(2);
  });

  it('lets who cancels go, and goes on for the others', async () => {
    let ready: () => void = () => {};
    const { counts, planner } = setUp(() => new Promise((resolve) => (ready = resolve)));
    const cancel = new AbortController();
    const given = planner.plan(ASKED, { signal: cancel.signal });
    const kept = planner.plan(ASKED, { signal: new AbortController().signal });
    cancel.abort();
    await expect(given).rejects.toMatchObject({ code: 'cancelled' });
    ready();
    expect(await kept).toMatchObject({ kind: 'plan' });
    await expect(planner.plan(ASKED, { signal: AbortSignal.abort() })).rejects.toMatchObject({ code: 'cancelled' });
    expect(counts.opened).toBe(1);
  });

  it('gives up a model that is being opened when it is closed, and opens none to close it', async () => {
    const { lazy, counts, planner } = setUp(
      (signal) =>
        new Promise((_, reject) =>
          signal.addEventListener('abort', () => reject(new Error('given up')), { once: true }),
        ),
    );
    const asked = planner.plan(ASKED);
    asked.catch(() => {});
    await lazy.close();
    await expect(asked).rejects.toThrow('given up');
    const unused = setUp();
    await unused.lazy.close();
    expect([counts, unused.counts.opened]).toEqual([{ opened: 1, closed: 0, planners: 0 }, 0]);
  });
});
