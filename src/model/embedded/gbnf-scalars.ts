/** Bodies of rules for texts and numbers. */
import type { JsonSchema } from '../../catalog/tool.js';
import { type Count, repetition } from './gbnf-collections.js';
import type { GrammarRules } from './gbnf-rules.js';

export function numberRule(node: JsonSchema, type: 'integer' | 'number', rules: GrammarRules): string {
  const isPositive = [node.minimum, node.exclusiveMinimum].some((bound) => typeof bound === 'number' && bound >= 0);
  if (type === 'integer') return rules.shared(isPositive ? 'nat' : 'int');
  return rules.shared(isPositive ? 'pnum' : 'num');
}

export function stringBody(node: JsonSchema, rules: GrammarRules, maxRepeat: number): string {
  if (node.format === 'date') return rules.shared('date');
  if (node.format === 'time') return rules.shared('time');
  if (node.format === 'date-time') return rules.shared('moment');
  const { least, most } = countOf(node, ['minLength', 'maxLength'], maxRepeat);
  if (least === 0 && most === undefined) return rules.shared('str');
  return String.raw`"\"" ${rules.shared('chr')}${repetition(least, most)} "\""`;
}

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
