/**
 * Tools whose names are alike but for one word, such as `person_movie_credits` and `person_tv_credits`. A model that names one
 * token after the other mixes them up, also where the request says which is meant. There the request decides.
 */
import type { Tool } from '../catalog/tool.js';
import { CALL_FIELDS, fieldTexts } from '../search/fields.js';
import { splitIdentifier, wordsOf } from '../search/words.js';

/** Of each tool the groups that it stands in with its twins; a tool without any is not there. */
export type Twins = ReadonlyMap<Tool, readonly (readonly Tool[])[]>;

/** Twins share at least two words of their names, in one order. */
export function findTwins(tools: readonly Tool[]): Twins {
  const alike = new Map<string, Tool[]>();
  for (const tool of tools) for (const pattern of patternsOf(tool.name)) push(alike, pattern, tool);
  const twins = new Map<Tool, (readonly Tool[])[]>();
  for (const group of alike.values()) if (group.length > 1) for (const tool of group) push(twins, tool, group);
  return twins;
}

/** The name with one of its words left open, for each word. */
function patternsOf(name: string): string[] {
  const words = splitIdentifier(name);
  return words.length < 3 ? [] : words.map((_, open) => words.with(open, '*').join(' '));
}

function push<Key, Item>(lists: Map<Key, Item[]>, key: Key, item: Item): void {
  const list = lists.get(key);
  if (list) list.push(item);
  else lists.set(key, [item]);
}

const found = new WeakMap<readonly Tool[], Twins>();

/**
 * A tool that the request calls by a word of its own is at least as likely as a twin whose own words the request does not hold.
 *
 * @param tools all that can be named; their twins are found once
 * @param wording the request's own words
 */
export function liftMeant(
  probabilities: ReadonlyMap<Tool, number>,
  { tools, wording }: { tools: readonly Tool[]; wording: string },
): Map<Tool, number> {
  const twins = found.get(tools) ?? findTwins(tools);
  found.set(tools, twins);
  const said = new Set(wordsOf(wording));
  const lifted = new Map(probabilities);
  for (const [tool, probability] of probabilities)
    for (const twin of (twins.get(tool) ?? []).flat())
      if (probability > (lifted.get(twin) ?? 0) && isMeant(twin, tool, said)) lifted.set(twin, probability);
  return lifted;
}

function isMeant(tool: Tool, twin: Tool, said: ReadonlySet<string>): boolean {
  return isCalledByOwnWord(tool, twin, said) && !isCalledByOwnWord(twin, tool, said);
}

function isCalledByOwnWord(tool: Tool, twin: Tool, said: ReadonlySet<string>): boolean {
  const shared = callWords(twin);
  return [...callWords(tool)].some((word) => said.has(word) && !shared.has(word));
}

const known = new WeakMap<Tool, ReadonlySet<string>>();

function callWords(tool: Tool): ReadonlySet<string> {
  const words = known.get(tool) ?? readCallWords(tool);
  known.set(tool, words);
  return words;
}

function readCallWords(tool: Tool): ReadonlySet<string> {
  const texts = fieldTexts(tool);
  return new Set(CALL_FIELDS.flatMap((field) => wordsOf(texts[field])));
}
