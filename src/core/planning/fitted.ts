/** The form of a tool's schemas that a model is shown, made once a tool. The author's own form judges the arguments. */
import { normaliseArguments, normaliseSchema } from '../catalog/schema/normalise.js';
import type { JsonSchema, Tool } from '../catalog/tool.js';
import { oncePer } from '../kept.js';

export interface Fitted {
  readonly input: JsonSchema;
  readonly output: JsonSchema | undefined;
  /** One change a line, each with its path; those of results begin with `returns`. */
  readonly notes: readonly string[];
}

export const fittedSchemas = oncePer((tool: Tool): Fitted => {
  const input = normaliseArguments(tool.inputSchema);
  const output = tool.outputSchema && normaliseSchema(tool.outputSchema);
  const notes = [...input.notes, ...(output?.notes ?? []).map(ofResult)];
  return { input: input.schema, output: output?.schema, notes };
});

/** `(arguments): …` and `(definition x): …` are of the whole, all others of a field. */
function ofResult(note: string): string {
  if (!note.startsWith('(')) return `returns.${note}`;
  return note.startsWith('(arguments)') ? note.replace('(arguments)', 'returns') : `returns ${note}`;
}
