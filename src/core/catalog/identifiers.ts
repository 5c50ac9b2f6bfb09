/** Identifiers that a request holds, by their form: `INV-120`, `rec4Hs9Lm2`, `movie 550`. */
import { stemmer } from 'stemmer';
import { MOST_READ } from '../request.js';
import { splitIdentifier } from '../search/words.js';
import { codeFormOf } from './codes.js';
import { isNumber, sameJson } from './schema/json.js';
import type { JsonSchema, Tool } from './tool.js';

/** An argument of a tool, with what its name and description say of its values. */
export interface Argument {
  readonly tool: Tool;
  readonly name: string;
  readonly isRequired: boolean;
  readonly schema: JsonSchema;
  /** The forms of the codes that its schema shows, or else others show for the same thing. */
  readonly codes: ReadonlySet<string>;
  /** The forms that any identifier in view shows. */
  readonly shown: ReadonlySet<string>;
  readonly key: string;
  /** Stems of the name (`station`, `code`); `things` holds the stems of what it identifies, surest first (`station`). */
  readonly words: readonly string[];
  /** The last stem of its name; "id" where only the description says that it is an identifier. */
  readonly kind: string;
  readonly things: readonly string[];
  /** Stems of the names of all arguments in view: a number behind the name of another thing identifies that one. */
  readonly named: ReadonlySet<string>;
  /** Those of identifiers alone: of the others, `to` and `on` name no thing. */
  readonly identified: ReadonlySet<string>;
  /** People seldom know the value: its name says so, or its description names the tool that returns it. */
  readonly isIdentifier: boolean;
}

/** What is asked for, and the entities that the caller found in it. */
export interface Asked {
  readonly message: string;
  readonly entities?: Readonly<Record<string, unknown>> | undefined;
}

const PLACES = new Set(stemsOf('path file filename'));
const WEB = new Set(['uri', 'url']);

/** Whether the request has an entity of this name or a word of its form. An empty request may mean any file or folder. */
export function isGiven(argument: Argument, { message, entities }: Asked): boolean {
  if (isHeld(argument, { entities })) return true;
  if (message === '') return PLACES.has(argument.words.at(-1) ?? '');
  return tokensOf(message).some((token) => isValue(token, argument));
}

function isHeld({ words }: Argument, { entities = {} }: Pick<Asked, 'entities'>): boolean {
  return Object.entries(entities).some(([name, value]) => (value ?? '') !== '' && sameJson(stemsOf(name), words));
}

/** The words of the request that are identifiers for the argument by their form alone, such as `rec4Hs9Lm2` or `INV-120`. */
export function identifiersIn(message: string, argument: Argument): string[] {
  return tokensOf(message).flatMap((token) => (isCode(token, argument) ? [token.token] : []));
}

/**
 * Codes that may be the identifier: behind a capitalised word they are a part of a name (`Sony WH-1000XM4`) or all of it
 * (`Bestellung O-881`), behind the name of another argument its value or not ("on O-5"), and one of several identifiers may be
 * another one.
 *
 * @param isOnly whether the tool takes no other identifier
 * @returns none if one of them surely is it, or an entity or the word before it says so
 */
export function doubtfulCodesIn(asked: Asked, argument: Argument, isOnly: boolean): string[] {
  const { words, named, identified } = argument;
  const kind = words.at(-1) ?? '';
  const tokens = tokensOf(asked.message);
  const isUnsure = (one: Token) => !isOnly || one.isBehindName || one.names.some((word) => named.has(word));
  const isSure = (one: Token) =>
    isValue(one, argument) && (isShown(one, argument) || isNamed(one, argument) || !isUnsure(one));
  if (WEB.has(kind) || PLACES.has(kind) || isHeld(argument, asked) || tokens.some(isSure)) return [];
  const isOther = (one: Token) => one.names.some((word) => identified.has(word));
  const codes = tokens.filter((one) => isCode({ ...one, isBehindName: false }, argument) && !isOther(one));
  return [...new Set(codes.map(({ token }) => token))];
}

