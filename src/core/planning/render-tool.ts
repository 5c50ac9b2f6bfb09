/** A tool as stage two shows it: everything that is known about it, in the order in which a plan needs it. */
import { isObject } from '../catalog/schema/json.js';
import { oneLine } from '../catalog/summary.js';
import type { JsonSchema, Tool } from '../catalog/tool.js';
import { fittedSchemas } from './fitted.js';
import { renderType } from './render-type.js';

const rendered = new WeakMap<Tool, string>();

export function renderTool(tool: Tool): string {
  let text = rendered.get(tool);
  if (text === undefined) {
    text = render(tool);
    rendered.set(tool, text);
  }
  return text;
}

/** Numbered from `first` on, in the order of the selection. */
export function renderTools(tools: readonly Tool[], first = 1): string {
  return tools.length === 0 ? 'none' : tools.map((tool, place) => `${first + place}. ${renderTool(tool)}`).join('\n\n');
}

function render(tool: Tool): string {
  const { input, output } = fittedSchemas(tool);
  const lines = [
    `${tool.name}: ${oneLine(tool.description)}`,
    ...renderArguments(input),
    output ? `   returns: ${renderType(output, output)}` : '   returns: not described',
    tool.preconditions.length > 0 ? `   before: ${tool.preconditions.map(oneLine).join('; ')}` : '',
    tool.instructions ? `   instructions:\n${tool.instructions.trim()}` : '',
  ];
  return lines.filter(Boolean).join('\n');
}

/** Optional arguments stand apart: beside the required ones a small model fills them in, whatever the request says. */
function renderArguments(input: JsonSchema): string[] {
  const { properties, required, ...rest } = input;
  const names = new Set(Array.isArray(required) ? required : []);
  const all = isObject(properties) ? Object.entries(properties) : [];
  const optional = all.filter(([name]) => !names.has(name));
  if (optional.length === 0) return [`   arguments: ${renderType(input, input)}`];
  const part = (entries: typeof all, needed: readonly string[]) =>
    renderType({ ...rest, properties: Object.fromEntries(entries), required: needed }, input);
  const needed = all.filter(([name]) => names.has(name));
  const shownOptional = part(
    optional,
    optional.map(([name]) => name),
  );
  // Who requires nothing still means something to be given: "none" would be taken at its word.
  if (needed.length === 0) return [`   arguments, each where the request speaks of it: ${shownOptional}`];
  return [
    `   arguments: ${part(needed, [...names].map(String))}`,
    `   optional, only where the request asks for it: ${shownOptional}`,
  ];
}
