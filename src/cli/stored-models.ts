/** Models by the names of the local store, which say nothing of what is in a file: a run is known by the file's id. */
import { DEFAULT_MODEL } from '../core/model/store/sources.js';

export function isStoreName(name: string): boolean {
  return name === DEFAULT_MODEL.name;
}

/** What the store calls the file with this id. Undefined: it is none of the store's, or a model of an endpoint. */
export function storeNameOf(id: string): string | undefined {
  const { file, bytes, name } = DEFAULT_MODEL;
  const start = `${file}:${bytes}:`;
  return id.startsWith(start) && /^[\da-f]{16}$/u.test(id.slice(start.length)) ? name : undefined;
}
