/**
 * The process around the measurement: signals, and the exit code, 1 where something has to be measured again. It measures
 * the source unless a loader puts the build in its place.
 */
import { createModel } from '../../../src/core/model/create-model.js';
import { main } from './main.js';

const INTERRUPTED = 130;

const stop = new AbortController();
process.once('SIGINT', () => stop.abort());
process.once('SIGTERM', () => stop.abort());

try {
  const isWhole = await main(process.argv.slice(2), {
    stdout: process.stdout,
    stderr: process.stderr,
    signal: stop.signal,
    openModel: createModel,
    benchmarks: process.env.WINNOW_BENCHMARKS ?? '../shared/benchmarks',
  });
  process.exitCode = stop.signal.aborted ? INTERRUPTED : Number(!isWhole);
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
}
process.exit();
