/** What the command that started a run should know of its workers, each thing once. */

export interface WorkerNewsOptions {
  onNotice: (text: string) => void;
  /** Milliseconds of a clock that never goes back. Default: `performance.now`. */
  now?: () => number;
}

/** Time for workers to notice a run before their absence is told. */
const PATIENCE_MS = 5_000;

/** @returns to be told again and again: worker -> why it refuses the run, or nothing. */
export function createWorkerNews({ onNotice, now = () => performance.now() }: WorkerNewsOptions) {
  const startedAt = now();
  const known = new Map<string, string>();
  let isAbsenceTold = false;
  return (workers: Readonly<Record<string, string>>): void => {
    for (const [worker, refusal] of Object.entries(workers)) {
      if (known.get(worker) === refusal) continue;
      known.set(worker, refusal);
      onNotice(refusal === '' ? `The worker ${worker} takes part.` : `The worker ${worker} refuses: ${refusal}`);
    }
    const isAnyThere = [...known.values()].includes('');
    if (isAnyThere || isAbsenceTold || now() - startedAt < PATIENCE_MS) return;
    isAbsenceTold = true;
    onNotice('No worker takes part yet: start some with winnow worker and the same --queue.');
  };
}
