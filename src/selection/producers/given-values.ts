/** Whether the request itself already holds the value of a handle; then no producer is needed. */
import { createPatternTrials, createSafePattern, type PatternTrials } from '../../catalog/schema/safe-pattern.js';
import type { Request } from '../../request.js';
import { isStopWord } from '../../search/words.js';
import type { Need } from './needs.js';
import { identifierWords } from './vocabulary.js';

export interface Given {
  readonly text: string;
  readonly entities: Readonly<Record<string, unknown>>;
  /** Patterns are strangers': all of them together have one budget. */
  readonly trials: PatternTrials;
}

/** The message and the last earlier messages count as what the user said. */
export function givenOf(request: Request): Given {
  const earlier = (request.history ?? []).slice(-HISTORY_MESSAGES).map((message) => message.content);
  return {
    text: [...earlier, request.message].join('\n'),
    entities: request.entities ?? {},
    trials: createPatternTrials(),
  };
}

const HISTORY_MESSAGES = 6;
/** UUIDs, long numbers, codes of digits with letters of one case; `Blink-182` is a name. */
const CODE =
  /\b(?:[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F-]{22}|\d{5,}|(?=[\w-]{0,99}\d)(?=[\w-]{0,99}[a-z])[a-z\d_-]{5,100}|(?=[\w-]{0,99}\d)(?=[\w-]{0,99}[A-Z])[A-Z\d_-]{5,100})\b/gu;
/** "for Sony WH-1000XM4": a capitalised word inside the sentence, then the code. */
const NAME_BEFORE = /[^.!?\s]\s+\p{Lu}[\p{L}\p{N}-]*\s+$/u;
const URL = /\b[a-z][a-z0-9+.-]{0,30}:\/\/\S/iu;
/** A path with a folder, or a file name with an extension. */
const PATH =
  /(?:^|[\s"'`(])(?:(?:\.{0,2}\/)?(?:[\w.-]+\/)+[\w.-]*|~?\/[\w.-]+|[A-Za-z]:\\)|(?<![\w-])[\w-]+\.[a-z]{1,5}[0-9]?\b/u;

export function isGiven(need: Need, given: Given): boolean {
  if (entityHolds(need, given.entities)) return true;
  if (matchesPattern(need, given)) return true;
  if (/(?:uri|url)$/u.test(need.key) && URL.test(given.text)) return true;
  // Where a tool is enabled without a request nobody knows what was said.
  if (need.isPath && given.text.trim() === '') return true;
  if ((need.isPath || /(?:path|file|folder|directory)$/u.test(need.key)) && PATH.test(given.text)) return true;
  if (namedValue(need, given.text)) return true;
  const isNumber = need.schema.type === 'integer' || need.schema.type === 'number';
  return !isNumber && (holdsCode(given.text) || statesIdentifier(given.text));
}

function entityHolds(need: Need, entities: Readonly<Record<string, unknown>>): boolean {
  return Object.entries(entities).some(
    ([name, value]) => value !== null && value !== undefined && identifierWords(name).join(' ') === need.key,
  );
}

/** `movie 550`, `movie_id: 550`, `id is 550`, `ticket #12`: the thing's own word, then a number or a code. */
function namedValue(need: Need, text: string): boolean {
  const words = [...need.entities, need.key.replaceAll(' ', '[ _-]?'), ...need.key.split(' ').slice(-1)].filter(
    Boolean,
  );
  return words.some((word) =>
    new RegExp(
      `(?<![\\p{L}])${word}s?(?:[ _-]?(?:id|no|number|code))?\\s*(?:[:=#：为是]|(?:is|are)\\s)?\\s*#?(?=\\S{0,99}\\d)[\\w-]+`,
      'iu',
    ).test(text),
  );
}

/** `id: V-neck`, `(id Adriel)`, `ID "delta"`: who writes one down gives one; "the ID of the film" gives none. */
const STATED_ID =
  /\b(?:id|identifier|uuid|guid)\b["'”’]?\s*(?<says>[:=#：为是]|(?:is|are)\b)?\s*(?<quote>["'“‘])?(?<value>[\p{L}\p{N}][\w-]*)/giu;

function statesIdentifier(text: string): boolean {
  return [...text.matchAll(STATED_ID)].some(({ groups }) => {
    if (groups?.quote !== undefined) return true;
    const value = groups?.value ?? '';
    return groups?.says === undefined ? /^\p{Lu}/u.test(value) : !isStopWord(value.toLowerCase());
  });
}

function matchesPattern(need: Need, { text, trials }: Given): boolean {
  const pattern = need.schema.pattern;
  if (typeof pattern !== 'string' || pattern.length > 200) return false;
  try {
    const whole = createSafePattern(pattern, { trials });
    return text
      .slice(0, 2000)
      .split(/[\s,，。;；!！?？"'“”()（）]+/u)
      .some((word) => /\d/u.test(word) && word.length <= 100 && whole.test(word));
  } catch {
    return false;
  }
}

/** A code that belongs to a name is what one searches for, not a handle. */
function holdsCode(text: string): boolean {
  return [...text.matchAll(CODE)].some(({ index }) => !NAME_BEFORE.test(text.slice(Math.max(0, index - 60), index)));
}
