/** What planning says without a model, in the user's language: sentences of a data file, one column a language. */
import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { languageOf } from '../language.js';
import type { Request } from '../request.js';

const sentences = z.record(z.string(), z.string());
const phrasesSchema = z.strictObject({ noTool: sentences, missing: sentences, unsure: sentences });

export type PhraseName = keyof z.infer<typeof phrasesSchema>;

const phrases = phrasesSchema.parse(
  JSON.parse(readFileSync(new URL('../../../prompts/phrases.json', import.meta.url), 'utf8')),
);

/** The sentence in the language of the request, in English where the file has none. */
export function renderPhrase(
  name: PhraseName,
  request: Pick<Request, 'message' | 'locale'>,
  values: Readonly<Record<string, string>> = {},
): string {
  const known = phrases[name];
  const sentence = known[languageOf(request)] ?? known.en ?? '';
  return sentence.replace(/\{\{(\w+)\}\}/gu, (_, value: string) => values[value] ?? '');
}
