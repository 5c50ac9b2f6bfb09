/** Real servers on free ports for one test, and planners to put behind them. */
import { PassThrough } from 'node:stream';
import { afterEach } from 'vitest';
import { createServer, type ServerParts } from '../../../src/adapters/http/app.js';
import { createLogger, type Logger } from '../../../src/agents/logging/logger.js';
import { createCatalog } from '../../../src/core/catalog/catalog.js';
import { parseTool, type Tool, type ToolEntry } from '../../../src/core/catalog/tool.js';
import { WinnowError } from '../../../src/core/errors.js';
import type { Model } from '../../../src/core/model/model.js';
import { createPlanner, type Planner } from '../../../src/core/planner.js';
import { createScriptedModel } from '../../support/scripted-model.js';

export const SELECTION = '{"selected_tools": ["read_level"], "reason": "it reads levels"}';
export const PLAN =
  '{"kind": "plan", "steps": [{"id": "s1", "tool": "read_level", "arguments": {"station": "Sauer"}}]}';
export const ASKED = { message: 'How high is the Sauer?' };

const station = { type: 'object', properties: { station: { type: 'string' } }, required: ['station'] };

/** Two tools for all, one private to each of two users. */
export const TOOLS = [
  tool({
    name: 'read_level',
    description: 'Water level of a station.',
    inputSchema: station,
    relatedTools: ['bobs_secret'],
  }),
  tool({ name: 'list_stations', description: 'All stations.', metadata: { note: 'bobs_secret' } }),
  tool({ name: 'annas_notes', description: 'Notes of Anna.', scope: { user: 'anna' } }),
  tool({ name: 'bobs_secret', description: 'Secret of Bob.', scope: { user: 'bob' } }),
];

function tool(entry: ToolEntry): Tool {
  const parsed = parseTool({ toolType: 'builtin', ...entry }, { origin: 'test', index: 0 });
  if (!parsed.ok) throw new Error(parsed.issues.map(({ message }) => message).join());
  return parsed.tool;
}

/** Selection is never skipped, so that both stages are seen. */
export function plannerOf(model: Model, tools: readonly Tool[] = TOOLS): Planner {
  return createPlanner({
    catalog: createCatalog(tools),
    model,
    options: { passthroughTools: 0, fillTokens: 0 },
  });
}

export function answeringPlanner(): Planner {
  return plannerOf(createScriptedModel({ answers: ({ stage }) => (stage === 'selection' ? SELECTION : PLAN) }));
}

/** Both ways of asking throw; a stage is told before when `after` is set. */
export function throwingPlanner(error: unknown, { after }: { after?: string } = {}): Planner {
  const ask: Planner['plan'] & Planner['select'] = async (_request, call) => {
    if (after !== undefined) call?.onEvent?.({ stage: after, milliseconds: 0, note: 'it begins' });
    throw error;
  };
  return { plan: ask, select: ask, view: () => failNow(error) };
}

function failNow(error: unknown): never {
  throw error;
}

/** A model that answers nothing until its caller cancels. */
export function createHangingModel() {
  let begin: () => void = () => {};
  let end: (why: string) => void = () => {};
  const asked = new Promise<void>((resolve) => {
    begin = resolve;
  });
  const cancelled = new Promise<string>((resolve) => {
    end = resolve;
  });
  const model: Model = {
    ...createScriptedModel(),
    complete: ({ signal }) =>
      new Promise((_, reject) => {
        signal?.addEventListener('abort', () => {
          end('cancelled');
          reject(new WinnowError('cancelled', 'The request was cancelled.'));
        });
        begin();
      }),
  };
  return { model, asked, cancelled };
}

type App = ReturnType<typeof createServer>;

const servers = new Set<App>();
afterEach(async () => {
  for (const server of servers) await closeAtOnce(server);
  servers.clear();
});

/** Where nothing runs any more: after an abort `fetch` opens a connection ahead, whose silence holds a server for seconds. */
export async function closeAtOnce(app: App): Promise<void> {
  const closed = app.close();
  app.server.on('connection', (socket) => socket.destroy());
  app.server.closeAllConnections();
  await closed;
}

/** Closed after the test. */
export async function startServer(parts: ServerParts) {
  const app = createServer(parts);
  servers.add(app);
  const url = await app.listen({ host: '127.0.0.1', port: 0 });
  return { app, url };
}

export function portOf(url: string): number {
  return Number(new URL(url).port);
}

export function post(
  url: string,
  body: unknown,
  more: { headers?: Record<string, string>; signal?: AbortSignal } = {},
): Promise<Response> {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  return fetch(url, {
    method: 'POST',
    body: text,
    ...more,
    headers: { 'content-type': 'application/json', ...more.headers },
  });
}

/** A logger that keeps its lines. */
export function recordLog(): { logger: Logger; text(): string; lines(): Record<string, unknown>[] } {
  const destination = new PassThrough();
  let text = '';
  destination.on('data', (chunk) => {
    text += chunk;
  });
  const lines = () =>
    text
      .trim()
      .split('\n')
      .filter(Boolean)
      .map((line): Record<string, unknown> => JSON.parse(line));
  return { logger: createLogger({ level: 'trace', destination }), text: () => text, lines };
}

export interface ServerEvent {
  event: string;
  data: Record<string, unknown>;
}

/** The events of a whole stream; comments are left out. */
export function parseEvents(text: string): ServerEvent[] {
  const blocks = text.split('\n\n').filter((block) => block.startsWith('event: '));
  return blocks.map((block) => {
    const [, event = '', data = 'null'] = /^event: (.*)\ndata: (.*)$/.exec(block) ?? [];
    return { event, data: JSON.parse(data) };
  });
}
