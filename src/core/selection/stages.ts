/**
 * Selection as a list of named stages. Each stage maps candidates to candidates; a list that lacks one is an ablation
 * (`createPlanner({ stages: DEFAULT_STAGES.filter((one) => one !== fill) })`).
 */
import { patternOf, type Rule } from '../catalog/rule.js';
import { createStepBudget } from '../catalog/schema/safe-pattern.js';
import type { Tool } from '../catalog/tool.js';
import type { Request } from '../request.js';
import type { SelectedTool } from '../result.js';
import type { RankedTool } from '../search/rank.js';
import { schemaBudget, totalTokens } from './budget.js';
import { type Candidate, type Candidates, missingFor, PRIORITY, type Stage } from './candidates.js';
import { modelChoice, probabilityOf } from './model-choice.js';

/** Adds the tools of matching rules: `first` before all others, `include` after the chosen, `last` at the end. */
export const rules: Stage = {
  name: 'rules',
  apply(candidates, { call }) {
    const matched = call.rules();
    const ruled = (names: (rule: Rule) => readonly string[] | undefined) =>
      matched.flatMap((rule) =>
        named(names(rule) ?? [], call.view.byName, { via: 'rule', serves: rule.name }, PRIORITY.rule),
      );
    const first = ruled((rule) => rule.first);
    const atStart = new Set(first.map(({ tool }) => tool));
    const last = ruled((rule) => rule.last).filter(({ tool }) => !atStart.has(tool));
    const isLast = ({ tool }: Candidate) => last.some((one) => one.tool === tool);
    const tools = strongest([...first, ...last, ...candidates.tools, ...ruled((rule) => rule.include)]);
    return { ...candidates, tools: [...tools.filter((one) => !isLast(one)), ...tools.filter(isLast)] };
  },
};

/** Adds tools that the caller requires or the catalogue always loads. A required name outside the view is dropped as unknown. */
export const wanted: Stage = {
  name: 'wanted',
  apply(candidates, { call: { view, request }, drop }) {
    const required = request.require ?? [];
    drop(required.filter((name) => !view.byName.has(name)).map((name) => ({ name, reason: 'unknown' })));
    const always = view.tools.filter((tool) => tool.alwaysLoad).map(({ name }) => name);
    const tools = [
      ...candidates.tools,
      ...named(required, view.byName, { via: 'required' }, PRIORITY.wanted),
      ...named(always, view.byName, { via: 'always' }, PRIORITY.wanted),
    ];
    return { ...candidates, tools: strongest(tools) };
  },
};

/**
 * Adds the missing producers of each tool before it, except for tools that are always loaded. To measure the effect: `npm run
 * bench:selection -- --set restbench --selector winnow --selector winnow-no-producers`.
 */
export const producers: Stage = {
  name: 'producers',
  apply(candidates, context) {
    const missing = missingFor(context, candidates.answer);
    const isFixed = ({ selected }: Candidate) => selected.via !== 'model' && selected.via !== 'keyword';
    const present = new Set(candidates.tools.filter(isFixed).map(({ tool }) => tool.name));
    const ordered = new Map<Tool, Candidate>();
    for (const candidate of candidates.tools) {
      if (ordered.has(candidate.tool)) continue;
      const needed = candidate.selected.via === 'always' ? [] : missing(candidate.tool, present);
      for (const { tool, serves } of needed)
        ordered.set(tool, { tool, priority: PRIORITY.chosen, selected: { name: tool.name, via: 'producer', serves } });
      ordered.set(candidate.tool, candidate);
      for (const { name } of [...needed.map(({ tool }) => tool), candidate.tool]) present.add(name);
    }
    return { ...candidates, tools: [...ordered.values()] };
  },
};

/** Adds `relatedTools` of all candidates up to a fixpoint, each after the tool that names it. */
export const companions: Stage = {
  name: 'companions',
  apply(candidates, { call }) {
    const tools = [...candidates.tools];
    const present = new Set(tools.map(({ tool }) => tool.name));
    for (let place = 0; place < tools.length; place++) {
      const owner = tools[place]?.tool;
      const related = (owner?.relatedTools ?? []).filter((name) => !present.has(name));
      const serves = owner?.name ?? '';
      const added = named(related, call.view.byName, { via: 'companion', serves }, PRIORITY.companion);
      for (const { tool } of added) present.add(tool.name);
      tools.splice(place + 1, 0, ...added);
    }
    return { ...candidates, tools };
  },
};

