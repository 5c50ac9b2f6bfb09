/** Writes a value that is neither a list nor an object: one choice among its candidates, or a text in the model's own words. */
import type { Choice } from '../../model/choices.js';
import type { SourceName } from '../../result.js';
import { saysText } from '../ground.js';
import { choose, type Example, NULL, type OptionalValue, QUOTE, readExample, writesNull } from './given.js';
import { type JsonWriter, MAX_TOKENS, type Mark, NEXT, writeField, writeOn, writeOwnWords } from './json-writer.js';
import { type ChoiceContext, choiceOf, choicesFor, type Option, referencesFor, takesLength } from './options.js';
import type { Open } from './read.js';
import {
  beginningOf,
  type Candidate,
  folded,
  isClosed,
  isFreeText,
  isList,
  isOpenReference,
  type Place,
  type PlainPlace,
  plainSchema,
  wordsOf,
} from './sources.js';

export interface ChoiceWriting extends ChoiceContext {
  readonly writer: JsonWriter;
  readonly open: Open;
  /** What the tool says of itself. */
  readonly description: string;
  /** Texts in the model's own words that the tool or the schema says, too. */
  readonly examples: Example[];
  /** Name of an argument -> a text that nobody gave: it gets candidates alone, and no beginning of the text. */
  readonly refused: Map<string, string>;
  readonly taken: Map<string, string | undefined>;
  /** Texts in the model's own words, and where they stand. */
  readonly own: OwnText[];
  /** Name of an argument -> the text that the request hands over for it. */
  readonly handedOver: ReadonlyMap<string, Candidate>;
  /** The optional argument of the place. */
  readonly optional?: OptionalValue | undefined;
  /** Place in a list, from 0; undefined outside of lists. */
  readonly item?: number | undefined;
}

export interface OwnText {
  readonly name: string;
  readonly text: string;
  readonly schema: PlainPlace['schema'];
  readonly mark: Mark;
}

export interface Value {
  readonly value: unknown;
  readonly from: SourceName;
  readonly probability: number;
}

export async function writeChoice(place: PlainPlace, writing: ChoiceWriting): Promise<Value | undefined> {
  const handed = writing.handedOver.get(place.name);
  if (handed) return write(place, handed, 1, writing);
  const refused = writing.refused.get(place.name);
  const options = choicesFor(place, writing).filter(({ candidate }) => !refused?.startsWith(wordsOf(candidate)));
  const isFree = isFreeText(place.schema) && !writing.context.handles.has(place.name);
  const canCompose = isFree && refused === undefined;
  const beginnings = canCompose ? [QUOTE, ...options] : options;
  if (await writesNull(place, beginnings, writing)) return undefined;
  const mark = writing.writer.mark();
  const wanted = { schema: place.schema, options };
  const own = canCompose ? await writeOwnWords(wanted, writing) : undefined;
  const best = own ? undefined : await chooseMeant(place, options, writing);
  const copied = canCompose && best?.chosen.candidate.from === 'request' ? best.chosen.candidate : undefined;
  const isWhole = writing.context.apart.some((one) => one === copied);
  const longer = copied && !isWhole && (await writeOn(wordsOf(copied), wanted, writing));
  const composed = own ?? longer;
  if (!composed) {
    if (best) return write(place, best.chosen.candidate, best.probability, writing);
    writing.writer.force(NULL.text);
    return undefined;
  }
  if (isShown(composed.text, place.schema, writing))
    writing.examples.push(await readExample({ name: place.name, text: composed.text, mark }, writing.open));
  if (longer) writing.optional?.decisions.pop();
  if (copied) writing.taken.set(wordsOf(copied), undefined);
  writing.optional?.decisions.push({ mark, choices: [QUOTE, NULL], choice: QUOTE });
  if (composed.from === 'request') writing.taken.set(composed.text, undefined);
  else writing.own.push({ name: place.name, text: composed.text, schema: place.schema, mark });
  return { value: composed.text, from: composed.from, probability: composed.probability };
}

/**
 * Below this likelihood the model would rather write something else. Of 103 required values of development requests that are right
 * all have at least 0.2; of 12 that are wrong 3 have less than 0.03.
 */
const MEANT = 0.05;

/**
 * The likeliest option. For a required value that the model would not write so, the words that it writes instead if the request
 * has them in other letters or an argument has taken them, or none.
 */
async function chooseMeant(place: PlainPlace, options: readonly Option[], writing: ChoiceWriting) {
  const { writer } = writing;
  const best = await choose(options, writing);
  if (!place.required || isClosed(place.schema) || (await isMeant(place, best, writing))) return best;
  const all = choicesFor(place, { ...writing, taken: new Map() });
  const taken = await choose(all, writing);
  if (await isMeant(place, taken, writing)) return taken;
  if (!isFreeText(place.schema)) return undefined;
  const mark = writer.mark();
  writer.force(QUOTE.text);
  const { text, probability } = await writer.writeText(MAX_TOKENS);
  writer.back(mark);
  const chosen = all.find(({ candidate }) => folded(String(candidate.value)) === folded(text));
  return chosen && { chosen, probability };
}

/** An identifier in its form is meant: a small model seldom foresees one. So is a value of whose words the model would write. */
async function isMeant(
  { name }: Place,
  best: { chosen: Option } | undefined,
  { writer, context }: ChoiceWriting,
): Promise<boolean> {
  if (!best) return false;
  const { chosen } = best;
  const { from, said } = chosen.candidate;
  if (from === 'step' || from === 'default' || context.handles.get(name)?.codes.includes(wordsOf(chosen.candidate)))
    return true;
  let likelihood = 0;
  for (const one of from === 'computed' && said ? [chosen, choiceOf(said)] : [chosen])
    likelihood += await writer.likelihoodOf(one, [one, NULL]);
  return likelihood >= MEANT;
}

