/** Renders a tool for MCP's list: its own schemas if clients can read them, and its own hints, else those of its risk. */

import { ToolAnnotationsSchema, ToolSchema } from '@modelcontextprotocol/core';
import type { JsonSchemaType, Tool as McpTool, ToolAnnotations } from '@modelcontextprotocol/server';
import { AjvJsonSchemaValidator } from '@modelcontextprotocol/server/validators/ajv';
import type { ListedTool } from '../../agents/contracts.js';
import { isObject } from '../../core/catalog/schema/json.js';
import { normaliseArguments } from '../../core/catalog/schema/normalise.js';
import { HEADER_MARK } from '../../core/catalog/sources/mcp.js';
import type { JsonSchema, Risk } from '../../core/catalog/tool.js';

/** Clients may run read-only tools without asking, and ask before destructive ones. */
const HINTS: Readonly<Record<Risk, ToolAnnotations>> = {
  low: { readOnlyHint: true },
  medium: { readOnlyHint: false, destructiveHint: false },
  high: { readOnlyHint: false, destructiveHint: true },
};

/** @param shown the name under which the client sees it */
export function renderTool(tool: ListedTool, shown: string): McpTool {
  const { name, title = shown === name ? undefined : name, description, inputSchema, risk, annotations } = tool;
  const outputSchema = tool.outputSchema && promisedSchema(tool.outputSchema);
  // A risk set by policy or operator does not complete a server's own hints.
  const own = annotations && (ToolAnnotationsSchema.safeParse(annotations).data ?? {});
  return {
    name: shown,
    ...(title === undefined ? {} : { title }),
    description,
    inputSchema: readableSchema(inputSchema),
    ...(outputSchema ? { outputSchema } : {}),
    annotations: own ?? HINTS[risk],
  };
}

const promised = new WeakMap<JsonSchema, McpTool['outputSchema'] | null>();

/** Clients compile it when they read the list, and would drop all tools for one that does not compile. */
function promisedSchema(schema: JsonSchema): McpTool['outputSchema'] {
  const known = promised.get(schema);
  if (known !== undefined) return known ?? undefined;
  const parsed = ToolSchema.shape.outputSchema.safeParse(schema);
  const usable = parsed.success && parsed.data && canCompile(parsed.data as JsonSchemaType) ? parsed.data : undefined;
  promised.set(schema, usable ?? null);
  return usable;
}

function canCompile(schema: JsonSchemaType): boolean {
  try {
    new AjvJsonSchemaValidator().getValidator(schema);
    return true;
  } catch {
    return false;
  }
}

const inputSchemaSchema = ToolSchema.shape.inputSchema;
const readable = new WeakMap<JsonSchema, McpTool['inputSchema']>();

/** MCP wants an object at the root and objects as properties; clients drop a whole list for one tool without. */
function readableSchema(schema: JsonSchema): McpTool['inputSchema'] {
  let known = readable.get(schema);
  if (!known) {
    const parsed = inputSchemaSchema.safeParse(schema);
    known = withoutHeaders(parsed.success ? parsed.data : inputSchemaSchema.parse(normaliseArguments(schema).schema));
    readable.set(schema, known);
  }
  return known;
}

/** If so, an argument has this name. */
const isSchema = (value: unknown) => typeof value === 'boolean' || isObject(value);

/** Clients would send a marked argument as a request header, which a tool's author must not decide here. */
function withoutHeaders(schema: McpTool['inputSchema']): McpTool['inputSchema'] {
  const json = JSON.stringify(schema);
  if (!json.includes(HEADER_MARK)) return schema;
  return JSON.parse(json, (key, value) => (key === HEADER_MARK && !isSchema(value) ? undefined : value));
}
