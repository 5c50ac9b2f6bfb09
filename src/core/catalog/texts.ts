/**
 * The texts of a tool that a model may be shown, in one place for the scan and for what is shown. Prose can be cut. Names and
 * values can't: with others a call would be another one. A skill's instructions are neither, since they may address the model.
 */
import { childrenOf, isObject, joinPath, leavesOf, mapChildren } from './schema/json.js';
import type { JsonSchema, Tool } from './tool.js';

const PROSE = ['title', 'description'];

type Change = (text: string, where: string) => string;

/** The schema with its titles and descriptions changed, at every depth. */
export function mapSchemaProse(node: JsonSchema, where: string, change: Change): JsonSchema {
  const texts = PROSE.flatMap((key) => {
    const text = node[key];
    return typeof text === 'string' ? [[key, change(text, joinPath(where, key))] as const] : [];
  });
  return mapChildren({ ...node, ...Object.fromEntries(texts) }, ({ keyword, step, value }) =>
    isObject(value) ? mapSchemaProse(value, placeOf(where, keyword, step), change) : value,
  );
}

export interface Text {
  readonly where: string;
  readonly text: string;
}

export function proseOf(tool: Tool): Text[] {
  const { title = '', category = '', description, preconditions } = tool;
  const texts = Object.entries({ title, category, description }).map(([where, text]) => ({ where, text }));
  texts.push(...preconditions.map((text, place) => ({ where: joinPath('preconditions', place), text })));
  const note = (text: string, where: string) => {
    texts.push({ where, text });
    return text;
  };
  for (const [where, schema] of schemasOf(tool)) mapSchemaProse(schema, where, note);
  return texts.filter(({ text }) => text !== '');
}

/** The names of the tool and its arguments, its keywords and hints, and values of its schemas, such as an `enum`: each once. */
export function namesOf(tool: Tool): Text[] {
  const texts = [
    { where: 'name', text: tool.name },
    ...textsIn(tool.keywords, 'keywords'),
    ...textsIn(tool.metadata.annotations, 'annotations'),
    ...schemasOf(tool).flatMap(([where, schema]) => namesIn(schema, where)),
  ];
  const seen = new Set<string>();
  const distinct = texts.filter(({ text }) => !seen.has(text) && seen.add(text));
  return distinct.map(({ where, text }) => ({ where, text: asWords(text) }));
}

/** `always_call_this_first` reads as its words do. */
function asWords(name: string): string {
  return name.replace(/(?<=\p{L})[_-](?=\p{L})/gu, ' ');
}

function namesIn(node: JsonSchema, where: string): Text[] {
  const children = childrenOf(node);
  const inner = new Set([...PROSE, ...children.map(({ keyword }) => keyword)]);
  const values = Object.entries(node).flatMap(([keyword, value]) =>
    inner.has(keyword) ? [] : textsIn(value, joinPath(where, keyword)),
  );
  const below = children.flatMap(({ keyword, step, value }) => {
    const place = placeOf(where, keyword, step);
    const name = typeof step === 'string' ? [{ where: place, text: step }] : [];
    return isObject(value) ? [...name, ...namesIn(value, place)] : name;
  });
  return [...values, ...below];
}

/** The texts of any value, and the names in it. */
function textsIn(value: unknown, where: string): Text[] {
  return leavesOf(value).flatMap(({ path, value: leaf }) => {
    const texts = [...path, leaf].filter((part) => typeof part === 'string');
    return texts.map((text) => ({ where, text }));
  });
}

function schemasOf({ inputSchema, outputSchema }: Tool): [string, JsonSchema][] {
  return [
    ['inputSchema', inputSchema],
    ...(outputSchema ? [['outputSchema', outputSchema] as [string, JsonSchema]] : []),
  ];
}

function placeOf(where: string, keyword: string, step: string | number | undefined): string {
  const place = joinPath(where, keyword);
  return step === undefined ? place : joinPath(place, step);
}
