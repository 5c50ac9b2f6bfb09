/** Models by the names of the local store, which say nothing of what is in a file: a run is known by the file's id. */
import { isIdentityOf } from '../core/model/embedded/file-identity.js';
import { DEFAULT_MODEL } from '../core/model/store/stored-model.js';

export function isStoreName(name: string): boolean {
  return name === DEFAULT_MODEL.name;
}

/** What the store calls the file with this id. Undefined: it is none of the store's, or a model of an endpoint. */
export function storeNameOf(id: string): string | undefined {
  return isIdentityOf(id, DEFAULT_MODEL) ? DEFAULT_MODEL.name : undefined;
}
