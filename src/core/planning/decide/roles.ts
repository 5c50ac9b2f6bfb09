/** Finds out what each argument of a call means that other tools look up: "Bern" and "Basel" of a journey. */
import type { Choice } from '../../model/choices.js';
import { choose } from './given.js';
import { createJsonWriter, type JsonWriter, NEXT } from './json-writer.js';
import { choiceOf, spansOf } from './options.js';
import type { Open } from './read.js';

const END: Choice = { text: ']', ends: 'close' };
const MAX_ITEMS = 24;

/**
 * The words of the request that each argument means; of a list, those of each item. The call that needs them all says who is who,
 * and a lookup of one of them does not: for `to_account_id` alone the model names either account.
 *
 * @param open reads the call of which they are arguments
 * @example // of "Trains from Bern to Basel": origin_id -> ["Bern"], destination_id -> ["Basel"]
 */
export async function readRoles(
  places: readonly { readonly name: string; readonly isList: boolean }[],
  texts: readonly string[],
  open: Open,
): Promise<ReadonlyMap<string, readonly string[]>> {
  const writer = createJsonWriter(open);
  const roles = new Map<string, readonly string[]>();
  let separator = '';
  for (const { name, isList } of places) {
    writer.force(`${separator}${JSON.stringify(name)}: ${isList ? '[' : ''}`);
    separator = ', ';
    const found: string[] = [];
    const most = isList ? MAX_ITEMS : 1;
    while (found.length < most && (found.length === 0 || (await goesOn(writer)))) {
      const words = await readWords(spansOf(texts, [...roles.values(), found].flat()), writer);
      if (words === undefined) break;
      found.push(words);
    }
    if (isList) writer.force(']');
    roles.set(name, found);
  }
  return roles;
}

async function readWords(spans: readonly string[], writer: JsonWriter): Promise<string | undefined> {
  const choices = spans.map((words) => ({ ...choiceOf(words), words }));
  const found = await choose(choices, { writer });
  if (found) writer.force(JSON.stringify(found.chosen.words));
  return found?.chosen.words;
}

async function goesOn(writer: JsonWriter): Promise<boolean> {
  const [next] = await writer.rank([NEXT, END]);
  if (next?.name !== NEXT.text) return false;
  writer.force(NEXT.text);
  return true;
}
