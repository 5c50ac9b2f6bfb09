/** A small catalogue, a model that answers each stage in the same way, and a runner of cases with both. */

import { createCatalog } from '../../src/core/catalog/catalog.js';
import type { Model } from '../../src/core/model/model.js';
import { createAnswerCache } from '../../src/eval/answer-cache.js';
import { type CaseRunnerOptions, createCaseRunner } from '../../src/eval/case-runner.js';
import { createSuitePlanners } from '../../src/eval/suite.js';
import { createTool } from '../support/create-tool.js';
import { createScriptedModel, type ScriptedAnswer } from '../support/scripted-model.js';
import { temporaryFolder } from '../support/temporary-folder.js';

const TEXT = { type: 'string' };
export const TOOLS = [
  createTool(
    'find_station',
    { properties: { name: TEXT }, required: ['name'] },
    { type: 'object', properties: { stcd: TEXT } },
  ),
  createTool('read_level', { properties: { stcd: TEXT }, required: ['stcd'] }),
  createTool('send_mail', { properties: { to: TEXT } }),
  createTool('list_rivers'),
];
export const catalog = createCatalog(TOOLS);
export const PLAN = { kind: 'plan', steps: [{ id: 's1', tool: 'find_station', arguments: { name: 'Lake' } }] };
export const SELECTED = { selected_tools: ['find_station'], reason: 'r' };
export const EXPECTED = {
  tools: ['find_station'],
  steps: [{ tool: 'find_station', arguments: { name: 'Lake' } }],
  edges: [],
};

/** Answers each stage in the same way. */
export function aModel(
  selection: ScriptedAnswer = JSON.stringify(SELECTED),
  plan: ScriptedAnswer = JSON.stringify(PLAN),
) {
  return createScriptedModel({ answers: ({ stage }) => (stage === 'selection' ? selection : plan) });
}

/** How cases are judged where a test has no wish of its own. */
export const JUDGING: Omit<CaseRunnerOptions, 'suites'> = {
  only: undefined,
  maxTools: 8,
  seed: 1,
  today: '2026-11-22',
};

export function aRunner(model: Model, more: Partial<CaseRunnerOptions> & { cached?: boolean; maxTools?: number } = {}) {
  const { cached = false, ...options } = more;
  const prompts = new Map<string, string>();
  const planners = createSuitePlanners(
    { catalog },
    {
      model,
      cache: cached ? createAnswerCache(model, { folder: temporaryFolder() }) : undefined,
      options: {
        passthroughTools: options.only === 'plan' ? 128 : 0,
        fillTokens: 0,
        maxTools: options.maxTools ?? 8,
      },
      onStablePart: (hash, text) => prompts.set(hash, text),
    },
  );
  const run = createCaseRunner({
    suites: new Map([['set', planners]]),
    ...JUDGING,
    ...options,
  });
  return { run, prompts };
}
