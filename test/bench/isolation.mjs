/**
 * Random pairs of users over all routes for agents and MCP: does one see or change anything of the other?
 * `node --import ./test/support/typescript-loader.mjs test/bench/isolation.mjs [pairs] [seed]`.
 */
import { checkPairs } from '../adapters/http/agents/isolation-model.ts';

const BLOCK = 50;
const [pairs = 1_000, seed = 1] = process.argv.slice(2).map(Number);
const began = performance.now();
const total = { commands: 0, done: 0, foreign: 0 };
let routes = 0;
for (let done = 0; done < pairs; done += BLOCK) {
  const counts = await checkPairs(Math.min(BLOCK, pairs - done), seed + done);
  for (const key of Object.keys(total)) total[key] += counts[key];
  ({ routes } = counts);
  process.stderr.write(`${Math.min(done + BLOCK, pairs)} pairs\n`);
}
const seconds = (performance.now() - began) / 1_000;
process.stdout.write(
  `${pairs} pairs over ${routes} routes and MCP: ${total.commands} requests, ${total.done} of them done, ${total.foreign} about things of the other user; none is answered otherwise than without the other; ${seconds.toFixed(0)} s\n`,
);
