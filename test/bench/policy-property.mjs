/**
 * The gate against its reference, and under tools that move and change, for as many random sequences as asked of each:
 * `node --import ./test/support/typescript-loader.mjs test/bench/policy-property.mjs [sequences] [seed]`.
 */
import { checkSequences } from '../agents/gate-model.ts';
import { checkMoving } from '../agents/moving-model.ts';

const BLOCK = 20_000;
const [sequences = 1_000_000, seed = 1] = process.argv.slice(2).map(Number);
const began = performance.now();
const total = { calls: 0, ran: 0, approved: 0, moving: 0, acted: 0 };
for (let done = 0; done < sequences; done += BLOCK) {
  const { calls, ran, approved } = await checkSequences(Math.min(BLOCK, sequences - done), seed + done);
  total.calls += calls;
  total.ran += ran;
  total.approved += approved;
  const moving = await checkMoving(Math.min(BLOCK, sequences - done), seed + done);
  total.moving += moving.calls;
  total.acted += moving.acted;
  process.stderr.write(`${Math.min(done + BLOCK, sequences)} sequences\n`);
}
const seconds = (performance.now() - began) / 1_000;
process.stdout.write(
  `${sequences} sequences, ${total.calls} calls, ${total.ran} of them ran, ${total.approved} by an approval, none that the reference forbids; ${total.moving} calls of tools that move, ${total.acted} of them approved ones that ran; ${seconds.toFixed(0)} s\n`,
);
