/** Optional peer packages, which only some users need: the error for a missing one names it and the install command. */
import { messageOf, WinnowError } from './errors.js';

/**
 * @param packages all that the feature needs; the error says to install them together
 * @param neededBy the flag or feature, as the beginning of a sentence
 * @throws WinnowError `invalid_option` where a package is not installed
 */
export async function loadOptional<Loaded>(
  load: () => Promise<Loaded>,
  { packages, neededBy }: { packages: readonly string[]; neededBy: string },
): Promise<Loaded> {
  try {
    return await load();
  } catch (error) {
    const missing = /Cannot find package '([^']+)'/u.exec(messageOf(error))?.[1];
    if (missing === undefined) throw error;
    throw new WinnowError(
      'invalid_option',
      `${neededBy} needs the package ${missing}, which is not installed. Install it: npm install ${packages.join(' ')}`,
      { cause: error },
    );
  }
}
