/** What planning says without a model, in the user's language: sentences of a data file, one column a language. */
import { languageOf } from '../language.js';
import type { Request } from '../request.js';
import phrases from './phrases.json' with { type: 'json' };

export type PhraseName = keyof typeof phrases;

/** The sentence in the language of the request, in English where the file has none. */
export function renderPhrase(
  name: PhraseName,
  request: Pick<Request, 'message' | 'locale'>,
  values: Readonly<Record<string, string>> = {},
): string {
  const known: Readonly<Record<string, string>> = phrases[name];
  const sentence = known[languageOf(request)] ?? known.en ?? '';
  return sentence.replace(/\{\{(\w+)\}\}/gu, (_, value: string) => values[value] ?? '');
}
