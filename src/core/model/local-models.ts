/**
 * Local models that are open. The same weights are not loaded a second time: who asks for them shares the model, and
 * the last who closes it gives the memory back.
 */
import type { Model } from './model.js';

export interface LocalModels {
  /** @param key equal for the same weights, opened in the same way */
  open(key: string, load: () => Promise<Model>): Promise<Model>;
}

export function createLocalModels(): LocalModels {
  const opened = new Map<string, { model: Promise<Model>; users: number }>();
  return {
    async open(key, load) {
      const shared = opened.get(key) ?? { model: load(), users: 0 };
      opened.set(key, shared);
      shared.users += 1;
      const forget = () => opened.get(key) === shared && opened.delete(key);
      const model = await shared.model.catch((error: unknown) => {
        forget();
        throw error;
      });
      const leave = async () => {
        shared.users -= 1;
        if (shared.users > 0) return;
        forget();
        await model.close();
      };
      let left: Promise<void> | undefined;
      const close = () => {
        left ??= leave();
        return left;
      };
      return { ...model, close };
    },
  };
}
