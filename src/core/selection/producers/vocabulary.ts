/**
 * The words by which schemas of all domains tell handles, finders and writers apart. Terms of APIs in general;
 * nothing of one catalogue.
 */
import { foldPlural, splitIdentifier, wordsOf } from '../../search/words.js';

/** Last words of an argument that names a thing by a value which only another tool can give. */
export const HANDLE_WORDS = new Set([
  'id',
  'ids',
  'uuid',
  'guid',
  'key',
  'code',
  'cd',
  'uri',
  'urn',
  'handle',
  'ref',
  'reference',
  'slug',
  'sku',
  'token',
  'hash',
  'sha',
]);

/** Last words of an argument that says where a file or folder lies. */
const FILE_WORDS = new Set(['path', 'file', 'filename', 'filepath', 'pathname']);
const FOLDER_WORDS = new Set(['folder', 'directory', 'dir']);
/** Words of an argument for a place that is still to be filled. */
const TARGET_WORDS = new Set(['to', 'target', 'output', 'out', 'dest', 'destination', 'save', 'new', 'storage']);
/** Verbs of tools that bring a thing into being: where it will lie nobody can look up. */
const MAKERS = new Set(['create', 'write', 'save', 'add', 'make', 'mkdir', 'new', 'upload', 'export', 'download']);

/** Handles that are known without asking: codes of a standard, secrets of the caller, places in a list. */
const KNOWN_HANDLES =
  /(?:^| )(?:country|language|lang|currency|market|locale|zip|postal|post|area|region|time zone|timezone|status|color|source|function|api|access|auth|page|next page|cursor|continuation|idempotency|promo|discount|error|exit|qr|hex)$/u;

/** Verbs of tools that answer a search, so that what they return is what was asked for. */
const SEARCHERS = new Set(['search', 'find', 'lookup', 'look', 'resolve', 'discover', 'locate', 'match', 'query']);

const FINDERS = new Set([...SEARCHERS, 'list', 'browse']);
const READERS = new Set([
  ...FINDERS,
  'get',
  'read',
  'fetch',
  'show',
  'describe',
  'retrieve',
  'view',
  'open',
  'load',
  'check',
  'count',
  'calculate',
  'compute',
  'inspect',
]);
const WRITERS = new Set(
  `create add post put update patch set delete remove send write save insert move rename book cancel pay publish run start
   stop execute upload edit modify replace clear reset enable disable follow unfollow approve reject close commit push issue
   schedule transfer trigger apply install order submit assign share archive restore invite merge`.split(/\s+/u),
);
const FILLERS = new Set([
  'by',
  'of',
  'for',
  'the',
  'a',
  'an',
  'in',
  'on',
  'to',
  'from',
  'and',
  'or',
  'with',
  'all',
  'api',
  'me',
  'my',
  'data',
  'info',
  'information',
  'detail',
  'details',
  'result',
  'item',
  'value',
  'object',
  'new',
  'current',
]);

/** Singular words of an identifier, in order. */
export function identifierWords(name: string): string[] {
  return splitIdentifier(name).map(foldPlural);
}

export function isVerb(word: string): boolean {
  return READERS.has(word) || WRITERS.has(word);
}

export function isNoun(word: string): boolean {
  return word.length > 1 && !isVerb(word) && !FILLERS.has(word) && !HANDLE_WORDS.has(word) && !/^\d+$/u.test(word);
}

/** Nouns of a text, singular. What is a verb else is a noun in the plural: `books`, `posts`. */
export function nounsIn(text: string): string[] {
  const plurals = new Set(splitIdentifier(text).flatMap((word) => (foldPlural(word) === word ? [] : foldPlural(word))));
  return wordsOf(text).filter((word) => isNoun(word) || (isVerb(word) && plurals.has(word)));
}

export type Manner = 'search' | 'list' | 'read' | 'write';

/** What a tool does, by the first verb of its name, else of its description; unknown verbs count as reading. */
export function mannerOf(name: string, description: string): Manner {
  const words = splitIdentifier(name);
  const verb = words.find((word) => WRITERS.has(word) || READERS.has(word));
  const finder = words.find((word) => FINDERS.has(word));
  if (verb && WRITERS.has(verb)) return 'write';
  if (finder) return SEARCHERS.has(finder) ? 'search' : 'list';
  if (verb) return 'read';
  const described = splitIdentifier(description)
    .slice(0, 3)
    .map(foldPlural)
    .find((word) => WRITERS.has(word) || READERS.has(word));
  if (described === undefined) return 'read';
  if (WRITERS.has(described)) return 'write';
  return SEARCHERS.has(described) ? 'search' : FINDERS.has(described) ? 'list' : 'read';
}

/** `movie_id` -> `movie`; `id` -> the empty string; `name` -> undefined, since a user can give it. */
export function handleStem(argument: string): string | undefined {
  const words = identifierWords(argument);
  const last = words.at(-1);
  if (last === undefined) return undefined;
  if (HANDLE_WORDS.has(last)) {
    const stem = words.slice(0, -1).join(' ');
    const isKnown = ['code', 'cd', 'key', 'token'].includes(last) && (stem === '' || KNOWN_HANDLES.test(stem));
    return isKnown ? undefined : stem;
  }
  return undefined;
}

/** `config_path` -> `config`, `file`; undefined where the argument does not say where a thing lies. */
export function pathEntities(argument: string): string[] | undefined {
  const words = identifierWords(argument);
  const last = words.at(-1) === 'name' ? words.at(-2) : words.at(-1);
  if (last === undefined || !(FILE_WORDS.has(last) || FOLDER_WORDS.has(last))) return undefined;
  if (words.some((word) => TARGET_WORDS.has(word))) return undefined;
  const kinds = FOLDER_WORDS.has(last) ? ['folder', 'directory'] : ['file'];
  return [...new Set([...words.slice(0, words.lastIndexOf(last)).filter(isNoun).reverse(), ...kinds])];
}

/** Whether a tool works on what is there: a finder's path is only where it begins to look, a maker's is a new one. */
export function worksOnPath(name: string, description: string): boolean {
  const manner = mannerOf(name, description);
  return manner !== 'search' && manner !== 'list' && !splitIdentifier(name).some((word) => MAKERS.has(word));
}
