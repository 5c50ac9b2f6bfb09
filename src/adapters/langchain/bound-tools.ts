/** Converts LangChain's tools, and tools bound to a chat model, to tools of Winnow. */
import type { BindToolsInput } from '@langchain/core/language_models/chat_models';
import { convertToOpenAITool, isLangChainTool } from '@langchain/core/utils/function_calling';
import { z } from 'zod';
import { isObject } from '../../core/catalog/schema/json.js';
import { parseReading } from '../../core/catalog/sources/source.js';
import { renderIssue, type Tool } from '../../core/catalog/tool.js';
import { WinnowError } from '../../core/errors.js';

interface LangChainToolsOptions {
  /** Origin of the tools. Default: "langchain". */
  origin?: string;
}

/**
 * Converts LangChain's tools (with any zod or JSON Schema), and functions in OpenAI's format, to tools of a catalogue
 * (toolType `builtin`). `metadata` may have `risk`, `category`, `keywords` and `aliases`; the rest stays in `metadata`.
 * @throws WinnowError `invalid_option` for a tool that only its provider can run, `invalid_catalog` for an unusable one;
 * both name the tool
 * @example
 * const catalog = createCatalog(toolsFromLangChain(tools));
 */
export function toolsFromLangChain(
  bound: readonly BindToolsInput[],
  { origin = 'langchain' }: LangChainToolsOptions = {},
): Tool[] {
  const { tools, issues } = parseReading({ origin, entries: bound.map(toEntry) });
  const problems = issues.filter(({ level }) => level === 'warning').map(renderIssue);
  if (problems.length > 0)
    throw new WinnowError('invalid_catalog', `LangChain tools are not usable: ${problems[0]}.`, { issues: problems });
  return tools.map(({ tool }) => tool);
}

const OWN_KEYS = ['risk', 'category', 'keywords', 'aliases'];

function toEntry(bound: BindToolsInput) {
  const { name, description, parameters } = definitionOf(bound);
  const { metadata } = Object(bound);
  const facts = Object.entries(isObject(metadata) ? metadata : {});
  return {
    ...Object.fromEntries(facts.filter(([key]) => OWN_KEYS.includes(key))),
    name,
    description: typeof description === 'string' ? description : '',
    toolType: 'builtin',
    inputSchema: parameters ?? { type: 'object' },
    metadata: Object.fromEntries(facts.filter(([key]) => !OWN_KEYS.includes(key))),
  };
}

function definitionOf(bound: BindToolsInput): { name: unknown; description?: unknown; parameters?: unknown } {
  if (isLangChainTool(bound) && isZod(bound.schema)) {
    // Fields with a default are optional; LangChain's own conversion would require them.
    const options = { io: 'input', unrepresentable: 'any' } as const;
    const { $schema: _, '~standard': __, ...parameters } = z.toJSONSchema(bound.schema, options);
    return { name: bound.name, description: bound.description, parameters };
  }
  const definition: unknown = isLangChainTool(bound) ? convertToOpenAITool(bound) : bound;
  const named = isObject(definition) ? definition.function : undefined;
  if (isObject(named) && typeof named.name === 'string') return { ...named, name: named.name };
  const { name, type } = Object(bound);
  const advice = 'give LangChain tools, or functions as {"type": "function", "function": {"name", "parameters"}}';
  throw new WinnowError('invalid_option', `The bound tool "${name ?? type}" can't be called here: ${advice}.`);
}

/** Recognises zod 4 by its shape, since `instanceof` fails for another copy of the package. */
function isZod(schema: unknown): schema is z.core.$ZodType {
  return isObject(schema) && '_zod' in schema;
}
