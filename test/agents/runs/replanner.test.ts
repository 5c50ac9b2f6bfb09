import { describe, expect, it } from 'vitest';
import type { PlanRun } from '../../../src/agents/runs/plan-run.js';
import { createReplanner } from '../../../src/agents/runs/replanner.js';
import { runPlan } from '../../../src/agents/runs/run-plan.js';
import { createCatalog } from '../../../src/core/catalog/catalog.js';
import { createPlanner } from '../../../src/core/planner.js';
import type { PlanRequest } from '../../../src/core/request.js';
import { createTool } from '../../support/create-tool.js';
import { createScriptedModel } from '../../support/scripted-model.js';

const NAME = { properties: { name: { type: 'string' } }, required: ['name'] };

describe('the planner as the one who plans again', () => {
  it.each([false, true])(
    'is asked the same request, with what was done and what failed as the last messages; outputs: %s',
    async (withOutputs) => {
      const model = createScriptedModel({
        answers: [
          JSON.stringify({
            kind: 'plan',
            goal: 'g',
            steps: [{ id: 's1', tool: 'by_code', arguments: { name: '31005650' } }],
          }),
        ],
      });
      const planner = createPlanner({
        catalog: createCatalog([createTool('by_name', NAME), createTool('by_code', NAME)]),
        model,
      });
      const history = [{ role: 'user' as const, content: 'hello' }];
      const request = { message: 'the level of 盘石头水库', locale: 'en', history };
      const run = await runPlan(
        {
          steps: [
            { id: 's1', tool: 'lookup', arguments: {} },
            { id: 's2', tool: 'by_name', arguments: { name: '${s1.name}' }, from: { name: 'step' } },
          ],
        },
        {
          run: async ({ tool }) => {
            if (tool === 'by_name') return { ok: false, code: 'tool_failed', reason: 'takes codes only', next: 'x' };
            return {
              ok: true,
              output: { name: '盘石头水库', code: '31005650', long: 'x'.repeat(5_000) },
              notes: [],
              milliseconds: 1,
            };
          },
          replan: createReplanner(planner.plan, request, { withOutputs }),
        },
      );
      // Nobody asked for a plan with this code.
      expect(run).toMatchObject({ state: 'paused', steps: { s1: { status: 'pending' } } });
      model.assertDone();
      const seen = model.calls[0]?.prompt.user ?? '';
      // What a tool answered is there only where it was asked for.
      for (const text of ['takes codes only', '"output"']) expect(seen.includes(text)).toBe(withOutputs);
      expect(seen).toContain('tool_failed');
      expect(seen).toContain('the level of 盘石头水库');
      expect(seen).not.toContain('"from"');
      expect(seen.length).toBeLessThan(4_000);
    },
  );

  it('gives no plan where the planner asks back', async () => {
    const asked: PlanRequest[] = [];
    const replan = createReplanner(
      async (request) => {
        asked.push(request);
        const usage = { calls: 0, read: 0, cached: 0, written: 0 };
        return {
          kind: 'unplannable',
          reason: 'no tool',
          selection: { mode: 'none', reason: '', tools: [], dropped: [], leftOut: 0 },
          usage: { selection: usage, planning: usage, schemaTokens: { all: 0, loaded: 0 }, milliseconds: 0 },
          trace: [],
        };
      },
      { message: 'm' },
    );
    const soFar: PlanRun = {
      id: 'r',
      state: 'failed',
      plan: { goal: '', steps: [{ id: 's1', tool: 't', arguments: {}, purpose: '', dependsOn: [] }] },
      steps: {},
      notes: [],
    };
    expect(await replan(soFar, { id: 's1', status: 'failed', attempts: 1 })).toBeUndefined();
    expect(asked[0]?.history?.map(({ role }) => role)).toEqual(['user', 'assistant', 'tool']);
  });
});
