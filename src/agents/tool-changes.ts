/** Who shows tools to clients hears that others may be callable now. Whether they are, each looks for its own session. */
export interface ToolChanges {
  /** @returns a function that ends it */
  listen(listener: () => void): () => void;
  tell(): void;
}

export function createToolChanges(): ToolChanges {
  const listeners = new Set<() => void>();
  return {
    listen(listener) {
      // A listener of its own each time, also where the same function listens twice.
      const own = () => listener();
      listeners.add(own);
      return () => void listeners.delete(own);
    },
    tell() {
      for (const listener of [...listeners]) listener();
    },
  };
}
