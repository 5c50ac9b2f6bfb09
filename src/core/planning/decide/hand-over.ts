/** Finds the argument for a text that the request hands over. */
import { isUntouched } from '../../set-apart.js';
import { oneLine } from '../../visible-text.js';
import type { OwnText } from './choice.js';
import { NULL } from './given.js';
import { createJsonWriter } from './json-writer.js';
import { choiceOf, type TakenWords } from './options.js';
import type { Open } from './read.js';
import { boundsOf, type SetApart, type SourceContext } from './sources.js';

/**
 * The argument that the model writes in its own words, though the request hands over a text of which no argument has anything:
 * it would summarize a mail that it invents, or translate a sentence itself. Of several, that whose text the model would rather begin so.
 *
 * @param own texts in the model's own words, and where they stand
 */
export async function findHandedOver(
  own: readonly OwnText[],
  { apart, said }: Pick<SourceContext, 'apart' | 'said'>,
  { taken, isTimed }: { taken: TakenWords; isTimed: boolean },
  open: Open,
): Promise<{ name: string; text: SetApart } | undefined> {
  const used = [...taken.keys(), ...(isTimed ? said.times.map(({ text }) => text) : [])];
  const left = apart.filter((one) => isUntouched(one, used));
  const pairs = own.flatMap(({ name, text: composed, mark, schema }) =>
    left
      .filter(({ value, said }) => boundsOf(schema)(value) && !oneLine(composed).includes(said))
      .map((text) => ({ name, mark, text })),
  );
  if (pairs.length < 2) return pairs[0];
  const likelihoods: number[] = [];
  for (const { mark, text } of pairs) {
    const choice = choiceOf(text.shown);
    likelihoods.push(await createJsonWriter(open, mark).likelihoodOf(choice, [choice, NULL]));
  }
  return pairs[likelihoods.indexOf(Math.max(...likelihoods))];
}
