/** The form of a tool's schemas that a model is shown, made once a tool. The author's own form judges the arguments. */
import { fitSchema } from '../catalog/fit-schema.js';
import type { JsonSchema, Tool } from '../catalog/tool.js';

export interface Fitted {
  readonly input: JsonSchema;
  readonly output: JsonSchema | undefined;
}

const fitted = new WeakMap<Tool, Fitted>();

export function fittedSchemas(tool: Tool): Fitted {
  let schemas = fitted.get(tool);
  if (!schemas) {
    const output = tool.outputSchema;
    schemas = {
      input: fitSchema(tool.inputSchema).schema,
      output: output && isObjectLike(output) ? fitSchema(output).schema : output,
    };
    fitted.set(tool, schemas);
  }
  return schemas;
}

/** A result may be a list or a plain value; only objects can be fitted as arguments are. */
function isObjectLike(schema: JsonSchema): boolean {
  return schema.type === 'object' || (schema.type === undefined && 'properties' in schema);
}