function tokensOf(message: string): Token[] {
  // Drops the word that the cut splits.
  const read = message.length > MOST_READ ? message.slice(0, MOST_READ).replace(/\S+$/u, '') : message;
  const found = [...read.matchAll(/(?<=(\s?))([/\\~]?[\w#]+(?:[.:/\\@~-]+\w+)*)/gu)];
  const tokens: Token[] = [];
  for (const [place, [, blank, token = '']] of found.entries()) {
    const before = tokens[place - 1]?.token ?? '';
    // "Tickets T-12 and T-13": what names the first one names the next.
    const listed = /\d/u.test(token)
      ? tokens.slice(-2).find((one) => beginningOf(one.token) === beginningOf(token))
      : undefined;
    const names = [...new Set([...stemsOf(before), ...(listed?.names ?? [])])];
    tokens.push({ token, names, isBehindName: blank !== '' && /^\p{Lu}/u.test(before) });
  }
  return tokens;
}

interface Token {
  readonly token: string;
  /** Stems of the word before it; of a later one in a list, those of the word before the first one, too. */
  readonly names: readonly string[];
  /** It directly follows a capitalised word, separated only by white space. */
  readonly isBehindName: boolean;
}

/** Up to its number; of a word without a number, undefined. */
function beginningOf(token: string): string | undefined {
  return /^\D*(?=\d)/u.exec(token)?.[0];
}

/**
 * `movie 550` gives an identifier, since the word before names the thing; `R-64` gives one in any language, but behind the name
 * of another argument. In `Sony WH-1000XM4` the token is part of a name; in `May (inv-12)` it is not.
 */
function isValue(one: Token, argument: Argument): boolean {
  const { token, names, isBehindName } = one;
  const { words, named } = argument;
  const kind = words.at(-1) ?? '';
  if (WEB.has(kind)) return token.includes('://');
  if (PLACES.has(kind)) return /[/\\]|\w\.[a-z]/iu.test(token);
  if (!/\d/u.test(token)) return false;
  if (isShown(one, argument) || isNamed(one, argument)) return true;
  return isCode({ token, isBehindName }, argument) && !names.some((word) => named.has(word));
}

/** Whether it has the form that the schema shows. */
function isShown({ token }: Pick<Token, 'token'>, { codes }: Argument): boolean {
  return codes.size > 0 && codes.has(codeFormOf(token) ?? '');
}

/** Whether only the schemas of other identifiers show its form. */
function isOfAnother({ token }: Pick<Token, 'token'>, { codes, shown }: Argument): boolean {
  const form = shown.size > 0 ? codeFormOf(token) : undefined;
  return form !== undefined && shown.has(form) && !codes.has(form);
}

/** Whether the word before it names the thing. */
function isNamed({ token, names }: Token, { words, things, schema }: Argument): boolean {
  const isThing = words.at(-1) === 'number' || names.some((word) => words.includes(word) || things.includes(word));
  return isThing && (NUMBER.test(token) || (WORD.test(token) && !isNumber(schema)));
}

const NUMBER = /^#?\d+$/u;
const WORD = /^[\w-]+$/u;
/** Letters and a number, joined by `_` or `-`. */
const CODE = /^[a-z]+[_-]\d+$/iu;

function isCode(one: Pick<Token, 'token' | 'isBehindName'>, argument: Argument): boolean {
  const { token, isBehindName } = one;
  const { schema } = argument;
  if (isShown(one, argument)) return true;
  if (isOfAnother(one, argument)) return false;
  if (NUMBER.test(token)) return /^#|^\d{5,}(?<!000)$/u.test(token);
  if (isBehindName || isNumber(schema) || !WORD.test(token) || !/\d/u.test(token)) return false;
  return (token.length >= 5 || CODE.test(token)) && /[a-z]/iu.test(token);
}

/** The words of an identifier or a text, lower case, by their English stems: `getMovies` -> `get`, `movi`. */
export function stemsOf(text: string): string[] {
  return splitIdentifier(text).map((word) => stemmer(word));
}
