/** tool_enable and tool_disable: which tools are enabled for how many turns, and why others are not. */

import { missingProducers } from '../../core/catalog/producers.js';
import type { View } from '../../core/catalog/scope.js';
import type { Tool } from '../../core/catalog/tool.js';
import { runInSlices } from '../../core/in-slices.js';
import { nearestNames } from '../../core/nearest-name.js';
import type { DisableOutput, EnabledTool, EnableOutput, Refusal } from '../contracts.js';
import { type Decision, refusalOf } from '../policy/decide.js';
import type { Sessions } from '../store/sql/sessions.js';
import { isLive, type Situation } from './situation.js';

interface EnableRequest {
  readonly names: readonly string[];
  readonly ttl_turns?: number | undefined;
  readonly ephemeral: boolean;
}

/** The outcome for one name, for audit and telemetry. */
export interface NameOutcome {
  readonly name: string;
  readonly via: EnabledTool['via'];
  /** The policy's decision; absent where something else refused. */
  readonly decision: Decision;
  readonly refusal?: Refusal;
}

interface Enabled {
  readonly output: Omit<EnableOutput, 'visible_from'>;
  readonly outcomes: readonly NameOutcome[];
}

/** Stores the enablements that are allowed. */
export async function enableTools(situation: Situation, request: EnableRequest, sessions: Sessions): Promise<Enabled> {
  const { policy, session, stays } = situation;
  const { defaultTurns, maxTurns, maxEnabled, companions } = policy.settings.enabling;
  const asked = request.ttl_turns ?? defaultTurns;
  const turns = request.ephemeral ? 1 : Math.min(asked, maxTurns);
  const judged = [...new Set(request.names)].map((name) => judge(situation, { name, via: 'asked' as const }));
  const fitting = judged.filter(isAllowed);
  const staying = fitting.filter(({ tool }) => stays(tool) !== undefined);
  const turning = fitting.filter(({ tool }) => stays(tool) === undefined);
  const along = companions ? await judgeCompanions(situation, turning) : [];
  const wanted = [...turning, ...along.filter(isAllowed)];
  const written = await sessions.enable(session.id, {
    enablements: wanted.map(({ tool, via }) => ({
      tool: tool.name,
      via,
      untilTurn: session.turn + turns - 1,
      once: request.ephemeral,
    })),
    limit: maxEnabled,
    at: situation.now.toISOString(),
  });
  const overLimit = new Set(written ? written.overLimit : wanted.map(({ name }) => name));
  const suggest = createSuggest(situation);
  const refusals = new Map<Judged, Refusal>(judged.filter(isDenied).map((one) => [one, suggest(one)]));
  const refuse = (one: Judged): Refusal | undefined => {
    if (isDenied(one)) return refusals.get(one) ?? refusalOf(one.decision, one.name);
    if (!overLimit.has(one.name)) return undefined;
    return written ? tooMany(maxEnabled) : SESSION_ENDED;
  };
  const lasting = new Map((await sessions.enablements(session.id)).map((one) => [one.tool, one]));
  const lengthOf = (name: string) => {
    const one = lasting.get(name);
    return {
      ...(one ? { expires_after_turns: Math.max(1, one.untilTurn - session.turn + 1) } : {}),
      ...(one?.once ? { ephemeral: true as const } : {}),
    };
  };
  const note = asked > maxTurns && !request.ephemeral ? { note: `At most ${maxTurns} turns at a time.` } : {};
  return {
    output: {
      enabled: [
        ...staying.map(({ name }) => ({ name, note: 'It is always enabled.' })),
        ...turning.filter((one) => !refuse(one)).map(({ name }) => ({ name, ...lengthOf(name), ...note })),
      ],
      related_tools: along.flatMap((one) => {
        if (refuse(one)) return [];
        return [{ name: one.name, via: one.via, serves: one.serves, ...lengthOf(one.name) }];
      }),
      not_added: along.flatMap((one) => rejectedOf(one, refuse(one))),
      rejected: judged.flatMap((one) => rejectedOf(one, refuse(one))),
      callable_from: 'now',
    },
    outcomes: [...judged, ...along].map((one) => {
      const refusal = refuse(one);
      return { name: one.name, via: one.via, decision: one.decision, ...(refusal ? { refusal } : {}) };
    }),
  };
}

/** What the policy would refuse to enable; writes nothing, and ignores the limit of enabled tools. */
export function findRefused(situation: Situation, names: readonly string[]): EnableOutput['rejected'] {
  const judged = [...new Set(names)].map((name) => judge(situation, { name, via: 'asked' }));
  const suggest = createSuggest(situation);
  return judged.filter(isDenied).flatMap((one) => rejectedOf(one, suggest(one)));
}

/** Removes temporary enablements; tools that are always on stay. */
export async function disableTools(
  { find, decide, stays, session }: Situation,
  names: readonly string[],
  sessions: Sessions,
): Promise<DisableOutput> {
  const asked = [...new Set(names)];
  const refuse = (name: string): Refusal | undefined => {
    const tool = find(name);
    const decision = decide(tool, 'find');
    if (!tool || isHidden(decision)) return refusalOf(decision, name);
    if (stays(tool) === undefined) return undefined;
    return { code: 'always_on', reason: `${name} is always enabled.`, next: 'Leave it; it takes no place.' };
  };
  const refused = new Map(asked.flatMap((name) => [[name, refuse(name)] as const]));
  const open = asked.filter((name) => !refused.get(name));
  const removed = new Set((await sessions.disable(session.id, open)).map(({ tool }) => tool));
  return {
    disabled: open.filter((name) => removed.has(name)),
    rejected: asked.flatMap((name) => {
      const refusal = refused.get(name) ?? (removed.has(name) ? undefined : NOT_ENABLED);
      return refusal ? [{ name, ...refusal }] : [];
    }),
  };
}

