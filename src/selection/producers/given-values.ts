/** Whether the request itself already holds the value of a handle; then no producer is needed. */
import type { Request } from '../../request.js';
import type { Need } from './needs.js';
import { identifierWords } from './vocabulary.js';

export interface Given {
  readonly text: string;
  readonly entities: Readonly<Record<string, unknown>>;
}

/** The message and the last earlier messages count as what the user said. */
export function givenOf(request: Request): Given {
  const earlier = (request.history ?? []).slice(-HISTORY_MESSAGES).map((message) => message.content);
  return { text: [...earlier, request.message].join('\n'), entities: request.entities ?? {} };
}

const HISTORY_MESSAGES = 6;
/** UUIDs, long numbers, codes that mix letters and digits, paths with a slash or an extension, URLs. */
const CODE = /\b(?:[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f-]{22}|\d{5,}|(?=[\w-]*\d)(?=[\w-]*[a-z])[\w-]{5,})\b/iu;
const URL = /\b[a-z][a-z0-9+.-]*:\/\/\S+/iu;

export function isGiven(need: Need, given: Given): boolean {
  if (entityHolds(need, given.entities)) return true;
  if (matchesPattern(need, given.text)) return true;
  if (need.key.endsWith('uri') && URL.test(given.text)) return true;
  return (
    namedValue(need, given.text) ||
    (CODE.test(given.text) && need.schema.type !== 'integer' && need.schema.type !== 'number')
  );
}

function entityHolds(need: Need, entities: Readonly<Record<string, unknown>>): boolean {
  return Object.entries(entities).some(
    ([name, value]) => value !== null && value !== undefined && identifierWords(name).join(' ') === need.key,
  );
}

/** `movie 550`, `movie_id: 550`, `id 550`, `ticket #12`: the thing's own word, then a number or a code. */
function namedValue(need: Need, text: string): boolean {
  const words = [...need.entities, need.key.replaceAll(' ', '[ _-]?'), ...need.key.split(' ').slice(-1)].filter(
    Boolean,
  );
  return words.some((word) =>
    new RegExp(`(?<![\\p{L}])${word}s?(?:[ _-]?(?:id|no|number|code))?\\s*[:=#]?\\s*#?(?=\\S*\\d)[\\w-]+`, 'iu').test(
      text,
    ),
  );
}

function matchesPattern(need: Need, text: string): boolean {
  const pattern = need.schema.pattern;
  if (typeof pattern !== 'string' || pattern.length > 200) return false;
  try {
    const whole = new RegExp(pattern, 'u');
    return text
      .slice(0, 2000)
      .split(/[\s,，。;；!！?？"'“”()（）]+/u)
      .some((word) => /\d/u.test(word) && word.length <= 100 && whole.test(word));
  } catch {
    return false;
  }
}
