/** What an MCP tool gave, as one value: structured content first, else the text, read as JSON where it is an object or a list. */
import { z } from 'zod';
import { isObject } from '../../core/catalog/schema/json.js';
import { fail } from '../failure.js';
import type { Executed } from './executor.js';
import type { McpAnswer } from './mcp-session.js';

const textSchema = z.object({ type: z.literal('text'), text: z.string() });

export function readMcpContent(answer: Extract<McpAnswer, { ok: true }>): Executed {
  const texts = answer.content.flatMap((block) => textSchema.safeParse(block).data?.text ?? []);
  const isText = texts.length === answer.content.length;
  if (answer.isError) return fail('tool_failed', texts.join('\n') || 'The tool reported an error without words.');
  if (answer.structuredContent !== undefined) return { ok: true, output: answer.structuredContent };
  if (!isText) return { ok: true, output: answer.content };
  const [first] = texts;
  if (texts.length !== 1 || first === undefined)
    return { ok: true, output: texts.length === 0 ? null : texts.join('\n') };
  const parsed = parseStructured(first);
  if (parsed === undefined) return { ok: true, output: first };
  return { ok: true, output: parsed, notes: ['the text of the result was read as JSON'] };
}

/** Older servers write their objects as text; a plan can only refer to fields of objects. */
function parseStructured(text: string): unknown {
  if (!/^\s*[[{]/u.test(text)) return undefined;
  try {
    const parsed: unknown = JSON.parse(text);
    return isObject(parsed) || Array.isArray(parsed) ? parsed : undefined;
  } catch {
    return undefined;
  }
}