export const SESSION_ENDED = {
  code: 'session_ended',
  reason: 'The session has ended.',
  next: 'Open a new session.',
} as const satisfies Refusal;

const NOT_ENABLED = {
  code: 'not_enabled',
  reason: 'It is not enabled in this session.',
  next: 'There is nothing to do.',
} as const satisfies Refusal;

interface Judged<Via extends EnabledTool['via'] = EnabledTool['via']> {
  readonly name: string;
  readonly via: Via;
  readonly tool: Tool | undefined;
  readonly decision: Decision;
}

function judge<Via extends EnabledTool['via']>(
  { find, decide }: Situation,
  { name, via }: { name: string; via: Via },
): Judged<Via> {
  const tool = find(name);
  return { name, via, tool, decision: decide(tool, 'enable') };
}

async function judgeCompanions(situation: Situation, enabled: readonly { tool: Tool }[]) {
  const { view, stays, enablements, decide } = situation;
  const present = new Set([
    ...view.tools.filter((tool) => stays(tool) !== undefined).map(({ name }) => name),
    ...[...enablements.values()].filter(isLive).map(({ tool }) => tool),
  ]);
  const isShown = (tool: Tool) => !isHidden(decide(tool, 'enable'));
  const tools = enabled.map(({ tool }) => tool);
  const found = await runInSlices(companionsOf(tools, present, { view, isShown }));
  return found.map(({ tool, via, serves }) => ({
    ...judge(situation, { name: tool.name, via }),
    serves,
  }));
}

function isAllowed<One extends Judged>(one: One): one is One & { tool: Tool } {
  return one.tool !== undefined && one.decision.decision !== 'deny';
}

function isDenied({ decision }: Judged): boolean {
  return decision.decision === 'deny';
}

/** Above this number of unknown names, they are unlikely to be misspellings. */
const MOST_SUGGESTED = 5;

/**
 * Adds similar names to a refusal, from the tools that the caller may find, so denied and missing tools look the same.
 * Only the first few names of a request get suggestions.
 */
function createSuggest({ view, isAllowed: isShown }: Situation): (one: Judged) => Refusal {
  let known: string[] | undefined;
  let left = MOST_SUGGESTED;
  return ({ decision, name }) => {
    const refusal = refusalOf(decision, name);
    if (refusal.code !== 'unknown_tool' || left === 0) return refusal;
    left -= 1;
    known ??= view.tools.filter(isShown).map((tool) => tool.name);
    const names = nearestNames(name, known);
    if (names.length === 0) return refusal;
    const quoted = names.map((one) => JSON.stringify(one)).join(' or ');
    return { ...refusal, next: `${quoted} may be meant. ${refusal.next}` };
  };
}

function isHidden({ code }: Decision): boolean {
  return code === 'denied' || code === 'unknown_tool';
}

function rejectedOf({ name }: Judged, refusal: Refusal | undefined): (Refusal & { name: string })[] {
  return refusal ? [{ name, ...refusal }] : [];
}

function tooMany(limit: number): Refusal {
  const reason = `${limit} tools are enabled, and more are not allowed at a time.`;
  return {
    code: 'too_many_enabled',
    reason,
    next: 'Disable one that is not needed with tool_disable, then try again.',
  };
}

// Companions of an enabled tool: its related tools, and producers of its arguments.

interface Companion {
  readonly tool: Tool;
  readonly via: 'related' | 'producer';
  /** The tool, or the `tool.argument`, that it was added for. */
  readonly serves: string;
}

interface CompanionScope {
  readonly view: View;
  /** Whether the caller may know of a tool. Hidden tools bring no companions, which would reveal them. */
  readonly isShown: (tool: Tool) => boolean;
}

/**
 * To a fixpoint, each once, without those in `present`. Related tools come first, since the author named them. Yields
 * after each tool, since the producers of 64 tools take a second: callers can pause between them.
 */
export function* companionsOf(
  tools: readonly Tool[],
  present: ReadonlySet<string>,
  { view, isShown }: CompanionScope,
): Generator<void, Companion[], void> {
  const taken = new Set([...present, ...tools.map(({ name }) => name)]);
  const companions: Companion[] = [];
  const queue = [...tools];
  // The queue grows during the loop: companions of companions.
  for (const tool of queue) {
    for (const name of tool.relatedTools) {
      const related = view.byName.get(name);
      if (!related || taken.has(name) || !isShown(related)) continue;
      taken.add(name);
      companions.push({ tool: related, via: 'related', serves: tool.name });
      queue.push(related);
    }
  }
  // The user's words are unknown here, so every argument that users can't simply state needs its producer.
  const context = { view, request: { message: '' }, isShown };
  for (const tool of tools) {
    for (const { tool: producer, serves } of missingProducers(tool, taken, context)) {
      taken.add(producer.name);
      companions.push({ tool: producer, via: 'producer', serves });
    }
    yield;
  }
  return companions;
}
