/**
 * The gate against its reference, for as many random sequences as asked:
 * `node --import ./test/support/typescript-loader.mjs test/bench/policy-property.mjs [sequences] [seed]`.
 */
import { checkSequences } from '../routing/gate-model.ts';

const BLOCK = 20_000;
const [sequences = 1_000_000, seed = 1] = process.argv.slice(2).map(Number);
const began = performance.now();
const total = { calls: 0, ran: 0, approved: 0 };
for (let done = 0; done < sequences; done += BLOCK) {
  const { calls, ran, approved } = await checkSequences(Math.min(BLOCK, sequences - done), seed + done);
  total.calls += calls;
  total.ran += ran;
  total.approved += approved;
  process.stderr.write(`${Math.min(done + BLOCK, sequences)} sequences\n`);
}
const seconds = (performance.now() - began) / 1_000;
process.stdout.write(
  `${sequences} sequences, ${total.calls} calls, ${total.ran} of them ran, ${total.approved} by an approval, none that the reference forbids; ${seconds.toFixed(0)} s\n`,
);
