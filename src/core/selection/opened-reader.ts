/** A reader that is being opened; where that fails, what it has spent is counted all the same. */
import { addUsage, type TokenReader, type Usage } from '../model/model.js';
import { spentUsage } from '../model/structured.js';

export async function openedReader(opening: Promise<TokenReader>, usage: Usage): Promise<TokenReader> {
  try {
    return await opening;
  } catch (error) {
    addUsage(usage, spentUsage(error));
    throw error;
  }
}
