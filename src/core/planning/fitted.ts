/** The form of a tool's schemas that a model is shown, made once a tool. The author's own form judges the arguments. */
import { fitSchema } from '../catalog/fit-schema.js';
import type { JsonSchema, Tool } from '../catalog/tool.js';

export interface Fitted {
  readonly input: JsonSchema;
  readonly output: JsonSchema | undefined;
  /** One change a line, each with its path; those of results begin with `returns`. */
  readonly notes: readonly string[];
}

const fitted = new WeakMap<Tool, Fitted>();

export function fittedSchemas(tool: Tool): Fitted {
  let schemas = fitted.get(tool);
  if (!schemas) {
    const input = fitSchema(tool.inputSchema);
    const result = tool.outputSchema;
    const output = result && isObjectLike(result) ? fitSchema(result) : { schema: result, notes: [] };
    const notes = [...input.notes, ...output.notes.map(ofResult)];
    schemas = { input: input.schema, output: output.schema, notes };
    fitted.set(tool, schemas);
  }
  return schemas;
}

/** A result may be a list or a plain value; only objects can be fitted as arguments are. */
function isObjectLike(schema: JsonSchema): boolean {
  return schema.type === 'object' || (schema.type === undefined && 'properties' in schema);
}

/** `(arguments): …` and `(definition x): …` are of the whole, all others of a field. */
function ofResult(note: string): string {
  if (!note.startsWith('(')) return `returns.${note}`;
  return note.startsWith('(arguments)') ? note.replace('(arguments)', 'returns') : `returns ${note}`;
}
