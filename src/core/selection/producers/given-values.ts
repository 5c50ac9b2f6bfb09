/** Whether the request itself already holds the value of a handle; then no producer is needed. */
import { createPatternTrials, createSafePattern, type PatternTrials } from '../../catalog/schema/safe-pattern.js';
import type { Request } from '../../request.js';
import { isStopWord } from '../../search/words.js';
import type { Need } from './needs.js';
import { identifierWords } from './vocabulary.js';

export interface Given {
  readonly message: string;
  /** The message behind the last earlier messages. */
  readonly text: string;
  readonly entities: Readonly<Record<string, unknown>>;
  /** Patterns are strangers': all of them together have one budget. */
  readonly trials: PatternTrials;
}

export function givenOf(request: Request): Given {
  const earlier = (request.history ?? []).slice(-HISTORY_MESSAGES).map((message) => message.content);
  return {
    message: request.message,
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

/**
 * Nothing has to be found: what was said before counts only where the request names nothing new, and figures that are
 * amounts, days or telephone numbers are no identifiers.
 */
export function isGiven(need: Need, given: Given): boolean {
  return holdsValue(need, namesSomethingNew(given) ? { ...given, text: given.message } : given, isIdentifier);
}

/** Whoever reads all that was said may find the value there. */
export function mayBeGiven(need: Need, given: Given): boolean {
  return holdsValue(need, given, () => true);
}

function holdsValue(need: Need, given: Given, counts: (found: Found) => boolean): boolean {
  if (entityHolds(need, given.entities)) return true;
  if (matchesPattern(need, given)) return true;
  if (/(?:uri|url)$/u.test(need.key) && URL.test(given.text)) return true;
  // Where a tool is enabled without a request nobody knows what was said.
  if (need.isPath && given.text.trim() === '') return true;
  if ((need.isPath || /(?:path|file|folder|directory)$/u.test(need.key)) && PATH.test(given.text)) return true;
  if (namedValues(need, given.text).some(counts)) return true;
  const isNumber = need.schema.type === 'integer' || need.schema.type === 'number';
  return !isNumber && (codesIn(given.text).some(counts) || statesIdentifier(given.text));
}

/** A quoted text, a capitalised word inside a sentence, or a script without capitals: something to search for by name. */
export function namesSomething(text: string): boolean {
  return /["“”'‘’«»「」《》]\s*\S/u.test(text) || /[^.!?\s]\s+\p{Lu}\p{L}/u.test(text) || !/[a-z]/iu.test(text);
}

/** What was said before then is about something else. */
function namesSomethingNew({ message, text, entities }: Given): boolean {
  const earlier = text.slice(0, text.length - message.length).toLowerCase();
  const names = [
    ...[...message.matchAll(NAMED)].map(([found]) => found.replace(MARKS, '')),
    ...Object.values(entities).filter((value) => typeof value === 'string'),
  ];
  return names.some((name) => name !== '' && !earlier.includes(name.toLowerCase()));
}

/** Capitalised inside a sentence, or within marks, which are taken in pairs. Shortenings name no thing. */
const NAMED = /(?<=[^.!?\s]\s+)\p{Lu}\p{Ll}+|[“‘«「《][^“”‘’«»「」《》]+[”’»」》]|"[^"]+"/gu;
const MARKS = /^["“‘«「《]|["”’»」》]$/gu;

/** A value in its text. */
interface Found {
  readonly value: string;
  /** The text says what it is: `order_id: 2000`, `issue #12`. */
  readonly isStated: boolean;
  readonly before: string;
  readonly after: string;
}

const YEAR = /^(?:19|20)\d\d$/u;
const DAY_IN_FIGURES = /^(?:19|20)\d\d(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])$/u;
const MOBILE = /^1[3-9]\d{9}$/u;
const CALLED_BEFORE =
  /(?:(?<!\p{L})(?:phone|mobile|telephone|tel|fax)(?!\p{L})[^\d\n]{0,20}|(?<!\p{L})(?:call|dial)\s[^\d\n]{0,30}\b(?:at|on)\s+|[电手]\p{Script=Han}{0,2}(?:话|机)[^\d\n]{0,8}|拨打\s*)$/iu;
const MONEY_BEFORE = /[$€£¥￥]\s*$/u;
const UNIT_AFTER =
  /^\s?(?:[%‰°]|[元块万亿千百人次条个吨米度年月日天秒]|(?:[kmc]?m[23²³]?|kg|g|t|l|ml|ft|mi|[kmg]b|usd|eur|gbp|cny|rmb|dollars?|euros?|pounds?|yuan|people|days?|hours?|minutes?|seconds?|rows?|words?|tokens?|times)(?![\p{L}\p{N}]))/iu;

function isIdentifier({ value, isStated, before, after }: Found): boolean {
  if (isStated || !/^\d+$/u.test(value)) return true;
  const isAmount = MONEY_BEFORE.test(before) || UNIT_AFTER.test(after) || /[1-9]0{3,}$/u.test(value);
  return (
    !isAmount && !YEAR.test(value) && !DAY_IN_FIGURES.test(value) && !MOBILE.test(value) && !CALLED_BEFORE.test(before)
  );
}

function foundAt(text: string, value: string, { index, isStated }: { index: number; isStated: boolean }): Found {
  const end = index + value.length;
  const before = text.slice(Math.max(0, index - AROUND), index);
  return { value, isStated, before, after: text.slice(end, end + AROUND) };
}

const AROUND = 60;

function entityHolds(need: Need, entities: Readonly<Record<string, unknown>>): boolean {
  return Object.entries(entities).some(
    ([name, value]) =>
      value !== null && value !== undefined && value !== '' && identifierWords(name).join(' ') === need.key,
  );
}

/** `order_id: `, `issue #`, `order number `: what follows is meant as an identifier. */
const STATED_BEFORE = /(?:(?<!\p{L})(?:id|no|number|code)\s*(?:is\s|are\s)?|[:=#：为是])\s*#?$/iu;

/** `movie 550`, `movie_id: 550`, `id is 550`, `ticket #12`: the thing's own word, then a number or a code. */
function namedValues(need: Need, text: string): Found[] {
  const words = [...need.entities, need.key.replaceAll(' ', '[ _-]?'), ...need.key.split(' ').slice(-1)].filter(
    Boolean,
  );
  return words.flatMap((word) => {
    const named = new RegExp(
      `(?<![\\p{L}])${word}s?(?:[ _-]?(?:id|no|number|code))?\\s*(?:[:=#：为是]|(?:is|are)\\s)?\\s*#?(?=\\S{0,99}\\d)(?<value>[\\w-]+)`,
      'giu',
    );
    return [...text.matchAll(named)].map(({ 0: whole, index, groups }) => {
      const value = groups?.value ?? '';
      const isStated = STATED_BEFORE.test(whole.slice(0, whole.length - value.length));
      return foundAt(text, value, { index: index + whole.length - value.length, isStated });
    });
  });
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
    const whole = createSafePattern(pattern);
    return text
      .slice(0, 2000)
      .split(/[\s,，。;；!！?？"'“”()（）]+/u)
      .some((word) => /\d/u.test(word) && word.length <= 100 && whole.matches(word, trials) === true);
  } catch {
    return false;
  }
}

/** A code that belongs to a name is what one searches for, not a handle. */
function codesIn(text: string): Found[] {
  return [...text.matchAll(CODE)]
    .map(({ 0: value, index }) => foundAt(text, value, { index, isStated: false }))
    .filter(({ before }) => !NAME_BEFORE.test(before));
}
