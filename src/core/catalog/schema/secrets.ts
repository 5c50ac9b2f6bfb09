/** Finds the arguments that a tool's schema marks as secret. */
import { oncePer } from '../../kept.js';
import type { JsonSchema, Tool } from '../tool.js';
import { partsOf } from './paths.js';

export const secretNamesOf = oncePer((tools: readonly Tool[]): readonly string[] => {
  return [...new Set(tools.flatMap(({ inputSchema }) => secretArgumentNames(inputSchema)))];
});

export function isMarkedSecret(node: JsonSchema): boolean {
  return node.writeOnly === true || node.format === 'password' || node['x-secret'] === true;
}

/**
 * Arguments marked by `writeOnly: true`, `format: "password"` or `x-secret: true`, at any depth. A mark inside `anyOf` or
 * `oneOf`, on list items or behind a reference also counts for the argument.
 */
export function secretArgumentNames(schema: JsonSchema): string[] {
  const names = new Set<string>();
  const visited = new Map<JsonSchema, Set<string | undefined>>();
  const partsOnce = oncePer((node: JsonSchema) => partsOf(node, schema));
  const visit = (node: JsonSchema, argument: string | undefined): void => {
    const visits = visited.get(node) ?? new Set();
    if (visits.has(argument)) return;
    visited.set(node, visits.add(argument));
    if (argument !== undefined && isMarkedSecret(node)) names.add(argument);
    // A definition belongs to the arguments that refer to it.
    for (const { about, step, node: part } of partsOnce(node))
      visit(part, about === 'definition' ? undefined : about === 'named' ? String(step) : argument);
  };
  visit(schema, undefined);
  return [...names];
}
