/** A tool's output -> the caller's result: plain JSON, checked against the outputSchema, within its limit. */
import { isObject } from '../../core/catalog/schema/json.js';
import type { Tool } from '../../core/catalog/tool.js';
import { createValidator } from '../../core/catalog/validate.js';
import { oncePer } from '../../core/kept.js';
import { contentSchema } from '../contracts.js';
import { capContent, capOutput } from './cap-output.js';
import type { ExecutedWell } from './executors/executor.js';
import { type CallFailure, type CallSuccess, fail } from './failure.js';
import { toJson } from './json-value.js';
import type { ToolLimits } from './limits.js';

type Finished = Omit<CallSuccess, 'milliseconds'>;

/**
 * How much of a result is read at most, as a multiple of the caller's limit. Parsing, checking and cutting block the
 * event loop, which becomes noticeable above about 1 MiB or 100,000 parts.
 */
export const READ_FACTOR = 4;
const MOST_PARTS = 100_000;

/** Validates the whole result before it is shortened, so that cuts don't count as faults of the tool. */
export function finishOutput(tool: Tool, executed: ExecutedWell, limits: ToolLimits): Finished | CallFailure {
  const json = toJson(executed.output, { characters: limits.maxOutputBytes * READ_FACTOR, parts: MOST_PARTS });
  if (!json.ok) return fail(json.isTooLarge ? 'output_too_large' : 'output_unusable', json.reason);
  const issues = limits.outputCheck === 'off' ? [] : outputIssues(tool, json.value);
  const problem = `The result of ${tool.name} does not fit its outputSchema: ${issues.join('; ')}`;
  if (issues.length > 0 && limits.outputCheck === 'refuse') return fail('output_invalid', problem, { issues });
  const capped = capOutput(json, limits.maxOutputBytes);
  const content = finishContent(executed.content, limits);
  const meta = finishMeta(executed.meta, limits);
  const notes = new Set([
    ...(executed.notes ?? []),
    ...json.notes,
    ...(issues.length > 0 ? [problem] : []),
    ...(capped.note ? [capped.note] : []),
    ...content.notes,
    ...meta.notes,
  ]);
  const isWhole = issues.length === 0 && capped.note === undefined;
  return {
    ok: true,
    output: capped.value,
    ...content.kept,
    ...meta.kept,
    ...(executed.isStructured && isWhole ? { isStructured: true as const } : {}),
    notes: [...notes],
  };
}

/** Shortens the content blocks of a failure. */
export function finishFailure({ content, meta, ...failure }: CallFailure, limits: ToolLimits): CallFailure {
  return { ...failure, ...finishContent(content, limits).kept, ...finishMeta(meta, limits).kept };
}

function finishContent(content: ExecutedWell['content'], limits: ToolLimits) {
  if (!content) return { kept: {}, notes: [] };
  const json = toJson(content);
  const blocks = json.ok ? contentSchema.safeParse(json.value).data : undefined;
  if (!json.ok || !blocks) return { kept: {}, notes: ['The blocks of the result were left out: they are no JSON.'] };
  const capped = capContent(blocks, limits);
  return { kept: { content: capped.content }, notes: [...json.notes, ...capped.notes] };
}

/** Returned whole or not at all, since it is for programs. */
function finishMeta(meta: ExecutedWell['meta'], { maxOutputBytes }: ToolLimits) {
  if (!meta || Object.keys(meta).length === 0) return { kept: {}, notes: [] };
  const json = toJson(meta, { characters: maxOutputBytes, parts: MOST_PARTS });
  if (json.ok && isObject(json.value)) return { kept: { meta: json.value }, notes: json.notes };
  return { kept: {}, notes: ['_meta of the result was left out: it is too large or no JSON.'] };
}

const checkOf = oncePer(createValidator);

function outputIssues({ outputSchema }: Tool, value: unknown): readonly string[] {
  if (!outputSchema) return [];
  const result = checkOf(outputSchema)(value);
  return result.ok ? [] : result.issues.map((issue) => issue.replace(/^\(arguments\)/u, '(result)'));
}
