/** What the model of a generated case saw and answered. */

import type { SelectedTool, Step } from '../../../src/core/result.js';
import type { CaseRecord, ModelCall } from '../../../src/eval/record.js';
import { OTHER_TOOLS } from './requests.js';

const STABLE_SELECTION = `You choose tools for a request.\n\nTools:\n${OTHER_TOOLS.map((name) => `- ${name}: what it does`).join('\n')}`;

interface CallParts {
  query: string;
  tools: readonly SelectedTool[];
  steps: readonly Step[] | undefined;
  milliseconds: { selection: number; planning: number };
  usage: CaseRecord['usage'];
  keep: (text: string) => string;
  isError: boolean;
}

export function callsOf({ query, tools, steps, milliseconds, usage, keep, isError }: CallParts): ModelCall[] {
  const selection: ModelCall = {
    stage: 'selection',
    system: keep(STABLE_SELECTION),
    user: `Request: ${query}`,
    answer: isError ? '' : tools.map(({ name, probability = 0.01 }) => `${name} ${probability}`).join('\n'),
    ...(isError ? { error: 'The model did not answer in 30 s.' } : {}),
    usage: usage.selection,
    milliseconds: milliseconds.selection,
    fromCache: false,
  };
  if (isError) return [selection];
  const sorted = tools.map(({ name }) => name).slice(0, 2);
  const planning: ModelCall = {
    stage: 'planning',
    system: keep(
      `You write plans.\n\nTools:\n${sorted.map((name) => `${name} (stcd: string) returns stcd`).join('\n')}`,
    ),
    user: `Today is 2026-07-21. The user's language is zh-CN.\nRequest: ${query}`,
    answer: JSON.stringify({ kind: 'plan', steps: steps ?? [] }),
    usage: usage.planning,
    milliseconds: milliseconds.planning,
    fromCache: milliseconds.planning % 7 === 0,
  };
  return [selection, planning];
}
