/**
 * Worked examples from failing cases: one, then random sets of two, four and more, of which those stay that repair other cases
 * (bootstrapped few-shot with random search: Khattab et al., "DSPy", 2023).
 */
import { isObject } from '../../core/catalog/schema/json.js';
import type { Tool } from '../../core/catalog/tool.js';
import { renderContext } from '../../core/prompts/context.js';
import { createLabels } from '../../core/selection/ladder.js';
import { oneLine } from '../../core/visible-text.js';
import type { EvaluationCase } from '../case.js';
import { randomFor } from '../random.js';
import { toPlanValue } from '../references.js';
import { type Candidate, type Round, toCandidate } from './candidates.js';

const SET_SIZES = [1, 2, 4, 1, 3, 6] as const;

export function exampleCandidates(round: Round): Candidate[] {
  const { best, failing, tries, seed } = round;
  const exampleOf = createExamples(round);
  const chance = (one: EvaluationCase) => randomFor(seed, one.id)();
  const usable = failing
    .filter((one) => !best.caseIds.includes(one.id))
    .flatMap((one) => ({ one, text: exampleOf(one) ?? [], key: chance(one) }))
    .flatMap(({ one, text, key }) => (typeof text === 'string' ? [{ one, text, key }] : []))
    .sort((first, second) => first.key - second.key);
  const candidates = new Map<string, Candidate>();
  for (let turn = 0; turn < Math.min(tries, usable.length); turn++) {
    const order = [...usable.slice(turn), ...usable.slice(0, turn)];
    const candidate = fitting(diverseFrom(order).slice(0, SET_SIZES[turn % SET_SIZES.length]), round);
    const key = candidate.ok ? candidate.variant.hash : candidate.about;
    if (!candidates.has(key)) candidates.set(key, candidate);
  }
  return [...candidates.values()];
}

interface Usable {
  one: EvaluationCase;
  text: string;
}

/** Puts examples with new tools first. */
function diverseFrom(usable: readonly Usable[]): Usable[] {
  const keyOf = ({ one }: Usable) => [...one.expected.tools].sort().join(' ');
  const first = usable.filter((entry, place) => usable.findIndex((other) => keyOf(other) === keyOf(entry)) === place);
  return [...first, ...usable.filter((entry) => !first.includes(entry))];
}

/** Drops the last examples of a set that grows the prompt too much. */
function fitting(chosen: readonly Usable[], round: Round): Candidate {
  const { draft, caseIds } = round.best;
  const ids = chosen.map(({ one }) => one.id);
  const about = `examples: ${ids.join(', ')}`;
  const examples = [...draft.examples, ...chosen.map(({ text }) => text)];
  const change = { kind: 'examples', about, draft: { ...draft, examples }, caseIds: [...caseIds, ...ids] } as const;
  const candidate = toCandidate(change, round);
  return candidate.ok || chosen.length <= 1 ? candidate : fitting(chosen.slice(0, -1), round);
}

/**
 * A case as a worked example: the model's input, and the right answer in its required form. Undefined where the case lacks the
 * whole right answer (the words of a question or a refusal), names a tool that is not in the catalogue, or holds double braces,
 * which a prompt file reads as a placeholder.
 */
export function createExamples({
  prompt,
  catalogs,
  options,
}: Pick<Round, 'prompt' | 'catalogs' | 'options'>): (one: EvaluationCase) => string | undefined {
  const known = new Map(
    [...catalogs].map(([suite, { tools }]) => {
      const { labelOf } = createLabels(tools);
      return [suite, { labelOf, byName: new Map(tools.map((tool) => [tool.name, tool])) }];
    }),
  );
  return (one) => {
    const suite = known.get(one.suite);
    const tools = one.expected.tools.flatMap((name) => suite?.byName.get(name) ?? []);
    if (!suite || tools.length < one.expected.tools.length) return undefined;
    const asked = `${renderContext(one.request, options)}Request: ${oneLine(one.request.message)}`;
    if (/\{\{|<!--/u.test(asked)) return undefined;
    if (prompt === 'plan-steps') return planExample(one, tools, asked);
    if (one.expected.kind === 'clarification') return undefined;
    const names = tools.length === 0 ? ['{{none}}'] : tools.map(suite.labelOf);
    return `${asked}\nAnswer: {"selected_tools": [${names.map((name) => JSON.stringify(name)).join(', ')}]}`;
  };
}

function planExample({ expected }: EvaluationCase, tools: readonly Tool[], asked: string): string | undefined {
  const { steps = [], kind = 'plan' } = expected;
  if (kind !== 'plan' || steps.length === 0 || steps.some((step) => step.argumentsUnknown)) return undefined;
  const written = steps.map((step, place) => ({
    id: `s${place + 1}`,
    tool: step.tool,
    arguments: toPlanValue(step.arguments, place, (other) => `s${other + 1}`),
  }));
  const text = JSON.stringify({ kind: 'plan', steps: written });
  // Names the example's own tools with their arguments: `find_page (title)`.
  const signatures = tools.map(({ name, inputSchema: { properties } }) => {
    return `${name} (${isObject(properties) ? Object.keys(properties).join(', ') : ''})`;
  });
  return text.includes('{{') ? undefined : `With ${signatures.join(', ')}. ${asked}\nAnswer: ${text}`;
}
