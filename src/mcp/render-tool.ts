/** A tool of the session as MCP lists it: its own schema where clients can read it, and its own hints, else those of its risk. */
import {
  type Tool as McpTool,
  type ToolAnnotations,
  ToolAnnotationsSchema,
  ToolSchema,
} from '@modelcontextprotocol/sdk/types.js';
import { normaliseArguments } from '../core/catalog/schema/normalise.js';
import type { JsonSchema, Risk } from '../core/catalog/tool.js';
import type { ListedTool } from '../routing/contracts.js';

/** Clients may let what only reads run without asking, and ask before what destroys. */
const HINTS: Readonly<Record<Risk, ToolAnnotations>> = {
  low: { readOnlyHint: true },
  medium: { readOnlyHint: false, destructiveHint: false },
  high: { readOnlyHint: false, destructiveHint: true },
};

/**
 * Without the outputSchema: a client refuses a whole result that is not of it, and the router's results may be
 * shortened, or be let through with a warning.
 * @param shown the name under which the client sees it
 */
export function renderTool({ name, description, inputSchema, risk, annotations }: ListedTool, shown: string): McpTool {
  // A risk that policy or operator gave is no hint: what a server does not say stays unsaid.
  const own = annotations && (ToolAnnotationsSchema.safeParse(annotations).data ?? {});
  return {
    name: shown,
    ...(shown === name ? {} : { title: name }),
    description,
    inputSchema: readableSchema(inputSchema),
    annotations: own ?? HINTS[risk],
  };
}

const inputSchemaSchema = ToolSchema.shape.inputSchema;
const readable = new WeakMap<JsonSchema, McpTool['inputSchema']>();

/** MCP wants an object at the root and objects as properties; clients drop a whole list for one tool without. */
function readableSchema(schema: JsonSchema): McpTool['inputSchema'] {
  let known = readable.get(schema);
  if (!known) {
    const parsed = inputSchemaSchema.safeParse(schema);
    known = parsed.success ? parsed.data : inputSchemaSchema.parse(normaliseArguments(schema).schema);
    readable.set(schema, known);
  }
  return known;
}
