/** Bodies of rules for objects and arrays; the rules of the members are given. */
import { type GrammarRules, jsonLiteral, literal } from './gbnf-rules.js';

export interface Member {
  readonly name: string;
  /** Name of the rule of its value. */
  readonly rule: string;
  readonly required: boolean;
}

/**
 * Members in the order given, optional ones may be missing. Size grows with the number of members: up to the
 * first required one a chain of rules says "nothing is written yet", after it every member brings its own comma.
 */
export function objectBody(members: readonly Member[], rules: GrammarRules): string {
  if (members.length === 0) return literal('{}');
  const first = members.findIndex((member) => member.required);
  const last = first === -1 ? members.length - 1 : first;
  let none = first === -1 ? '' : undefined;
  // What may follow member `index`, as a rule that is shared by all that come before.
  let rest = followers(members.slice(last + 1));
  for (let index = last; index >= 0; index--) {
    const member = members[index];
    if (!member) continue;
    const after = rest === '' ? '' : ` ${index === last && index === 0 ? rest : rules.define(rest)}`;
    const here = `${keyValue(member)}${after}`;
    none = none === undefined ? here : none === '' ? `(${here})?` : `${here} | ${rules.define(none)}`;
    rest = `${withComma(member)}${after}`;
  }
  const body = none ?? '';
  return `"{" ${body.includes(' | ') ? rules.define(body) : body} "}"`;
}

function followers(members: readonly Member[]): string {
  return members.map(withComma).join(' ');
}

function withComma(member: Member): string {
  const pair = `"," ${keyValue(member)}`;
  return member.required ? pair : `(${pair})?`;
}

function keyValue({ name, rule }: Member): string {
  return `${literal(`${JSON.stringify(name)}:`)} ${rule}`;
}

/** Any names, values of one rule. */
export function mapBody(key: string, value: string): string {
  const pair = `${key} ":" ${value}`;
  return `"{" (${pair} ("," ${pair})*)? "}"`;
}

export interface Count {
  readonly least: number;
  /** `undefined`: no end. */
  readonly most: number | undefined;
}

export function arrayBody(item: string, { least, most }: Count): string {
  if (most === 0) return '"[]"';
  const more = repetition(Math.max(least - 1, 0), most === undefined ? undefined : most - 1);
  const items = more === '{0,0}' ? item : `${item} ("," ${item})${more}`;
  return least > 0 ? `"[" ${items} "]"` : `"[" (${items})? "]"`;
}

/** `first` at their places, then any number of `rest` where it is given; at least `count.least` in all. */
export function tupleBody(first: readonly string[], rest: string | undefined, { least, most }: Count): string {
  const places = first.slice(0, most ?? first.length);
  const left = most === undefined ? undefined : most - places.length;
  const tail =
    rest === undefined || left === 0 ? '' : `("," ${rest})${repetition(Math.max(least - places.length, 0), left)}`;
  const body = places.reduceRight((after, rule, index) => {
    const here = `${index === 0 ? '' : '"," '}${rule}${after === '' ? '' : ` ${after}`}`;
    return index < least ? here : `(${here})?`;
  }, tail);
  return `"[" ${body} "]"`;
}

export function repetition(least: number, most: number | undefined): string {
  if (most !== undefined) return `{${least},${Math.max(most, least)}}`;
  if (least === 0) return '*';
  return least === 1 ? '+' : `{${least},}`;
}

/** Any JSON, nested at most `depth` deep: one rule a level. */
export function anyValue(depth: number, rules: GrammarRules): string {
  const scalars = `${rules.shared('str')} | ${rules.shared('num')} | ${rules.shared('bool')} | "null"`;
  if (depth === 0) return rules.define(scalars);
  return rules.define(`${anyObject(depth, rules)} | ${anyArray(depth, rules)} | ${scalars}`);
}

export function anyObject(depth: number, rules: GrammarRules): string {
  return rules.define(depth === 0 ? '"{}"' : mapBody(rules.shared('str'), anyValue(depth - 1, rules)));
}

export function anyArray(depth: number, rules: GrammarRules): string {
  return rules.define(depth === 0 ? '"[]"' : arrayBody(anyValue(depth - 1, rules), { least: 0, most: undefined }));
}

export function valuesBody(values: readonly unknown[]): string {
  return [...new Set(values.map(jsonLiteral))].join(' | ');
}
