/** Faults of the store that no other source can heal, as what a caller sees. */
import { messageOf, WinnowError } from '../../errors.js';
import { codeOf } from './error-facts.js';

export const WAYS_OUT = 'Give a model file with --model-file FILE, or a model server with --base-url URL.';

const FOLDER_FAULTS = new Set(['ENOSPC', 'EDQUOT', 'EACCES', 'EPERM', 'EROFS', 'ENOTDIR', 'EEXIST', 'EISDIR']);

/** A fault of the file system as `model_unavailable` with what to do; anything else as it is. */
export function toStoreError(error: unknown, folder: string): unknown {
  const code = codeOf(error);
  if (error instanceof WinnowError || code === undefined || !FOLDER_FAULTS.has(code)) return error;
  return new WinnowError('model_unavailable', `The model can not be stored in ${folder} (${code}).`, {
    issues: [messageOf(error), 'Choose another folder with the variable WINNOW_CACHE.', WAYS_OUT],
    details: { folder, code },
    cause: error,
  });
}
