/** A file of JSON that a command is given. */
import { messageOf, WinnowError } from '../core/errors.js';
import { readText } from './shared-options.js';

/** @param what for messages, such as "rule"; `-` is stdin. @throws WinnowError `invalid_option` */
export async function readJson(what: string, file: string): Promise<unknown> {
  try {
    return JSON.parse(await readText(file));
  } catch (cause) {
    const reason = messageOf(cause);
    throw new WinnowError('invalid_option', `The ${what} ${file} can't be read: ${reason}`, { cause });
  }
}
