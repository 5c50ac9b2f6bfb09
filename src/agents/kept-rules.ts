/**
 * Rules that operators keep in the store, beside those of the catalogue: they come after these, and count from the next
 * request on. No tool changes with them, so nothing that is kept of the tools does: no index, no prompt.
 */
import type { Catalog } from '../core/catalog/catalog.js';
import type { Rule } from '../core/catalog/rule.js';
import type { EntryIssue } from '../core/catalog/tool.js';
import { WinnowError } from '../core/errors.js';
import {
  type ListedRule,
  MAX_RULE_NAME_CHARACTERS,
  mergeRules,
  parseKeptRule,
  type RuleList,
  unusableRule,
} from './kept-rule.js';
import { createMergedDocuments } from './merged-documents.js';
import type { Documents } from './store/store.js';
import type { WriteAudit } from './write-audit.js';

/** More would be a catalogue: each request is held against all of them. */
export const MAX_KEPT_RULES = 200;

export interface PutOptions {
  /** As an address says it; the rule itself may then leave it out. */
  name?: string | undefined;
  /** Who puts it, for the audit. */
  by?: string | undefined;
}

export interface KeptRulesParts {
  /** With its own rules; asked anew each time, so it may be reloaded. */
  base: () => Catalog;
  store: Documents;
  /** Told of each kept rule that is not usable, or names a tool that is not there, once. Default: nothing is told. */
  onIssue?: ((issue: EntryIssue) => void) | undefined;
  /** Told of each change after it is in the store. Default: nothing is told. */
  audit?: WriteAudit | undefined;
  /** Default: the clock of the machine. */
  clock?: (() => Date) | undefined;
}

export interface KeptRules {
  /** As of the last `refresh`, `put` or `remove`; the same array where neither rules nor catalogue have changed. */
  inForce(): readonly Rule[];
  /** Reads what other processes have put or removed. @throws WinnowError `store_failed` */
  refresh(): Promise<void>;
  /** A rule of the same name takes the place of the old one. @throws WinnowError `invalid_request`, `store_failed` */
  put(rule: unknown, options?: PutOptions): Promise<ListedRule>;
  list(): RuleList;
  /** @throws WinnowError `not_found`, also for one that the catalogue itself holds; `store_failed` */
  remove(name: string, by?: string): Promise<void>;
}

export function createKeptRules(parts: KeptRulesParts): KeptRules {
  const { base, store, onIssue, audit, clock = () => new Date() } = parts;
  const merged = createMergedDocuments({ base, list: () => store.list(OWNER), merge: mergeRules, onIssue });

  return {
    inForce: () => merged.current().inForce,
    refresh: merged.refresh,

    async put(entry, { name: address, by } = {}) {
      const rule = parseKeptRule(address === undefined ? entry : withName(entry, address));
      const { name } = rule;
      if (base().rules.some((one) => one.name === name))
        throw unusableRule(
          `name: the catalogue itself holds a rule "${name}"; choose another name, or change it there`,
        );
      const kept = await store.list(OWNER);
      if (kept.length >= MAX_KEPT_RULES && !kept.some((one) => one.name === name))
        throw unusableRule(`name: ${kept.length} rules are kept, and more are not; remove one first`);
      const updatedAt = clock().toISOString();
      await store.put({ owner: OWNER, name, content: rule, updatedAt });
      await audit?.({ event: 'rule_put', outcome: 'allowed', user: by, reason: JSON.stringify(rule) });
      await merged.refresh();
      return merged.current().listed(rule, updatedAt);
    },

    list: () => merged.current().list,

    async remove(name, by) {
      if (!(await store.remove(OWNER, name))) throw notKept(name, base());
      await audit?.({ event: 'rule_removed', outcome: 'allowed', user: by, reason: JSON.stringify({ name }) });
      await merged.refresh();
    },
  };
}

const OWNER = 'operators';

function withName(entry: unknown, name: string): unknown {
  const own: unknown = Object(entry).name;
  if (own === undefined || own === name) return { ...Object(entry), name };
  throw unusableRule(
    `name: the rule says ${JSON.stringify(own)}, its address "${name}"; write the same, or leave it out`,
  );
}

function notKept(name: string, { rules }: Catalog): WinnowError {
  const advice = rules.some((rule) => rule.name === name) ? ' It comes with the catalogue: change it there.' : '';
  return new WinnowError('not_found', `No rule "${name.slice(0, MAX_RULE_NAME_CHARACTERS)}" is kept.${advice}`);
}
