/** What an MCP tool gave: its blocks as they came, for whoever shows them, and one value, for models and plans. */
import { type ContentBlock, ContentBlockSchema } from '@modelcontextprotocol/sdk/types.js';
import { isObject } from '../../../core/catalog/schema/json.js';
import { describeBlock } from '../content.js';
import { fail } from '../failure.js';
import type { Executed } from './executor.js';
import type { McpAnswer } from './mcp-session.js';

/** The value is the structured content; else the text, read as JSON where it is an object or a list; else the blocks without their data. */
export function readMcpContent(answer: Extract<McpAnswer, { ok: true }>): Executed {
  const content = answer.content.map(readBlock);
  const texts = content.flatMap((block) => (block.type === 'text' ? [block.text] : []));
  if (answer.isError) {
    const failure = fail('tool_failed', texts.join('\n') || 'The tool reported an error without words.');
    return { ...failure, content };
  }
  const { structuredContent } = answer;
  if (isObject(structuredContent)) return { ok: true, output: structuredContent, content, isStructured: true };
  return { ok: true, output: outputOf(content, texts), content };
}

/** A block of another form would make clients refuse the whole result. */
function readBlock(block: unknown): ContentBlock {
  const parsed = ContentBlockSchema.safeParse(block);
  if (parsed.success) return parsed.data;
  const type = JSON.stringify(Object(block).type)?.slice(0, 80);
  return { type: 'text', text: `(a block of type ${type} that is not of the form of MCP was left out)` };
}

function outputOf(content: readonly ContentBlock[], texts: readonly string[]): unknown {
  if (texts.length < content.length) return content.map(describeBlock);
  const [first] = texts;
  if (texts.length !== 1 || first === undefined) return texts.length === 0 ? null : texts.join('\n');
  return parseStructured(first) ?? first;
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
