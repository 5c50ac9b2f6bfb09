/** Bodies of rules, one function a kind of value. The rules of members and items are made by the caller. */
import type { JsonSchema } from '../../catalog/tool.js';
import { type GrammarRules, literal } from './gbnf-rules.js';

/** llama.cpp writes every count out, so larger ones are left to the check of the answer. */
const MAX_REPEAT = 64;
const FORMATS: ReadonlyMap<unknown, string> = new Map([
  ['date', 'date'],
  ['time', 'time'],
  ['date-time', 'moment'],
]);

interface Count {
  readonly least: number;
  /** `undefined`: no end. */
  readonly most: number | undefined;
}

function countOf(node: JsonSchema, low: string, high: string): Count {
  const bound = (keyword: string) => {
    const value = node[keyword];
    return typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= MAX_REPEAT
      ? value
      : undefined;
  };
  const least = bound(low) ?? 0;
  const most = bound(high);
  return { least, most: most !== undefined && most < least ? undefined : most };
}

function repetition({ least, most }: Count): string {
  if (most !== undefined) return `{${least},${Math.max(most, least)}}`;
  if (least < 2) return least === 0 ? '*' : '+';
  return `{${least},}`;
}

export function numberBody(node: JsonSchema, type: 'integer' | 'number', rules: GrammarRules): string {
  const isPositive = [node.minimum, node.exclusiveMinimum].some((bound) => typeof bound === 'number' && bound >= 0);
  if (type === 'integer') return rules.shared(isPositive ? 'nat' : 'int');
  return rules.shared(isPositive ? 'pnum' : 'num');
}

/** Of a format, else of a length. */
export function stringBody(node: JsonSchema, rules: GrammarRules): string {
  const format = FORMATS.get(node.format);
  if (format !== undefined) return rules.shared(format);
  const length = countOf(node, 'minLength', 'maxLength');
  if (length.least === 0 && length.most === undefined) return rules.shared('str');
  return String.raw`"\"" ${rules.shared('chr')}${repetition(length)} "\""`;
}

export interface Member {
  readonly name: string;
  /** Name of the rule of its value. */
  readonly rule: string;
  readonly required: boolean;
}

/**
 * Members in the order given; optional ones may be missing. `rest` is what may follow once a member is written, `whole`
 * what may be written before that. Both grow from the last member to the first, so the size grows with the members alone.
 */
export function objectBody(members: readonly Member[], rules: GrammarRules): string {
  const firstRequired = members.findIndex(({ required }) => required);
  let rest = '';
  let whole = '';
  for (const [index, { name, rule, required }] of [...members.entries()].reverse()) {
    const pair = `${literal(`${JSON.stringify(name)}:`)} ${rule}`;
    const isNeverFirst = firstRequired !== -1 && index > firstRequired;
    const after = rest === '' ? '' : ` ${isNeverFirst ? rest : rules.define(rest)}`;
    rest = `${required ? `"," ${pair}` : `("," ${pair})?`}${after}`;
    if (isNeverFirst) continue;
    const first = `${pair}${after}`;
    if (required) whole = first;
    else whole = whole === '' ? `(${first})?` : `${first} | ${rules.define(whole)}`;
  }
  return `"{" ${whole.includes(' | ') ? rules.define(whole) : whole} "}"`;
}

/** Any names, values of one rule. */
export function mapBody(value: string, rules: GrammarRules): string {
  const pair = `${rules.shared('str')} ":" ${value}`;
  return `"{" (${pair} ("," ${pair})*)? "}"`;
}

/** `first` at their places, then items of `rest` where it is given, as many as `minItems` and `maxItems` of the node say. */
export function arrayBody(node: JsonSchema, first: readonly string[], rest: string | undefined): string {
  const { least, most } = countOf(node, 'minItems', 'maxItems');
  const places = first.slice(0, most);
  if (rest !== undefined && places.length === 0 && most !== 0) places.push(rest);
  const left: Count = {
    least: Math.max(least - places.length, 0),
    most: most === undefined ? undefined : most - places.length,
  };
  const tail = rest === undefined || left.most === 0 ? '' : `("," ${rest})${repetition(left)}`;
  const items = places.reduceRight((after, rule, index) => {
    const here = `${index === 0 ? '' : '"," '}${rule}${after === '' ? '' : ` ${after}`}`;
    return index < least ? here : `(${here})?`;
  }, tail);
  return `"[" ${items} "]"`;
}

/** Any JSON that nests at most `depth` deep: one rule a level. */
export function anyValue(depth: number, rules: GrammarRules): string {
  const scalars = `${rules.shared('str')} | ${rules.shared('num')} | ${rules.shared('bool')} | "null"`;
  if (depth === 0) return rules.define(scalars);
  return rules.define(`${anyObject(depth, rules)} | ${anyArray(depth, rules)} | ${scalars}`);
}

export function anyObject(depth: number, rules: GrammarRules): string {
  return rules.define(depth === 0 ? '"{}"' : mapBody(anyValue(depth - 1, rules), rules));
}

function anyArray(depth: number, rules: GrammarRules): string {
  return rules.define(depth === 0 ? '"[]"' : arrayBody({}, [], anyValue(depth - 1, rules)));
}
