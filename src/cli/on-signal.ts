/**
 * Handlers of signals that stay until the signal has reached everybody. Libraries that clean up at the end of the process
 * (signal-exit does, and the local runtime brings it) end it themselves when they find nobody else who listens.
 */

export type SignalName = 'SIGINT' | 'SIGTERM';

/** @returns what takes the handler away; from then on a signal does what it does by itself */
export function onSignal(names: readonly SignalName[], handle: () => void): () => void {
  let isAnswering = false;
  const answer = () => {
    isAnswering = true;
    handle();
    isAnswering = false;
  };
  const remove = () => {
    for (const name of names) process.off(name, answer);
  };
  for (const name of names) process.on(name, answer);
  return () => {
    if (isAnswering) setImmediate(remove);
    else remove();
  };
}
