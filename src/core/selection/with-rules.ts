/** What has to be there whatever the model chose: the tools of rules that match, those required and those always on. */
import type { Rule } from '../catalog/rule.js';
import type { View } from '../catalog/scope.js';
import type { Options } from '../config/options.js';
import type { Request } from '../request.js';
import { type Entry, PRIORITY } from './entry.js';
import { matchingRules } from './rules.js';

interface Demands {
  view: View;
  request: Request;
  rules: readonly Rule[];
  options: Pick<Options, 'rules'>;
}

/** Rules at their places, then what the caller requires and what is always on. */
export function withRules(entries: readonly Entry[], { view, request, rules, options }: Demands): Entry[] {
  const matched = options.rules ? matchingRules(rules, request) : [];
  const ruled = (names: readonly string[] | undefined, rule: Rule): Entry[] =>
    (names ?? []).flatMap((name) => {
      const tool = view.byName.get(name);
      return tool
        ? [{ tool, priority: PRIORITY.rule, selected: { name, via: 'rule' as const, serves: rule.name } }]
        : [];
    });
  const first = matched.flatMap((rule) => ruled(rule.first, rule));
  const last = matched.flatMap((rule) => ruled(rule.last, rule));
  const include = matched.flatMap((rule) => ruled(rule.include, rule));
  const named = (names: readonly string[], via: 'required' | 'always'): Entry[] =>
    names.flatMap((name) => {
      const tool = view.byName.get(name);
      return tool ? [{ tool, priority: PRIORITY[via], selected: { name, via } }] : [];
    });
  const required = named(request.require ?? [], 'required');
  const always = named(
    view.tools.filter((tool) => tool.alwaysLoad).map((tool) => tool.name),
    'always',
  );
  const lastNames = new Set(last.map((entry) => entry.tool.name));
  const middle = [...entries, ...include, ...required, ...always].filter((entry) => !lastNames.has(entry.tool.name));
  return strongest([...first, ...middle, ...last]);
}

/** One entry a tool: at the first place it has, with the highest priority it has. */
function strongest(entries: readonly Entry[]): Entry[] {
  const byName = new Map<string, Entry>();
  for (const entry of entries) {
    const known = byName.get(entry.tool.name);
    if (!known) byName.set(entry.tool.name, entry);
    else if (entry.priority < known.priority) byName.set(entry.tool.name, { ...known, priority: entry.priority });
  }
  return [...byName.values()];
}
