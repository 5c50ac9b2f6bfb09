/**
 * Loaded into the server: at SIGUSR2 it collects garbage and writes what is then held into the file `HELD_MEMORY_FILE`, in
 * bytes. What the system counts as resident also has pages that the engine keeps for later, and they vary with the load.
 */
import { renameSync, writeFileSync } from 'node:fs';

const file = process.env.HELD_MEMORY_FILE;
process.on('SIGUSR2', () => {
  gc();
  const { heapUsed, external } = process.memoryUsage();
  writeFileSync(`${file}.part`, String(heapUsed + external));
  renameSync(`${file}.part`, file);
});
