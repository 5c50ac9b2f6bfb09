/** A process for a test to kill: runs a plan with its state in SQLite. Arguments: the file of the store, a file for one line a call. */
import { appendFileSync } from 'node:fs';
import { runPlan } from '../../../src/agents/runs/run-plan.js';
import { openStore } from '../../../src/agents/store/open-store.js';

const [file = '', journal = ''] = process.argv.slice(2);
const store = await openStore({ file });
const steps = [
  { id: 's1', tool: 'read', arguments: {} },
  { id: 's2', tool: 'write', arguments: { a: '${s1.value}' } },
  { id: 's3', tool: 'read', arguments: {}, dependsOn: ['s2'] },
];
// Without this, nothing would keep the process alive while the step hangs.
setInterval(() => undefined, 1_000);
await runPlan(
  { steps },
  {
    store: store.planRuns,
    runId: 'r1',
    leaseMs: 300,
    run: async ({ tool, step }) => {
      appendFileSync(journal, `${step} ${tool}\n`);
      if (tool === 'write') return new Promise(() => undefined);
      return { ok: true, output: { value: 7 }, notes: [], milliseconds: 1 };
    },
  },
);
