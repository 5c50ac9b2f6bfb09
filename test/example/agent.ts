/**
 * An agent of LangChain on the local model, with no key: it starts with three tools, finds and enables others, is refused
 * by the gate, gets an approval from somebody else, and changes a file. Prints what was said and done, then checks it.
 *
 *     node --import ./test/support/typescript-loader.mjs test/example/agent.ts [--scripted] [--no-operator]
 *
 * `--scripted` runs without a model; with `--no-operator` nobody approves, and the task can't be done.
 */
import { isDeepStrictEqual } from 'node:util';
import { AIMessage, type BaseMessage, ToolMessage } from '@langchain/core/messages';
import { GraphRecursionError, MemorySaver } from '@langchain/langgraph';
import { createAgent } from 'langchain';
import { createChatModel, createRoutingMiddleware } from '../../src/adapters/langchain/index.js';
import {
  createDiscovery,
  createFunctionExecutor,
  createRouter,
  createSandbox,
  openPolicyFile,
  openStore,
} from '../../src/agents/index.js';
import { readEnvironment } from '../../src/core/environment.js';
import { createModel, loadCatalog } from '../../src/index.js';
import { createScriptedModel } from '../support/scripted-model.js';
import { SCRIPTED_STEPS } from './agent/scripted-steps.js';
import { createWorkspace } from './agent/workspace.js';

const OBSOLETE = 'src/price-2019.js';
const TASK = `The file ${OBSOLETE} is obsolete. Delete it.`;
const INSTRUCTIONS = [
  'You work on a software project; your tools see its folder.',
  'At first you have few tools. Find others with tool_search, enable them with tool_enable, then call them by name.',
  'When a call needs an approval, stop and answer that you wait for it; you will be told when it is there.',
].join('\n');
/** So often may the user have to say something, and so many calls of the model may that cause. */
const MAX_TURNS = 6;
const MAX_STEPS = 10;
const TIME_LIMIT_MS = 600_000;

const options = new Set(process.argv.slice(2));
const startedAt = performance.now();
const signal = AbortSignal.timeout(TIME_LIMIT_MS);
const model = await openModel();
const workspace = await createWorkspace();
const store = await openStore();
const { catalog } = await loadCatalog({ sources: ['fixtures/catalogs/coding-agent.json'] });
const discovery = createDiscovery({ catalog: () => catalog });
const sandbox = createSandbox({ executors: [createFunctionExecutor(workspace.functions)] });
const router = createRouter({
  store,
  catalog: () => catalog,
  policy: await openPolicyFile('fixtures/agents/policy.yaml'),
  search: discovery.search,
  prepare: sandbox.prepare,
  execute: sandbox.run,
});
await discovery.index.settled();
const { id: session } = await router.createSession({ user: 'ann' });
const agent = createAgent({
  model: createChatModel({ model, maxTokens: 256 }),
  systemPrompt: INSTRUCTIONS,
  checkpointer: new MemorySaver(),
  middleware: [createRoutingMiddleware({ router })],
});

let message: string | undefined = TASK;
for (let turn = 1; message !== undefined && turn <= MAX_TURNS && !signal.aborted; turn++) {
  say('ann', message);
  await runTurn(message);
  message = await nextMessage();
}
const failed = await check();
await workspace.remove();
await model.close();
process.exitCode = failed.length > 0 ? 1 : 0;

async function openModel() {
  if (options.has('--scripted'))
    return createScriptedModel({ answers: (_, step) => SCRIPTED_STEPS[step] ?? '{"answer":"-"}' });
  const { baseUrl, model: name, modelFile } = readEnvironment();
  return createModel({ baseUrl, model: name, modelFile, contextTokens: 8_192 });
}