/** Enforces `maxTools` and `schemaTokens`: it drops the least needed first, keeps the order, and reports each drop. */
const cap: Stage = {
  name: 'cap',
  apply(candidates, { call, parts, drop }) {
    const maxTools = call.request.maxTools ?? parts.options.maxTools;
    const budget = schemaBudget(parts, call);
    const kept = new Set<Candidate>();
    let tokens = 0;
    for (const candidate of [...candidates.tools].sort((one, other) => one.priority - other.priority)) {
      const cost = parts.schemaTokens(candidate.tool);
      const { name } = candidate.tool;
      if (kept.size >= maxTools) drop([{ name, reason: 'cap' }]);
      else if (kept.size > 0 && tokens + cost > budget) drop([{ name, reason: 'schemaTokens' }]);
      else {
        kept.add(candidate);
        tokens += cost;
      }
    }
    return { ...candidates, tools: candidates.tools.filter((candidate) => kept.has(candidate)) };
  },
};

/**
 * Fills free room with the next best names and further keyword matches, each with its producers, up to `fillTokens`. It adds
 * nothing if the model found that no tool fits. The result marks these tools with `fill`, as they may not be needed.
 */
export const fill: Stage = {
  name: 'fill',
  async apply(candidates, context) {
    if (candidates.answer.none.says) return candidates;
    const { call, parts } = context;
    const missing = missingFor(context, candidates.answer);
    const tools = [...candidates.tools];
    const used = totalTokens(
      tools.map(({ tool }) => tool),
      parts.schemaTokens,
    );
    let free = Math.min(parts.options.fillTokens, schemaBudget(parts, call) - used);
    // Without room, no search is needed.
    if (free <= 0) return candidates;
    const room = () => (call.request.maxTools ?? parts.options.maxTools) - tools.length;
    for (const candidate of nextBest(candidates.answer, await context.keywords())) {
      if (room() <= 0) break;
      const present = new Set(tools.map(({ tool }) => tool.name));
      if (present.has(candidate.tool.name)) continue;
      const needed = missing(candidate.tool, present).map(({ tool, serves }) =>
        filling(tool, { via: 'producer', serves }),
      );
      const group = needed.length < room() ? [...needed, candidate] : [candidate];
      const cost = totalTokens(
        group.map(({ tool }) => tool),
        parts.schemaTokens,
      );
      if (cost > free) continue;
      free -= cost;
      tools.push(...group);
    }
    return { ...candidates, tools };
  },
};

export const DEFAULT_STAGES: readonly Stage[] = [modelChoice, wanted, rules, producers, companions, cap, fill];

export function matchingRules(rules: readonly Rule[], request: Request): Rule[] {
  const budget = createStepBudget('rule');
  return rules.filter(({ when }) => {
    const entities = request.entities ?? {};
    const hasEntities = (when.entities ?? []).every(
      (name) => Object.hasOwn(entities, name) && holdsSomething(entities[name]),
    );
    const hasIntent = when.intent === undefined || [when.intent].flat().some((one) => one === request.intent);
    if (!hasEntities || !hasIntent || when.message === undefined) return hasEntities && hasIntent;
    return patternOf(when).matches(request.message, budget) === true;
  });
}

/** An extractor that found nothing may return an empty text or list. */
function holdsSomething(entity: unknown): boolean {
  if (typeof entity === 'string') return entity.trim() !== '';
  return entity !== undefined && entity !== null && !(Array.isArray(entity) && entity.length === 0);
}

function* nextBest(
  { named: ranked, chosen }: Candidates['answer'],
  keywords: readonly RankedTool[],
): Generator<Candidate> {
  for (const [place, { tool, via, probability }] of ranked.entries())
    if (place >= chosen) yield filling(tool, { via, rank: place + 1, ...probabilityOf(probability) });
  for (const [place, { tool }] of keywords.entries()) yield filling(tool, { via: 'keyword', rank: place + 1 });
}

function filling(tool: Tool, selected: Omit<SelectedTool, 'name' | 'fill'>): Candidate {
  return { tool, priority: PRIORITY.fill, selected: { name: tool.name, ...selected, fill: true } };
}

function named(
  names: readonly string[],
  byName: ReadonlyMap<string, Tool>,
  selected: Omit<SelectedTool, 'name'>,
  priority: number,
): Candidate[] {
  return names.flatMap((name) => {
    const tool = byName.get(name);
    return tool ? [{ tool, priority, selected: { name, ...selected } }] : [];
  });
}

/** Each tool once, at its first place and with its strongest (lowest) priority. */
function strongest(candidates: readonly Candidate[]): Candidate[] {
  const byTool = new Map<Tool, Candidate>();
  for (const candidate of candidates) {
    const known = byTool.get(candidate.tool);
    const priority = Math.min(candidate.priority, known?.priority ?? candidate.priority);
    byTool.set(candidate.tool, { ...(known ?? candidate), priority });
  }
  return [...byTool.values()];
}
