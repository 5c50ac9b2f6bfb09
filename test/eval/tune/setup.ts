/** A small world to tune in: half of the requests go wrong until the prompt says a rule, or shows an example of it. */

import { join } from 'node:path';
import { createCatalog } from '../../../src/core/catalog/catalog.js';
import type { CompletionRequest, Model } from '../../../src/core/model/model.js';
import { resolveOptions } from '../../../src/core/options.js';
import type { EvaluationCase } from '../../../src/eval/case.js';
import type { TuneOptions } from '../../../src/eval/tune/tune.js';
import { createTool } from '../../support/create-tool.js';
import { createScriptedModel } from '../../support/scripted-model.js';
import { temporaryFolder } from '../../support/temporary-folder.js';
import { aCase } from '../setup.js';

const TEXT = { type: 'string' };
export const catalog = createCatalog([
  createTool('read_level', { properties: { name: TEXT }, required: ['name'] }),
  createTool('read_flow', { properties: { name: TEXT }, required: ['name'] }),
  createTool('send_mail'),
]);

/** No two have five words in common: `u7 v7 w7 x7 n7`. Those with an odd number are about the flow. */
export function someCases(count: number): EvaluationCase[] {
  return Array.from({ length: count }, (_, place) => {
    const tool = place % 2 === 0 ? 'read_level' : 'read_flow';
    const words = ['u', 'v', 'w', 'x', 'n'].map((letter) => `${letter}${place}`);
    return aCase({
      id: `c${place}`,
      request: { message: `${words.join(' ')} ${tool === 'read_level' ? 'stand' : 'run'}` },
      expected: { tools: [tool], steps: [{ tool, arguments: { name: `n${place}` } }], edges: [] },
      tags: [place % 3 === 0 ? 'third' : 'other'],
    });
  });
}

export const isProposal = ({ prompt }: CompletionRequest) => prompt.system.startsWith('You improve the instructions');
const messageOf = ({ prompt }: CompletionRequest) => /Request: (.*)$/mu.exec(prompt.user)?.[1] ?? '';
export const PLACES = 'Answer {"selected_tools": []} or {{none}}.\n\n<!-- examples -->\n\nTools:\n{{summaries}}';

export interface World {
  /** Whether the prompt helps with the requests about the flow. */
  helps: (system: string) => boolean;
  /** The new instructions, as a model writes them. */
  proposal?: (request: CompletionRequest) => string;
}

/** Right for the level; for the flow only with a prompt that helps. */
export function aModel({ helps, proposal = () => 'nothing' }: World) {
  return createScriptedModel({
    answers: (request) => {
      if (isProposal(request)) return proposal(request);
      const message = messageOf(request);
      const isFlow = message.endsWith('run') && helps(request.prompt.system);
      const tool = isFlow ? 'read_flow' : 'read_level';
      if (request.stage === 'selection') return JSON.stringify({ selected_tools: [tool] });
      const name = `n${/\d+/u.exec(message)?.[0]}`;
      return JSON.stringify({ kind: 'plan', steps: [{ id: 's1', tool, arguments: { name } }] });
    },
  });
}

export function tuneOptions(model: Model, more: Partial<TuneOptions> = {}): TuneOptions {
  const never = new AbortController().signal;
  return {
    folder: temporaryFolder(),
    suites: [{ name: 'set', catalog, caseFile: '' }],
    cases: someCases(46),
    prompts: ['select-tools'],
    promptPaths: {},
    options: resolveOptions({ passthroughTools: 0, fillTokens: 0 }),
    model,
    budget: 3_600_000,
    maxTokensGrowth: 5,
    rounds: 3,
    tries: 3,
    seed: 1,
    today: '2026-11-22',
    jobs: 1,
    settings: { seed: 1 },
    stop: never,
    cancel: never,
    onProgress: () => undefined,
    ...more,
  };
}

export const inFolder = (options: TuneOptions, name: string) => join(options.folder, name);

export const RULE = 'For what runs, take the flow.';
export const withRule = () => JSON.stringify({ diagnosis: 'flow is missed', instructions: `${RULE} ${PLACES}` });
/** In which the wording is what helps. */
export const RULED: World = { helps: (system) => system.includes(RULE), proposal: withRule };