/** One user message and all that it causes, told as it happens. */
async function runTurn(content: string): Promise<void> {
  const config = { configurable: { thread_id: 'example' }, context: { winnow: { session } }, signal };
  const limits = { recursionLimit: 2 * MAX_STEPS + 1, streamMode: 'updates' as const };
  const updates = await agent.stream({ messages: [{ role: 'user', content }] }, { ...config, ...limits });
  try {
    for await (const update of updates) {
      const { model_request: stepped, tools: ran } = Object(update);
      for (const one of [stepped, ran].flatMap((part) => part?.messages ?? [])) tell(one);
    }
  } catch (error) {
    if (!(error instanceof GraphRecursionError) && !signal.aborted) throw error;
    say('', signal.aborted ? 'The time is over.' : `${MAX_STEPS} steps are enough for one turn.`);
  }
}

/** The operator looks at what waits; the user sees what is done. */
async function nextMessage(): Promise<string | undefined> {
  if (!(await workspace.files()).includes(OBSOLETE)) return undefined;
  const [waiting] = await router.approvals.list({ session, state: 'pending' });
  if (!waiting)
    return 'It is not done: the file is still there. Search for a tool that deletes files, enable it, call it.';
  if (options.has('--no-operator')) return undefined;
  const call = `${waiting.tool} ${JSON.stringify(waiting.arguments)}`;
  if (!isDeepStrictEqual(waiting.arguments, { path: OBSOLETE })) {
    say('olga', `refuses ${call}`);
    await router.approvals.refuse(waiting.id, {
      by: { user: 'olga', roles: ['operator'] },
      reason: `only ${OBSOLETE} may go`,
    });
    return `Olga refused: only ${OBSOLETE} may go. Call ${waiting.tool} with this path.`;
  }
  say('olga', `approves ${call}`);
  await router.approvals.grant(waiting.id, {
    by: { user: 'olga', roles: ['operator'] },
    reason: 'it is in the history',
  });
  return `It is approved now. Call ${waiting.tool} again, exactly as before.`;
}

/** What has to be true now, from the audit, the approvals and the files, not from what the model says. */
async function check(): Promise<string[]> {
  const audit = await router.audit({ session, limit: 1_000 });
  const approvals = await router.approvals.list({ session });
  const files = await workspace.files();
  const again = await router.call(session, { tool: 'file_delete', arguments: { path: OBSOLETE } });
  const has = (event: string, outcome: string, tool?: string) =>
    audit.some((entry) => entry.event === event && entry.outcome === outcome && (!tool || entry.tool === tool));
  const facts: [string, boolean][] = [
    ['it searched for tools', has('search', 'allowed')],
    ['it enabled file_delete', has('enable', 'allowed', 'file_delete')],
    ['the gate refused the call without an approval', has('call', 'needs_approval', 'file_delete')],
    [
      'olga approved it, and it was used',
      approvals.some(({ state, decidedBy }) => state === 'used' && decidedBy === 'olga'),
    ],
    ['it was used once: the same call asks anew', !again.ok && again.code === 'needs_approval'],
    ['the file is gone, and no other', files.join() === 'package.json,src/cart.js,src/price.js'],
  ];
  process.stdout.write('\n');
  for (const [fact, isTrue] of facts) process.stdout.write(`${isTrue ? 'yes' : 'NO '}  ${fact}\n`);
  process.stdout.write(`\n${Math.round((performance.now() - startedAt) / 1_000)} s\n`);
  return facts.flatMap(([fact, isTrue]) => (isTrue ? [] : [fact]));
}

function tell(message: BaseMessage): void {
  if (ToolMessage.isInstance(message)) say('', `-> ${message.text}`);
  const calls = AIMessage.isInstance(message) ? (message.tool_calls ?? []) : [];
  for (const { name, args } of calls) say('agent', `${name} ${JSON.stringify(args)}`);
  if (AIMessage.isInstance(message) && calls.length === 0) say('agent', message.text);
}

function say(who: string, text: string): void {
  const shown = text.length > 300 ? `${text.slice(0, 300)}…` : text;
  process.stdout.write(`${who.padEnd(6)} ${shown}\n`);
}
