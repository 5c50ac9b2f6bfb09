/** Renders a tool for the planning prompt: all that a plan needs, in the order of use. */
import { isObject, listOf } from '../catalog/schema/json.js';
import { fittedSchemas } from '../catalog/schema/normalise.js';
import { resolveReference } from '../catalog/schema/references.js';
import { shownTool } from '../catalog/shown.js';
import type { JsonSchema, Tool } from '../catalog/tool.js';
import { oncePer } from '../kept.js';
import { hidesText, literal, oneLine } from '../visible-text.js';

/** Character limit for the type of the result, and of the arguments: a huge schema must leave room for other tools. */
const MAX_RESULT = 2000;
const MAX_ARGUMENTS = 8000;

function shortened(text: string, most: number): string {
  return text.length <= most ? text : `${text.slice(0, most)}… (shortened)`;
}

export function renderTools(tools: readonly Tool[]): string {
  return tools.map((tool, place) => `${place + 1}. ${renderTool(tool)}`).join('\n\n') || 'none';
}

export const renderTool = oncePer((tool: Tool): string => renderUncut(shownTool(tool)));

/** For budgets, which count the tools of a whole catalogue: nothing is cut, so no schema has to be read for that. */
export function renderUncut(tool: Tool): string {
  const { input, output } = fittedSchemas(tool);
  const lines = [
    `${tool.name}: ${oneLine(tool.description)}`,
    ...renderArguments(input).map((line) => shortened(line, MAX_ARGUMENTS)),
    output ? `   returns: ${shortened(renderType(output, output), MAX_RESULT)}` : '   returns: not described',
    tool.preconditions.length > 0 ? `   before: ${tool.preconditions.map(oneLine).join('; ')}` : '',
  ].filter(Boolean);
  return [...lines, ...renderInstructions(tool)].join('\n');
}

/** Each line starts with a bar, so that it can't imitate a line of the prompt. */
function renderInstructions({ instructions }: Tool): string[] {
  if (!instructions) return [];
  return [
    '   instructions:',
    ...instructions
      .trim()
      .split('\n')
      .map((line) => `   | ${line}`),
  ];
}

/** Renders optional arguments separately: among the required ones, a small model fills them in for any request. */
function renderArguments(input: JsonSchema): string[] {
  const { properties, required, ...rest } = input;
  const names = new Set(listOf(required));
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
  // A line "arguments: none" would make a model leave out the optional ones, too.
  if (needed.length === 0) return [`   arguments, each where the request speaks of it: ${shownOptional}`];
  return [
    `   arguments: ${part(needed, [...names].map(String))}`,
    `   optional, only where the request asks for it: ${shownOptional}`,
  ];
}

/** The state of rendering: the root of `$ref`, and the references in progress, so that recursion ends. */
interface Place {
  readonly root: JsonSchema;
  readonly open: readonly string[];
  readonly comments: boolean;
  /** Budget of nodes and comments, since definitions that refer to one another can expand endlessly. */
  readonly room: { characters: number };
}

/** Budget of one rendered type, before it is shortened. */
const MAX_WRITTEN = 32_000;

/** `{station: string, start?: string}` with comments after the fields; `root` resolves `$ref`. */
export function renderType(
  schema: unknown,
  root: JsonSchema,
  { comments = true }: { comments?: boolean } = {},
): string {
  return renderNode(schema, { root, open: [], comments, room: { characters: MAX_WRITTEN } });
}

function renderNode(schema: unknown, place: Place): string {
  place.room.characters -= 1;
  if (!isObject(schema) || place.room.characters < 0) return 'any';
  if (typeof schema.$ref === 'string') return renderReference(schema.$ref, place);
  if ('const' in schema) return literal(schema.const);
  if (Array.isArray(schema.enum)) return schema.enum.map(literal).join('|') || 'never';
  const members = schema.anyOf ?? schema.oneOf;
  if (Array.isArray(members)) return unique(members.map((member) => renderNode(member, place))).join('|');
  if (Array.isArray(schema.type))
    return unique(schema.type.map((type) => renderNode({ ...schema, type }, place))).join('|');
  if (schema.type === 'array') return `${wrap(renderNode(schema.items ?? {}, place))}[]`;
  if (schema.type === 'object' || isObject(schema.properties)) return renderObject(schema, place);
  return typeof schema.type === 'string' ? oneLine(schema.type) : 'any';
}

function renderReference(reference: string, place: Place): string {
  const { root, open } = place;
  if (open.includes(reference)) return oneLine(reference.split('/').at(-1) ?? '') || 'any';
  return renderNode(resolveReference(root, reference), { ...place, open: [...open, reference] });
}

function renderObject(schema: JsonSchema, place: Place): string {
  const properties = isObject(schema.properties) ? Object.entries(schema.properties) : [];
  if (properties.length === 0)
    return isObject(schema.additionalProperties)
      ? `{[key]: ${renderNode(schema.additionalProperties, place)}}`
      : 'object';
  const required = new Set(listOf(schema.required));
  const fields = properties.map(([name, value]) => {
    const comment = place.comments && isObject(value) && place.room.characters > 0 ? renderComment(value) : '';
    place.room.characters -= comment.length;
    return `${renderKey(name)}${required.has(name) ? '' : '?'}: ${renderNode(value, place)}${comment}`;
  });
  return `{${fields.join(', ')}}`;
}

function renderComment(schema: JsonSchema): string {
  const facts = factsOf(schema);
  return facts.length > 0 ? ` /* ${facts.join('; ')} */` : '';
}

const NUMBERS =
  'minimum exclusiveMinimum maximum exclusiveMaximum multipleOf minLength maxLength minItems maxItems'.split(' ');

/** Facts that the type lacks. Nothing is escaped, even if a glob looks like the end of a comment. */
function factsOf(schema: JsonSchema): string[] {
  const each = isObject(schema.items) ? factsOf(schema.items) : [];
  return [
    typeof schema.description === 'string' ? oneLine(schema.description) : '',
    typeof schema.format === 'string' ? `format ${oneLine(schema.format)}` : '',
    typeof schema.pattern === 'string' && schema.pattern.length <= 60 ? `pattern ${oneLine(schema.pattern)}` : '',
    'default' in schema ? `default ${literal(schema.default)}` : '',
    ...NUMBERS.flatMap((key) => (isBound(schema[key]) ? [`${key} ${schema[key]}`] : [])),
    schema.uniqueItems === true ? 'no duplicates' : '',
    each.length > 0 ? `each: ${each.join('; ')}` : '',
  ].filter(Boolean);
}

/** Whether a bound is informative: some schemas only repeat the limits of the number type. */
function isBound(value: unknown): value is number {
  return typeof value === 'number' && Math.abs(value) < Number.MAX_SAFE_INTEGER;
}

export function renderKey(name: string): string {
  return /^[\p{L}_$][\p{L}\p{N}_$]*$/u.test(name) && !hidesText(name) ? name : literal(name);
}

function wrap(type: string): string {
  return type.includes('|') ? `(${type})` : type;
}

function unique(types: readonly string[]): string[] {
  return [...new Set(types)];
}
