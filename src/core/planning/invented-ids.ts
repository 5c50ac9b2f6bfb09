/**
 * Identifiers that a step needs and nobody gave: the model made them up ("12345", "example@example.com"), and the step
 * would run on what nobody meant. Only what looks made up can be judged so: names such as `primary`, `comedy` and
 * `Europe/Berlin` are known to all. Of 478 such arguments in the plans that benchmarks and fixtures hold to be right, 8 stand
 * nowhere in the request, 4 of them in a profile.
 */
import type { JsonSchema, Tool } from '../catalog/tool.js';
import type { Step } from '../result.js';
import { findReferences } from './references.js';
import { requiredArguments } from './required-at.js';
import { numeralsOf } from './said-numbers.js';
import { MOST_UNSAID } from './ungiven-values.js';

export interface InventedId {
  /** Id of the step. */
  readonly step: string;
  /** For the repair and the trace. Without the value, which may be a secret. */
  readonly problem: string;
}

export function inventedIds(
  steps: readonly Step[],
  { tools, said }: { tools: ReadonlyMap<string, Tool>; said: string },
): InventedId[] {
  const heard: Heard = {
    text: plain(said),
    words: new Set(wordsOf(said)),
    areNumbersPlain: numeralsOf(said) !== undefined,
  };
  return steps.flatMap(({ id, tool: name, arguments: values }) => {
    return requiredArguments(tools.get(name)).flatMap(({ argument, schema }): InventedId[] => {
      const value = values[argument];
      const noun = IDENTIFIER.exec(splitCamelCase(argument))?.[1];
      if (noun === undefined || isChosenByCaller(name, noun)) return [];
      if (!isMadeUp(value, { argument, schema, heard })) return [];
      const advice = 'leave the step out, refer to a step that finds it, or ask for it';
      return [{ step: id, problem: `${id}.arguments.${argument}: nobody gave this identifier; ${advice}` }];
    });
  });
}

/** With what is identified. Not keys, paths and addresses of the web: these may be new, or known to all. */
const IDENTIFIER = /^(.*?)[^\p{L}]*(?<!\p{L})(?:id|uuid|guid|e?mail|phone)$/iu;

function splitCamelCase(name: string): string {
  return name.replace(/(?<=[\p{Ll}\d])(?=\p{Lu})/gu, '_');
}

/** What is made anew may get its id from who makes it: `task_id` of `create_task`. */
function isChosenByCaller(tool: string, noun: string): boolean {
  return /^(?:create|add|new|register|insert|generate|make)/iu.test(tool) && plain(tool).includes(plain(noun));
}

interface Heard {
  /** In plain form. */
  text: string;
  words: ReadonlySet<string>;
  /** Whether numbers are said in figures only, as far as can be seen. */
  areNumbersPlain: boolean;
}

interface Place {
  argument: string;
  schema: JsonSchema;
  heard: Heard;
}

const BLANK = /^(?:<.*>|\{.*\})$/su;
const PLACEHOLDER = /^(?:string|(?:your|sample|dummy|example|placeholder)[^\p{L}].*)$/isu;

function isMadeUp(value: unknown, place: Place): boolean {
  if (typeof value === 'number') return Math.abs(value) > MOST_UNSAID && isUnheard(String(value), place);
  if (typeof value !== 'string' || findReferences(value).length > 0) return false;
  if (BLANK.test(value)) return true;
  const isAddress = /^\S+@\S+$/u.test(value);
  if (isAddress) return isUnheard(value, place);
  // `game_engine_id` as engine_id: a name in the place of a value.
  if (PLACEHOLDER.test(value) || plain(value).endsWith(plain(place.argument))) return !isHeardWhole(value, place);
  // "user 1": small numbers count things.
  return /^\S*\d\S*$/u.test(value) && !(Number(value) <= MOST_UNSAID) && isUnheard(value, place);
}

/** Digits of a telephone number that is said without its country. */
const LONG_NUMBER = 6;

function isUnheard(value: string, place: Place): boolean {
  if (isHeardWhole(value, place)) return false;
  const { heard } = place;
  const text = plain(value);
  const digits = text.replace(/\D/gu, '');
  if (digits === text && !heard.areNumbersPlain) return false;
  const numbers = heard.text.match(/\d+/gu) ?? [];
  if (numbers.some((number) => number.length >= LONG_NUMBER && digits.endsWith(number))) return false;
  const words = wordsOf(value);
  return words.filter((word) => heard.words.has(word)).length * 2 <= words.length;
}

function isHeardWhole(value: string, { schema, heard }: Place): boolean {
  const text = plain(value);
  return heard.text.includes(text) || shownBy(schema).includes(text);
}

/** Values that a schema itself gives, in plain form. */
function shownBy({ description, enum: choices, examples, default: usual, const: only }: JsonSchema): string {
  return plain(JSON.stringify([description, choices, examples, usual, only].filter((part) => part !== undefined)));
}

/** Letters and digits apart: `anna7` is a word and a number. */
function wordsOf(text: string): string[] {
  return (
    text
      .normalize('NFKC')
      .toLowerCase()
      .match(/\p{L}+|\p{N}+/gu) ?? []
  );
}

/** Only what identifiers consist of: "+1 (555) 01-23" and "15550123" are the same. */
function plain(text: string): string {
  return text
    .normalize('NFKC')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, '');
}
