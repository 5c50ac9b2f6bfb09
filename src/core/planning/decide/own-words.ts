/** Texts that nobody said: a body, a title, a code of two letters. */
import type { JsonSchema } from '../../catalog/tool.js';
import type { Choice } from '../../model/choices.js';
import { isIdentifier } from '../ground.js';
import type { JsonWriter } from './json-writer.js';
import { boundsOf, folded, type SourceContext } from './sources.js';

const MAX_TOKENS = 120;
/** So many beginnings of a text are looked at. */
const LIKELY = 50;

/**
 * A text in the model's own words, where it would sooner begin it so than like anything that was said. What comes out as a
 * part of what was said is no word of its own: `petit@hill.org` of `l.petit@hill.org`.
 *
 * @returns undefined, with nothing written, where one of the options is meant
 */
export async function writeOwnWords(
  schema: JsonSchema,
  options: readonly Choice[],
  { writer, context }: { writer: JsonWriter; context: Pick<SourceContext, 'texts'> },
): Promise<{ text: string; probability: number } | undefined> {
  const isCopy = (inner: string) =>
    options.some(({ text }) => text.startsWith(inner, 1) || inner.startsWith(text.slice(1)));
  // Marks may share a token with the quotation mark: `"/`, `"${`.
  const [opening] = await writer.likeliest(1, '');
  const inner = opening?.text.trimStart().slice(1) ?? '';
  if (inner !== '' && isCopy(inner)) return undefined;
  const likely = await writer.likeliest(LIKELY, '"');
  const [next] = likely;
  const copied = likely.filter(({ text }) => isCopy(text)).reduce((sum, { probability }) => sum + probability, 0);
  if (!next || isCopy(next.text) || next.probability <= copied) return undefined;
  const mark = writer.mark();
  writer.force('"');
  const { text, probability } = await writer.writeText(MAX_TOKENS);
  const isSaid = context.texts.some((said) => folded(said).includes(folded(text)));
  if (text !== '' && !isIdentifier(text) && !isSaid && boundsOf(schema)(text)) {
    writer.force('"');
    return { text, probability };
  }
  writer.back(mark);
  return undefined;
}
