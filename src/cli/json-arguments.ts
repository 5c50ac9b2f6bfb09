/** The flag `--arguments`: the arguments of a call, as the text of a JSON object. */
import { WinnowError } from '../core/errors.js';

/** @throws WinnowError `invalid_option` */
export function parseArguments(text: string | undefined): Record<string, unknown> {
  try {
    const parsed: unknown = JSON.parse(text ?? '{}');
    if (typeof parsed === 'object' && parsed !== null && !Array.isArray(parsed)) return { ...parsed };
  } catch (cause) {
    throw new WinnowError('invalid_option', '--arguments: not JSON.', { cause });
  }
  throw new WinnowError('invalid_option', '--arguments: write a JSON object, such as {"path": "a.txt"}.');
}
