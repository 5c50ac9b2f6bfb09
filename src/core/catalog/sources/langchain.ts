/** LangChain tools from code. Nothing of LangChain is imported: whatever has these fields will do. */
import { z } from 'zod';
import { WinnowError } from '../../errors.js';
import { isObject } from '../schema/json.js';
import type { JsonSchema, Tool } from '../tool.js';
import { parseReading } from './entries.js';
import { reasonOf } from './read.js';
import { createReading } from './source.js';

export interface LangChainToolsOptions {
  /** Origin of the tools. Default: "langchain". */
  origin?: string;
}

/** What is read of LangChain's `StructuredToolInterface`; the schema is one of zod 4, or JSON Schema. */
export interface LangChainTool {
  readonly name: string;
  readonly description: string;
  readonly schema: unknown;
  readonly metadata?: unknown;
}

/**
 * `StructuredTool` instances, such as `tool()` makes, as tools of a catalogue (toolType `builtin`).
 * `metadata` may hold `risk`, `category`, `keywords` and `aliases`; the rest of it stays in `metadata`.
 * @throws WinnowError `invalid_catalog`, naming the tool that can't be used
 */
export function toolsFromLangChain(tools: readonly LangChainTool[], options: LangChainToolsOptions = {}): Tool[] {
  const origin = options.origin ?? 'langchain';
  const parsed = parseReading(createReading([{ origin, entries: tools.map((tool) => toEntry(tool)) }]));
  const problems = parsed.issues.filter(({ level }) => level === 'warning');
  if (problems.length > 0) {
    const issues = problems.map(({ entry, name, message }) => `${entry}${name ? ` ${name}` : ''}: ${message}`);
    throw new WinnowError('invalid_catalog', `LangChain tools are not usable: ${issues[0]}.`, { issues });
  }
  return parsed.tools.map(({ tool }) => tool);
}

const OWN_KEYS = ['risk', 'category', 'keywords', 'aliases'];

function toEntry({ name, description, schema, metadata }: LangChainTool) {
  const facts = Object.entries(isObject(metadata) ? metadata : {});
  return {
    ...Object.fromEntries(facts.filter(([key]) => OWN_KEYS.includes(key))),
    name,
    description,
    toolType: 'builtin',
    inputSchema: toInputSchema(schema, name),
    metadata: Object.fromEntries(facts.filter(([key]) => !OWN_KEYS.includes(key))),
  };
}

function toInputSchema(schema: unknown, name: string): JsonSchema {
  if (isZod4(schema)) return fromZod(schema, name);
  if (isTextInput(schema)) return { type: 'object', properties: { input: { type: 'string' } } };
  if (isObject(schema) && typeof schema.safeParse !== 'function') return schema;
  const advice = 'give a zod 4 schema, or JSON Schema (toJsonSchema of @langchain/core/utils/json_schema makes it)';
  throw new WinnowError('invalid_catalog', `The schema of the LangChain tool "${name}" is of another kind: ${advice}.`);
}

function fromZod(schema: z.core.$ZodType, name: string): JsonSchema {
  try {
    const { $schema: _, '~standard': __, ...plain } = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' });
    return plain;
  } catch (error) {
    const message = `The schema of the LangChain tool "${name}" can't be written as JSON Schema`;
    throw new WinnowError('invalid_catalog', `${message}: ${reasonOf(error)}.`, { cause: error });
  }
}

/** By its form, since `instanceof` knows nothing of another copy of zod 4. */
function isZod4(schema: unknown): schema is z.core.$ZodType {
  return isObject(schema) && isObject(schema._zod);
}

/** The one zod 3 schema that LangChain itself makes, for tools that take a string. */
function isTextInput(schema: unknown): boolean {
  if (!isObject(schema) || !isObject(schema._def) || schema._def.typeName !== 'ZodEffects') return false;
  const inner = schema._def.schema;
  return isObject(inner) && isObject(inner.shape) && Object.keys(inner.shape).join() === 'input';
}
