/**
 * One rule that an operator keeps, and how kept ones and those of a catalogue make one list. Which names are known is said
 * by the tools of the system alone: nobody learns here what users call their own.
 */
import { z } from 'zod';
import type { Catalog } from '../core/catalog/catalog.js';
import { type Rule, ruleSchema } from '../core/catalog/rule.js';
import type { EntryIssue } from '../core/catalog/tool.js';
import { WinnowError } from '../core/errors.js';
import { parse } from '../core/parse.js';
import { instantSchema } from './contracts.js';
import type { DocumentRecord } from './store/store.js';

/** It is part of an address. */
export const MAX_RULE_NAME_CHARACTERS = 100;

const keptName = ruleSchema.shape.name
  .max(MAX_RULE_NAME_CHARACTERS)
  .refine((name) => name === name.trim() && !/\p{Cc}/u.test(name), 'no control character, no outer space')
  .refine((name) => !/^\.{1,2}$/u.test(name), 'not . or .., which no address can hold');
const keptRuleSchema = ruleSchema.safeExtend({ name: keptName });

export const listedRuleSchema = z.object({
  ...ruleSchema.shape,
  from: z.enum(['catalog', 'kept']).describe('catalog: it comes with the tools; kept: an operator has put it here.'),
  updatedAt: instantSchema.optional().describe('When a kept one was put.'),
  unknownTools: z
    .array(z.string())
    .describe('That it names and no tool of the system is called; it adds them only for who has one of their own.'),
});
export type ListedRule = z.infer<typeof listedRuleSchema>;

export const ruleListSchema = z.object({
  rules: z.array(listedRuleSchema).describe('In force, in the order in which they count.'),
  leftOut: z
    .array(z.object({ name: z.string(), reason: z.string() }))
    .describe('Kept, but not usable any more: put them anew, or remove them.'),
});
export type RuleList = z.infer<typeof ruleListSchema>;

/** @throws WinnowError `invalid_request` with one issue a line, each with its field */
export function parseKeptRule(entry: unknown): Rule {
  const parsed = parse(keptRuleSchema, entry, { root: 'rule' });
  if (parsed.ok) return parsed.value;
  throw unusableRule(...parsed.issues);
}

export function unusableRule(...issues: string[]): WinnowError {
  return new WinnowError('invalid_request', `The rule is not usable: ${issues.join('; ')}.`, { issues });
}

export interface MergedRules {
  /** Without any kept ones: the very array of the catalogue. */
  readonly inForce: readonly Rule[];
  readonly list: RuleList;
  /** A rule as the list shows it; without `updatedAt` one of the catalogue. */
  readonly listed: (rule: Rule, updatedAt?: string) => ListedRule;
  readonly issues: readonly EntryIssue[];
}

/** What the catalogue says counts: a kept rule of the same name could not be told apart from its own. */
export function mergeRules(catalog: Catalog, documents: readonly DocumentRecord[]): MergedRules {
  const taken = new Set(catalog.rules.map(({ name }) => name));
  const read = documents.map((document) => readDocument(document, taken));
  const kept = read.flatMap((one) => ('rule' in one ? [one] : []));
  const leftOut = read.flatMap((one) => ('rule' in one ? [] : [one]));
  const systemTools = new Set(catalog.tools.filter(({ scope }) => scope === 'system').map(({ name }) => name));
  const unknownIn = ({ first = [], last = [], include = [] }: Rule) =>
    [...new Set([...first, ...include, ...last])].filter((name) => !systemTools.has(name));
  const listed = (rule: Rule, updatedAt?: string): ListedRule => ({
    ...rule,
    ...(updatedAt === undefined ? { from: 'catalog' } : { from: 'kept', updatedAt }),
    unknownTools: unknownIn(rule),
  });
  const added = kept.map(({ rule, updatedAt }) => listed(rule, updatedAt));
  return {
    inForce: kept.length === 0 ? catalog.rules : Object.freeze([...catalog.rules, ...kept.map(({ rule }) => rule)]),
    list: { rules: [...catalog.rules.map((rule) => listed(rule)), ...added], leftOut },
    listed,
    issues: [
      ...leftOut.map(({ name, reason }) => toIssue(name, `left out: ${reason}`)),
      ...added.flatMap(({ name, unknownTools }) =>
        unknownTools.map((tool) => toIssue(name, `no tool of the system is named "${tool}"`)),
      ),
    ],
  };
}

type Read = { rule: Rule; updatedAt: string } | { name: string; reason: string };

function readDocument({ name, content, updatedAt }: DocumentRecord, taken: ReadonlySet<string>): Read {
  const parsed = parse(keptRuleSchema, { ...Object(content), name }, { root: 'rule' });
  if (!parsed.ok) return { name, reason: parsed.issues.join('; ') };
  if (taken.has(name)) return { name, reason: 'name: the catalogue holds a rule of this name' };
  return { rule: parsed.value, updatedAt };
}

function toIssue(name: string, message: string): EntryIssue {
  return { level: 'warning', entry: 'kept rule', name, message };
}
