/** Bodies of rules for texts and numbers. */
import type { JsonSchema } from '../../catalog/tool.js';
import { type Count, repetition } from './gbnf-collections.js';
import { patternBody } from './gbnf-pattern.js';
import type { GrammarRules } from './gbnf-rules.js';

export function numberRule(node: JsonSchema, type: 'integer' | 'number', rules: GrammarRules): string {
  const isPositive = [node.minimum, node.exclusiveMinimum].some((bound) => typeof bound === 'number' && bound >= 0);
  if (type === 'integer') return rules.shared(isPositive ? 'nat' : 'int');
  return rules.shared(isPositive ? 'pnum' : 'num');
}

export interface StringBody {
  readonly body: string;
  /** Keywords of the node that the grammar does not keep to, or not wholly. */
  readonly eased: readonly string[];
}

/** A format stands before a pattern, a pattern before the length. */
export function stringBody(node: JsonSchema, rules: GrammarRules, maxRepeat: number): StringBody {
  const left = (...keywords: string[]) => keywords.filter((keyword) => keyword in node);
  const format = FORMAT_RULES.get(String(node.format));
  if (format !== undefined) return { body: rules.shared(format), eased: left('pattern') };
  const length = countOf(node, ['minLength', 'maxLength'], maxRepeat);
  const pattern =
    typeof node.pattern === 'string' ? patternBody(node.pattern, { rules, maxRepeat, length }) : undefined;
  if (pattern) {
    const eased = [...(pattern.isExact ? [] : ['pattern']), ...(pattern.keepsLength ? [] : LENGTHS)];
    return { body: pattern.body, eased: left(...eased) };
  }
  if (length.least === 0 && length.most === undefined) return { body: rules.shared('str'), eased: left('pattern') };
  const body = String.raw`"\"" ${rules.shared('chr')}${repetition(length.least, length.most)} "\""`;
  return { body, eased: left('pattern') };
}

const FORMAT_RULES: ReadonlyMap<string, string> = new Map([
  ['date', 'date'],
  ['time', 'time'],
  ['date-time', 'moment'],
]);
const LENGTHS = ['minLength', 'maxLength'];

/** Bounds above the limit are left to the check of the answer. */
export function countOf(node: JsonSchema, [low, high]: readonly [string, string], limit: number): Count {
  const bound = (keyword: string) => {
    const value = node[keyword];
    return typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= limit ? value : undefined;
  };
  const least = bound(low) ?? 0;
  const most = bound(high);
  return { least, most: most !== undefined && most < least ? undefined : most };
}
