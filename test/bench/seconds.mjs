/**
 * Seconds and tokens of a plan with the real local model: cold (nothing kept), warm (the same process), after a restart
 * (a new process, prefixes from disk), each for a request that was not made before. One process at a time.
 *
 *   npm run build && node test/bench/seconds.mjs [--rounds 3]
 */
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs, promisify } from 'node:util';
import { ensureModel } from '../../dist/core/model/store/model-file.js';
import { median } from './statistics.mjs';

const { values: flags } = parseArgs({ options: { rounds: { type: 'string', default: '3' } } });
const REQUESTS = ['盘石头水库当前水位', '小南海水库当前水位', '弓上水库当前水位'];
const SCRIPT = fileURLToPath(new URL('plan-in-process.mjs', import.meta.url));

const { path: modelFile } = await ensureModel({});
const catalogFile = fileURLToPath(new URL('../../fixtures/catalogs/hydrology.json', import.meta.url));
const results = { cold: [], warm: [], 'after a restart': [] };
for (let round = 0; round < Number(flags.rounds); round++) {
  const cache = mkdtempSync(join(tmpdir(), 'winnow-seconds-'));
  try {
    const [cold, warm] = await planIn(cache, [REQUESTS[0], REQUESTS[1]]);
    const [restarted] = await planIn(cache, [REQUESTS[2]]);
    results.cold.push(cold);
    results.warm.push(warm);
    results['after a restart'].push(restarted);
  } finally {
    rmSync(cache, { recursive: true, force: true });
  }
}
console.log(
  '| | s | tokens read, selection | from cache | tokens read, planning | from cache |\n|---|---|---|---|---|---|',
);
for (const [name, rows] of Object.entries(results)) {
  const seconds = rows.map((row) => row.seconds);
  const of = (pick) => Math.round(median(rows.map(({ usage }) => pick(usage))));
  const spread = `${Math.min(...seconds).toFixed(1)}–${Math.max(...seconds).toFixed(1)}`;
  console.log(
    `| ${name} | ${median(seconds).toFixed(1)} (${spread}) | ${of((u) => u.selection.read)} | ${of((u) => u.selection.cached)} | ${of((u) => u.planning.read)} | ${of((u) => u.planning.cached)} |`,
  );
}

/** In a process of its own, which loads the model first; the loading counts. */
async function planIn(cache, messages) {
  const args = [SCRIPT, modelFile, catalogFile, ...messages];
  const { stdout } = await promisify(execFile)(process.execPath, args, {
    env: { ...process.env, WINNOW_CACHE: cache },
    maxBuffer: 10_000_000,
  });
  return JSON.parse(stdout);
}
