/** A small set of cases, a catalogue and a server that answers each case rightly, unless a test says otherwise. */
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { readSummary } from '../../src/eval/run-store.js';
import type { RunSummary } from '../../src/eval/run-summary.js';
import { keysIn } from '../eval/setup.js';
import { type Behaviour, type ScriptedServer, startScriptedServer } from '../support/scripted-server.js';
import { answerJson, late } from '../support/server-behaviours.js';
import { temporaryFolder } from '../support/temporary-folder.js';

const CASES = 8;
export const tools = Array.from({ length: CASES }, (_, place) => ({
  name: `tool_${place}`,
  toolType: 'builtin',
  description: `Does the thing number ${place}.`,
  inputSchema: { type: 'object', properties: { x: { type: 'string' } } },
}));
export const cases = tools.map(({ name }, place) => ({
  id: `c${place}`,
  query: `Please do thing number ${place}`,
  expectedTools: [name],
  expectedSteps: [{ tool: name, arguments: { x: `value ${place}` } }],
}));
/** Case and repeat, in order. */
export const ALL_KEYS = cases.map(({ id }) => `${id}#0`);

/** What is done in place of the right answer, by the number of the case and of the request. */
export type Instead = (place: number, index: number) => Behaviour | undefined;

export interface EvalSetup {
  folder: string;
  /** Of the run. */
  out: string;
  server: ScriptedServer;
  instead: Instead;
  /** How long each right answer takes. */
  answerAfterMs: () => number;
  /** `eval` with the set, the server and the folder of the run. */
  words(more?: readonly string[]): string[];
  keys(): Promise<string[]>;
  summary(): Promise<RunSummary>;
  close(): Promise<void>;
}

export async function setUpEval(): Promise<EvalSetup> {
  const folder = temporaryFolder();
  const out = join(folder, 'run');
  writeFileSync(join(folder, 'set.tools.json'), JSON.stringify(tools));
  writeFileSync(join(folder, 'set.cases.jsonl'), cases.map((one) => `${JSON.stringify(one)}\n`).join(''));
  const server = await startScriptedServer((request, index) => {
    const body = JSON.stringify(request.body);
    const place = Number(/do thing number (\d)/u.exec(body)?.[1]);
    const plan = { kind: 'plan', steps: [{ id: 's1', tool: `tool_${place}`, arguments: { x: `value ${place}` } }] };
    const right = body.includes('selected_tools') ? { selected_tools: [`tool_${place}`], reason: 'r' } : plan;
    return setup.instead(place, index) ?? late(answerJson(right), setup.answerAfterMs());
  });
  const setup: EvalSetup = {
    folder,
    out,
    server,
    instead: () => undefined,
    answerAfterMs: () => 0,
    words: (more = []) => {
      const small = ['--set', 'passthroughTools=0,fillTokens=0'];
      const model = ['--base-url', server.baseUrl, '--model', 'm'];
      return ['eval', '--suite', join(folder, 'set'), ...model, ...small, '--out', out, ...more];
    },
    keys: async () => (await keysIn(out)).sort(),
    summary: () => readSummary(out),
    async close() {
      await server.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
  return setup;
}