/** Whether the tool or the schema says the text, as an example or in its description. */
function isShown(text: string, schema: PlainPlace['schema'], { description: ofTool }: ChoiceWriting): boolean {
  const { title, description, examples, example } = schema;
  const shown = JSON.stringify([ofTool, title, description, examples, example]);
  return saysText({ text: shown, letters: folded(shown) }, text);
}

async function writeBest(place: Place, options: readonly Option[], writing: ChoiceWriting): Promise<Value | undefined> {
  const best = await choose(options, writing);
  return best && write(place, best.chosen.candidate, best.probability, writing);
}

export async function write(
  place: Place,
  chosen: Candidate,
  probability: number,
  writing: ChoiceWriting,
): Promise<Value> {
  const { writer, taken } = writing;
  const { value, from, shown = value } = chosen;
  if (typeof value === 'number' && from === 'request') refuseToOwner(place, wordsOf(chosen), writing);
  // An open reference serves one argument, as words do.
  if (isOpenReference(value)) taken.set(value, undefined);
  if (isOpenReference(value)) return writeField(place.name, { value, probability }, writer);
  writer.force(JSON.stringify(shown));
  // Computed values do not take the words, since both ends of a window share them; but a length is one value.
  const isLength = from === 'computed' && takesLength(place.name, plainSchema(place.schema, writing.root));
  if (isLength) taken.set(wordsOf(chosen), place.name);
  if (from === 'request') taken.set(wordsOf(chosen), typeof value === 'number' ? place.name : undefined);
  if (from === 'computed') taken.set(String(value), place.name);
  return { value, from, probability };
}

/**
 * The argument that takes a number of the text that the model would write: "two breads" are breads, and two of them. Behind the
 * number the model seldom writes it once more, but ahead of it, the text takes its words.
 *
 * @param numbers places of numbers that are not written yet
 * @param separator what the writer puts ahead of the next name
 * @returns undefined if the model gives them other numbers, or none
 */
export async function ownerOfNumber(
  place: PlainPlace,
  numbers: readonly PlainPlace[],
  separator: string,
  writing: ChoiceWriting,
): Promise<string | undefined> {
  const { context, writer } = writing;
  if (numbers.length === 0 || !isFreeText(place.schema) || context.handles.has(place.name)) return undefined;
  const best = await chosenFor(place);
  const words = best ? folded(wordsOf(best)) : '';
  const [number, second] = context.said.numbers.filter(({ text }) => words.includes(folded(text)));
  // A text with several numbers has more than one thing.
  if (!number || second || folded(number.text) === words) return undefined;
  for (const one of numbers) if ((await chosenFor(one))?.said === number.text) return one.name;
  return undefined;

  async function chosenFor(one: PlainPlace): Promise<Candidate | undefined> {
    const mark = writer.mark();
    writer.force(`${separator}${JSON.stringify(one.name)}: `);
    const best = await choose<Choice | Option>([...choicesFor(one, writing), NULL], { writer });
    writer.back(mark);
    return best && 'candidate' in best.chosen ? best.chosen.candidate : undefined;
  }
}

/** A number that a second argument needs, too, is not for the first one if a result may have its value. */
function refuseToOwner({ name }: Place, words: string, writing: ChoiceWriting): void {
  const { root, taken, refused } = writing;
  const owner = taken.get(words);
  const schema = owner === undefined || owner === name ? undefined : Object(root.properties)[owner];
  if (owner === undefined || schema === undefined) return;
  if (referencesFor(plainSchema(schema, root), writing).length > 0) refused.set(owner, words);
}

/** Writes a value that needs no choice, but for the field of a result without a schema. */
export async function writeSettled(place: Place, known: Candidate, writing: ChoiceWriting): Promise<Value> {
  const { value: settled, from } = known;
  const values = [settled].flat();
  if (!values.some(isOpenReference)) {
    const texts = values.map((one) => JSON.stringify(one)).join(NEXT.text);
    writing.writer.force(Array.isArray(settled) ? `[${texts}]` : texts);
    for (const words of from === 'step' ? values.map((one) => beginningOf(String(one))) : [wordsOf(known)])
      writing.taken.set(words, undefined);
    return { value: settled, from, probability: 1 };
  }
  if (!Array.isArray(settled)) return writeSettledField(place, String(settled), writing);
  const fields: Value[] = [];
  for (const value of settled) {
    writing.writer.force(fields.length > 0 ? NEXT.text : '[');
    fields.push(await writeSettledField(place, String(value), writing));
  }
  writing.writer.force(']');
  const probability = Math.min(...fields.map((one) => one.probability));
  return { value: fields.map(({ value }) => value), from, probability };
}

/** The model names the field of a result to which the value refers. */
async function writeSettledField(place: Place, value: string, writing: ChoiceWriting): Promise<Value> {
  const schema = plainSchema(place.schema, writing.root);
  const fields = referencesFor(isList(schema) ? plainSchema(schema.items, writing.root) : schema, writing);
  const own = fields.filter(({ text, ends }) => ends === 'string' && text.startsWith(value, 1));
  const found = own.length > 0 ? await writeBest(place, own, writing) : undefined;
  return found ?? writeField(place.name, { value, probability: 1 }, writing.writer);
}
