/** Models by the names of the local store, which say nothing of what is in a file: a run is known by the file's id. */
import { isIdentityOf } from '../core/model/embedded/file-identity.js';
import { MODELS } from '../core/model/store/manifest.js';

export function isStoreName(name: string): boolean {
  return MODELS.some((entry) => entry.name === name);
}

/** What the store calls the file with this id. Undefined: it is none of the store's, or a model of an endpoint. */
export function storeNameOf(id: string): string | undefined {
  return MODELS.find((entry) => isIdentityOf(id, entry))?.name;
}
