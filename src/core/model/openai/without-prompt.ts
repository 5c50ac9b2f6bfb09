/** The words of a server without what it quotes of the prompt: errors go into logs, where no prompt must stand. */
import type { Prompt } from '../model.js';

const LEFT_OUT = '[…]';
/** In a row they are a quotation; fewer may be the server's own. */
const QUOTED_WORDS = 4;
/** A letter behind a backslash is no word: it stands for a line break in JSON. A character of Chinese is one. */
const WORD = /\\+[nrt]|\p{Script=Han}|(?:(?!\p{Script=Han})[\p{L}\p{M}\p{N}_'-])+/gu;
/** Codes and passwords tell much in one word. */
const TELLING = /(?=.*\p{N}).{4,}/u;

export function withoutPrompt(text: string, { system, user }: Prompt): string {
  const said = placesIn(text);
  const quoted = findQuoted(
    said.map(({ word }) => word),
    { stable: wordsIn(system), changing: wordsIn(user) },
  );
  let rest = '';
  let done = 0;
  for (const [at, { start, end }] of said.entries()) {
    if (!quoted.has(at)) continue;
    // What stands between two quoted words goes with them.
    if (!quoted.has(at - 1)) rest += text.slice(done, start) + LEFT_OUT;
    done = end;
  }
  return rest + text.slice(done);
}

interface PromptWords {
  stable: readonly string[];
  changing: readonly string[];
}

/** Places of the words that are quoted. */
function findQuoted(said: readonly string[], { stable, changing }: PromptWords): Set<number> {
  const runs = new Set([...runsOf(stable), ...runsOf(changing)]);
  const ofTools = new Set(stable);
  const telling = new Set(changing.filter((word) => TELLING.test(word) && !ofTools.has(word)));
  const quoted = new Set<number>();
  for (const [at, word] of said.entries()) {
    if (telling.has(word)) quoted.add(at);
    if (runs.has(runAt(said, at))) for (let next = at; next < at + QUOTED_WORDS; next++) quoted.add(next);
  }
  // A quotation may be cut inside of a word.
  const isCut = (word: string) => changing.some((one) => one.startsWith(word) && one !== word);
  const ends = [...quoted].map((at) => at + 1).filter((next) => !quoted.has(next));
  for (const next of ends) if (isCut(said[next] ?? '')) quoted.add(next);
  return quoted;
}

function runsOf(words: readonly string[]): string[] {
  return words.slice(QUOTED_WORDS - 1).map((_, at) => runAt(words, at));
}

function runAt(words: readonly string[], at: number): string {
  return words.slice(at, at + QUOTED_WORDS).join(' ');
}

function wordsIn(text: string): string[] {
  return placesIn(text).map(({ word }) => word);
}

function placesIn(text: string): { word: string; start: number; end: number }[] {
  return [...text.matchAll(WORD)]
    .filter(([found]) => !found.startsWith('\\'))
    .map(({ 0: found, index }) => ({ word: found.toLowerCase(), start: index, end: index + found.length }));
}
