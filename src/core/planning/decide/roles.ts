/** Finds out what each argument of a call means that other tools look up: "Bern" and "Basel" of a journey. */
import type { Choice } from '../../model/choices.js';
import { NULL } from './given.js';
import { createJsonWriter, goesOn, type JsonWriter, NEXT } from './json-writer.js';
import { choiceOf, spansOf } from './options.js';
import type { Open } from './read.js';
import type { SourceContext } from './sources.js';

interface Place {
  readonly name: string;
  readonly isList: boolean;
}

/** @property gone words that other arguments of the call take, such as its day */
type Said = Pick<SourceContext, 'texts' | 'earlier'> & { readonly gone: readonly string[] };

type Roles = ReadonlyMap<string, readonly string[]>;
type Words = Choice & { readonly words: string };

const MAX_ITEMS = 24;
/**
 * So many beginnings are compared: for the first argument, the model likes the first name of the request, whatever it needs. The
 * likelihood of the whole tells: with "Nordfreight" as the shipment, nothing is left for the carrier.
 */
const BEGINNINGS = 3;
/** Above this probability of `null` nothing says what the only thing is. */
const UNSAID = 0.5;

/**
 * The words of the request that each argument means; of a list, those of each item. The call that needs them all says who is who,
 * and a lookup of one of them does not: for `to_account_id` alone the model names either account.
 *
 * @param open reads the call of which they are arguments
 * @example // of "Trains from Bern to Basel": origin_id -> ["Bern"], destination_id -> ["Basel"]
 */
export async function readRoles(places: readonly Place[], said: Said, open: Open): Promise<Roles> {
  const writer = createJsonWriter(open);
  const start = writer.mark();
  const [first] = places;
  if (first) writer.force(beginningOf(first));
  // Nothing says what the only thing is.
  const all = places.length === 1 ? wordsIn(said) : [];
  if (all.length > 0 && (await writer.probabilityOf(NULL, [...all, NULL])) > UNSAID) return new Map();
  const beginnings = places.length > 1 ? await rankWords(wordsIn(said), writer, BEGINNINGS) : [undefined];
  let best: { roles: Roles; likelihood: number } | undefined;
  for (const beginning of beginnings) {
    writer.back(start);
    const found = await readAll(places, said, { writer, beginning });
    if (!best || found.likelihood > best.likelihood) best = found;
  }
  return best?.roles ?? new Map();
}

function beginningOf({ name, isList }: Place): string {
  return `${JSON.stringify(name)}: ${isList ? '[' : ''}`;
}

/** @param reading.beginning the words of the first argument. Default: the likeliest */
async function readAll(
  places: readonly Place[],
  said: Said,
  { writer, beginning }: { writer: JsonWriter; beginning: Words | undefined },
): Promise<{ roles: Roles; likelihood: number }> {
  const roles = new Map<string, readonly string[]>();
  let likelihood = 1;
  let given = beginning;
  for (const place of places) {
    writer.force(`${roles.size > 0 ? NEXT.text : ''}${beginningOf(place)}`);
    const found: string[] = [];
    const most = place.isList ? MAX_ITEMS : 1;
    while (found.length < most && (found.length === 0 || (await goesOn(writer)))) {
      const all = wordsIn({ ...said, gone: [...said.gone, ...[...roles.values(), found].flat()] });
      const [words] = given ? [given] : await rankWords(all, writer, 1);
      given = undefined;
      if (!words) break;
      likelihood *= await writer.likelihoodOf(words, [...all, NULL]);
      found.push(words.words);
      writer.force(JSON.stringify(words.words));
    }
    if (place.isList) writer.force(']');
    roles.set(place.name, found);
  }
  return { roles, likelihood };
}

function wordsIn({ texts, earlier, gone }: Said): Words[] {
  const all = new Set([...spansOf(texts, gone), ...earlier]);
  return [...all].map((words) => ({ ...choiceOf(words), words }));
}

async function rankWords(all: readonly Words[], writer: JsonWriter, count: number): Promise<Words[]> {
  const ranked = await writer.rank(all, count);
  return ranked.flatMap(({ name }) => all.find(({ text }) => text === name) ?? []);
}
