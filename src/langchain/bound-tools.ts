/** What is bound to a chat model -> tools as Winnow knows them. */
import type { BindToolsInput } from '@langchain/core/language_models/chat_models';
import { convertToOpenAITool, isLangChainTool } from '@langchain/core/utils/function_calling';
import { isObject } from '../core/catalog/schema/json.js';
import { type LangChainTool, toolsFromLangChain } from '../core/catalog/sources/entries.js';
import type { Tool } from '../core/catalog/tool.js';
import { WinnowError } from '../core/errors.js';

/**
 * LangChain's tools (with any zod or JSON Schema), and functions in the form of OpenAI.
 * @throws WinnowError `invalid_option` for a tool that only its provider can run, `invalid_catalog` for one that is
 * not usable, each named
 */
export function toTools(bound: readonly BindToolsInput[]): Tool[] {
  return toolsFromLangChain(bound.map(toNamed));
}

function toNamed(bound: BindToolsInput): LangChainTool {
  // What has a default may be left out; LangChain's own conversion would require it.
  if (isLangChainTool(bound) && isObject(bound.schema) && '_zod' in bound.schema) return describe(bound, bound.schema);
  const definition: unknown = isLangChainTool(bound) ? convertToOpenAITool(bound) : bound;
  const named = isObject(definition) ? definition.function : undefined;
  if (!isObject(named) || typeof named.name !== 'string') throw notAFunction(bound);
  const { name, description, parameters = { type: 'object' } } = named;
  return describe({ ...bound, name, description }, parameters);
}

function describe(bound: { name: string; description?: unknown; metadata?: unknown }, schema: unknown): LangChainTool {
  const { name, description, metadata } = bound;
  return { name, description: typeof description === 'string' ? description : '', schema, metadata };
}

function notAFunction(bound: BindToolsInput): WinnowError {
  const { name, type } = Object(bound);
  const advice = 'give LangChain tools, or functions as {"type": "function", "function": {"name", "parameters"}}';
  return new WinnowError('invalid_option', `The bound tool "${name ?? type}" can't be called here: ${advice}.`);
}
