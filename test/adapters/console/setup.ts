/** Servers for the console: planners that are slow or answer all kinds of results, and what waits for an approval. */
import { afterEach } from 'vitest';
import { readConsole } from '../../../src/adapters/console/console.js';
import { loadCatalog } from '../../../src/core/catalog/load.js';
import { createModel } from '../../../src/core/model/create-model.js';
import { createPlanner, type Planner } from '../../../src/core/planner.js';
import type { PlanResult, TraceEvent } from '../../../src/core/result.js';
import { type Behaviour, startScriptedServer } from '../../support/scripted-server.js';
import { answerJson } from '../../support/server-behaviours.js';
import { type AgentServerOptions, readingPlanner, startAgentServer } from '../http/agents/setup.js';

export const MARKUP = '<img src=x onerror="document.title=1"><script>document.title=1</script>';

export const startConsole = async (options: AgentServerOptions = {}) =>
  startAgentServer({ pages: await readConsole(), ...options });

const models = new Set<{ close(): Promise<void> }>();
afterEach(async () => {
  for (const server of models) await server.close();
  models.clear();
});

/** The hydrology catalogue, planned with by a model server that says what the test says. */
export async function startHydrology(behaviours: readonly Behaviour[]) {
  const { catalog } = await loadCatalog({ sources: ['fixtures/catalogs/hydrology.json'] });
  const server = await startScriptedServer(behaviours);
  models.add(server);
  const model = await createModel({ baseUrl: server.baseUrl, model: 'm', maxRetries: 0 });
  const planner = createPlanner({ catalog, model });
  return { ...(await startConsole({ planner })), server };
}

export const CHOICE = answerJson({
  selected_tools: ['query_reservoir_last', 'no_such_tool', 'lookup_station_code'],
  reason: 'both are needed',
});
export const WRITTEN = answerJson({
  kind: 'plan',
  steps: [
    { id: 's1', tool: 'lookup_station_code', arguments: { name: '盘石头水库' }, purpose: '查编码' },
    { id: 's2', tool: 'query_reservoir_last', arguments: { stcd: '${s1.stcd}' }, purpose: '当前水位' },
  ],
});

const usage = { calls: 1, read: 49, cached: 1870, written: 0 };
export const COMMON = {
  selection: { mode: 'selected', reason: 'r', tools: [], dropped: [], leftOut: 0 },
  usage: { selection: usage, planning: usage, schemaTokens: { all: 6398, loaded: 1140 }, milliseconds: 5200 },
  trace: [],
} satisfies Omit<PlanResult & { kind: 'unplannable' }, 'kind' | 'reason'>;

/** Tells these stages, then answers; with `answer` left out it waits until the caller leaves. */
export function tellingPlanner(stages: readonly TraceEvent[], answer?: PlanResult | Error): Planner {
  const plan: Planner['plan'] = async (_request, { onEvent, signal } = {}) => {
    for (const stage of stages) onEvent?.(stage);
    if (answer instanceof Error) throw answer;
    if (answer) return { ...answer, trace: [...stages] };
    return new Promise((_, reject) => signal?.addEventListener('abort', () => reject(signal.reason)));
  };
  const { view } = readingPlanner();
  return { plan, select: () => Promise.reject(new Error('not asked')), view };
}
