/**
 * Rules that operators put into the store. They follow the catalogue's own rules and apply from the next request on.
 * They change no tool, so index and prompts stay valid. Names are checked against system tools only, so that the names
 * of users' own tools stay private.
 */
import { z } from 'zod';
import type { Catalog } from '../core/catalog/catalog.js';
import { type Rule, ruleSchema } from '../core/catalog/rule.js';
import type { EntryIssue } from '../core/catalog/tool.js';
import { WinnowError } from '../core/errors.js';
import { parse } from '../core/parse.js';
import { instantSchema } from './contracts.js';
import { createMergedDocuments } from './merged-documents.js';
import type { Documents } from './store/sql/keyed-records.js';
import type { DocumentRecord } from './store/store.js';

/** Each request is matched against all of them; a larger set belongs in a catalogue. */
export const MAX_KEPT_RULES = 200;
/** The name is part of a URL. */
const MAX_RULE_NAME_CHARACTERS = 100;
const OWNER = 'operators';

const keptName = ruleSchema.shape.name
  .max(MAX_RULE_NAME_CHARACTERS)
  .refine((name) => name === name.trim() && !/\p{Cc}/u.test(name), 'no control character, no outer space')
  .refine((name) => !/^\.{1,2}$/u.test(name), 'not . or .., which no address can hold');
const keptRuleSchema = ruleSchema.safeExtend({ name: keptName });

export const listedRuleSchema = z.object({
  ...ruleSchema.shape,
  from: z.enum(['catalog', 'kept']).describe('catalog: it comes with the tools; kept: an operator has put it here.'),
  updatedAt: instantSchema.optional().describe('When a kept rule was last put.'),
  unknownTools: z
    .array(z.string())
    .describe('Names without a system tool; the rule adds them only for users with such a private tool.'),
});
export type ListedRule = z.infer<typeof listedRuleSchema>;

export const ruleListSchema = z.object({
  rules: z.array(listedRuleSchema).describe('Rules in force, in the order of their application.'),
  leftOut: z
    .array(z.object({ name: z.string(), reason: z.string() }))
    .describe('Kept, but not usable any more: put them again, or remove them.'),
});
export type RuleList = z.infer<typeof ruleListSchema>;

interface PutOptions {
  /** The name from the URL; the rule itself may then omit it. */
  name?: string | undefined;
  /** Who changes it, for the audit. */
  by?: string | undefined;
}

interface KeptRulesParts {
  /** The catalogue with its own rules. Called each time, so it may be reloaded. */
  base: () => Catalog;
  store: Documents;
  /** Called once for each stored rule that is not usable or names a missing tool. Default: not reported. */
  onIssue?: ((issue: EntryIssue) => void) | undefined;
  /** Default: the system clock. */
  clock?: (() => Date) | undefined;
}

export type KeptRules = ReturnType<typeof createKeptRules>;

export function createKeptRules(parts: KeptRulesParts) {
  const { base, store, onIssue, clock = () => new Date() } = parts;
  const merged = createMergedDocuments({
    base,
    list: (before) => store.list(OWNER, before),
    merge: mergeRules,
    onIssue,
  });

  return {
    /** As of the last `refresh`, `put` or `remove`; the same array where neither rules nor catalogue have changed. */
    inForce: (): readonly Rule[] => merged.current().inForce,
    /** Reads what other processes have put or removed. @throws WinnowError `store_failed` */
    refresh: merged.refresh,

    /** Replaces a rule of the same name. @throws WinnowError `invalid_request`, `store_failed` */
    async put(entry: unknown, { name: address, by }: PutOptions = {}): Promise<ListedRule> {
      const parsed = parse(keptRuleSchema, address === undefined ? entry : withName(entry, address), { root: 'rule' });
      if (!parsed.ok) throw unusable(...parsed.issues);
      const rule = parsed.value;
      const { name } = rule;
      if (base().rules.some((one) => one.name === name))
        throw unusable(`name: the catalogue itself holds a rule "${name}"; choose another name, or change it there`);
      const updatedAt = clock().toISOString();
      const audited = {
        event: 'rule_put',
        outcome: 'allowed',
        user: by,
        reason: JSON.stringify(rule),
        at: updatedAt,
      } as const;
      await store.put({ owner: OWNER, name, content: rule, updatedAt }, audited, (kept) => {
        if (kept.length >= MAX_KEPT_RULES && !kept.some((one) => one.name === name))
          throw unusable(`name: ${kept.length} rules are kept, and more are not; remove one first`);
      });
      await merged.refresh();
      return merged.current().listed(rule, updatedAt);
    },

    list: (): RuleList => merged.current().list,

    /** @throws WinnowError `not_found`, also for one that the catalogue itself holds; `store_failed` */
    async remove(name: string, by?: string): Promise<void> {
      const entry = { event: 'rule_removed', outcome: 'allowed', user: by, reason: JSON.stringify({ name }) } as const;
      if (!(await store.remove(OWNER, name, { ...entry, at: clock().toISOString() }))) {
        const isOfCatalog = base().rules.some((rule) => rule.name === name);
        const advice = isOfCatalog ? ' It comes with the catalogue: change it there.' : '';
        throw new WinnowError('not_found', `No rule "${name.slice(0, MAX_RULE_NAME_CHARACTERS)}" is kept.${advice}`);
      }
      await merged.refresh();
    },
  };
}

function unusable(...issues: string[]): WinnowError {
  return new WinnowError('invalid_request', `The rule is not usable: ${issues.join('; ')}.`, { issues });
}

function withName(entry: unknown, name: string): unknown {
  const own: unknown = Object(entry).name;
  if (own === undefined || own === name) return { ...Object(entry), name };
  throw unusable(`name: the rule says ${JSON.stringify(own)}, its address "${name}"; write the same, or leave it out`);
}

/** The catalogue takes precedence: rules are identified by name. */
function mergeRules(catalog: Catalog, documents: readonly DocumentRecord[]) {
  const taken = new Set(catalog.rules.map(({ name }) => name));
  const kept: { rule: Rule; updatedAt: string }[] = [];
  const leftOut: RuleList['leftOut'] = [];
  for (const { name, content, updatedAt } of documents) {
    const parsed = parse(keptRuleSchema, { ...Object(content), name }, { root: 'rule' });
    if (!parsed.ok) leftOut.push({ name, reason: parsed.issues.join('; ') });
    else if (taken.has(name)) leftOut.push({ name, reason: 'name: the catalogue holds a rule of this name' });
    else kept.push({ rule: parsed.value, updatedAt });
  }
  const systemTools = new Set(catalog.tools.filter(({ scope }) => scope === 'system').map(({ name }) => name));
  /** A rule as the list shows it; without `updatedAt` one of the catalogue. */
  const listed = (rule: Rule, updatedAt?: string): ListedRule => ({
    ...rule,
    ...(updatedAt === undefined ? { from: 'catalog' } : { from: 'kept', updatedAt }),
    unknownTools: [...new Set([...(rule.first ?? []), ...(rule.include ?? []), ...(rule.last ?? [])])].filter(
      (name) => !systemTools.has(name),
    ),
  });
  const added = kept.map(({ rule, updatedAt }) => listed(rule, updatedAt));
  const toIssue = (name: string, message: string): EntryIssue => {
    return { level: 'warning', entry: 'kept rule', name, message };
  };
  return {
    /** Without stored rules, the catalogue's own array. */
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
