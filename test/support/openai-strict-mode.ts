/**
 * What OpenAI's strict mode refuses in a response schema, in its own words, written from its documented rules and from
 * the errors that users report; it shares nothing with the code that makes such schemas.
 */
import { compileSchema } from './compile-schema.js';
import type { Behaviour, RecordedRequest } from './scripted-server.js';
import { answerJson, fail } from './server-behaviours.js';

type Node = Readonly<Record<string, unknown>>;

const WORDS =
  `type description title enum const anyOf $ref $defs properties required additionalProperties items pattern format
  multipleOf minimum maximum exclusiveMinimum exclusiveMaximum minItems maxItems`.split(/\s+/u);
const TYPES = ['string', 'number', 'boolean', 'integer', 'object', 'array', 'null'];
const FORMATS = ['date-time', 'time', 'date', 'duration', 'email', 'hostname', 'ipv4', 'ipv6', 'uuid'];

export function strictModeIssues(schema: unknown): string[] {
  if (!isNode(schema)) return ['schema must be an object'];
  const root =
    schema.type === 'object' && !('anyOf' in schema)
      ? []
      : [`schema must be a JSON Schema of 'type: "object"', got 'type: "${schema.type ?? 'None'}"'`];
  const definitions = isNode(schema.$defs) ? schema.$defs : {};
  const roots = [
    ['', schema] as const,
    ...Object.entries(definitions).map(([name, node]) => [`$defs/${name}`, node] as const),
  ];
  return [
    ...root,
    ...roots.flatMap(([path, node]) => nodeIssues(node, { path, definitions, nesting: 0 })),
    ...sizeIssues(schema),
  ];
}

interface Spot {
  path: string;
  definitions: Node;
  nesting: number;
}

function nodeIssues(node: unknown, spot: Spot): string[] {
  const say = (text: string) => `In context=(${spot.path}), ${text}`;
  if (!isNode(node)) return [say('schema must be an object')];
  if (typeof node.$ref === 'string') {
    const known = node.$ref === '#' || node.$ref.slice('#/$defs/'.length) in spot.definitions;
    const beside = Object.keys(node).filter((word) => word !== '$ref');
    return [
      ...(known ? [] : [say(`reference can only point to definitions: ${node.$ref}`)]),
      ...(beside.length > 0 ? [say(`$ref cannot have keywords {'${beside.join("', '")}'}`)] : []),
    ];
  }
  const below = { ...spot, nesting: spot.nesting + (node.type === 'object' ? 1 : 0) };
  const at = (step: string, inner: unknown) => nodeIssues(inner, { ...below, path: `${spot.path}/${step}` });
  return [
    ...Object.keys(node)
      .filter((word) => !WORDS.includes(word))
      .map((word) => say(`'${word}' is not permitted`)),
    ...(below.nesting > 10 ? [say('more than 10 levels of nesting')] : []),
    ...('type' in node || 'anyOf' in node ? [] : [say("schema must have a 'type' key")]),
    ...typeIssues(node).map(say),
    ...textIssues(node).map(say),
    ...(node.type === 'object' ? objectIssues(node).map(say) : []),
    ...(node.type === 'array'
      ? 'items' in node
        ? at('items', node.items)
        : [say("array schema missing 'items'")]
      : []),
    ...Object.entries(isNode(node.properties) ? node.properties : {}).flatMap(([name, inner]) => at(name, inner)),
    ...(Array.isArray(node.anyOf) ? anyOfIssues(node.anyOf, spot).map(say) : []),
    ...(Array.isArray(node.anyOf) ? node.anyOf.flatMap((inner, index) => at(`anyOf/${index}`, inner)) : []),
  ];
}

function typeIssues({ type, enum: values, const: constant }: Node): string[] {
  const types = Array.isArray(type) ? type : type === undefined ? [] : [type];
  const wrong = types.filter((one) => !TYPES.includes(String(one))).map((one) => `'${one}' is not a valid type`);
  const listed = [...(Array.isArray(values) ? values : []), ...(constant === undefined ? [] : [constant])];
  const nested = listed.filter((value) => typeof value === 'object' && value !== null);
  return [
    ...wrong,
    ...(Array.isArray(values) && values.length === 0 ? ['enum must not be empty'] : []),
    ...nested.map(() => 'enum and const must be plain values'),
  ];
}

function textIssues({ pattern, format }: Node): string[] {
  const looksAround = typeof pattern === 'string' && /\(\?<?[=!]/u.test(pattern);
  return [
    ...(looksAround ? ['regex lookaround is not supported'] : []),
    ...(format === undefined || FORMATS.includes(String(format)) ? [] : [`'${format}' is not a valid format`]),
  ];
}

function objectIssues({ properties, required, additionalProperties }: Node): string[] {
  const names = isNode(properties) ? Object.keys(properties) : [];
  const given = Array.isArray(required) ? required.map(String) : [];
  return [
    ...(additionalProperties === false ? [] : ["'additionalProperties' is required to be supplied and to be false"]),
    ...names
      .filter((name) => !given.includes(name))
      .map((name) => `'required' must include every key. Missing '${name}'`),
    ...given.filter((name) => !names.includes(name)).map((name) => `Extra required key '${name}' supplied`),
  ];
}

function anyOfIssues(forms: readonly unknown[], { definitions }: Spot): string[] {
  const keys = forms.flatMap((form) => {
    const target =
      isNode(form) && typeof form.$ref === 'string' ? definitions[form.$ref.slice('#/$defs/'.length)] : form;
    const [first] = isNode(target) && isNode(target.properties) ? Object.entries(target.properties) : [];
    return first
      ? [`${first[0]} ${isNode(first[1]) && 'const' in first[1] ? JSON.stringify(first[1].const) : ''}`]
      : [];
  });
  const isClear = new Set(keys).size === keys.length;
  return isClear ? [] : ["Objects provided via 'anyOf' must not share identical first keys"];
}

function sizeIssues(schema: Node): string[] {
  const all = nodesIn(schema);
  const names = all.flatMap(({ properties }) => (isNode(properties) ? Object.keys(properties) : []));
  const enums = all.flatMap(({ enum: values }) => (Array.isArray(values) ? [values] : []));
  const constants = all.flatMap((node) => ('const' in node ? [node.const] : []));
  const definitions = isNode(schema.$defs) ? Object.keys(schema.$defs) : [];
  const lettersOf = (values: readonly unknown[]) => values.filter((value) => typeof value === 'string').join('').length;
  return [
    ...(names.length > 5000 ? ['more than 5000 properties'] : []),
    ...(enums.flat().length > 1000 ? ['more than 1000 enum values'] : []),
    ...enums
      .filter((values) => values.length > 250 && lettersOf(values) > 15_000)
      .map(() => 'enum of over 15000 characters'),
    ...(lettersOf([...names, ...definitions, ...enums.flat(), ...constants]) > 120_000
      ? ['over 120000 characters']
      : []),
  ];
}

/** The schema and all schemas inside. */
function nodesIn(node: unknown): Node[] {
  if (!isNode(node)) return [];
  const maps = [node.properties, node.$defs].flatMap((map) => (isNode(map) ? Object.values(map) : []));
  return [node, ...[...maps, node.items, ...(Array.isArray(node.anyOf) ? node.anyOf : [])].flatMap(nodesIn)];
}

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The response schema of a request; `undefined` where it asks for none. */
export function schemaOf({ body }: RecordedRequest): { name: string; schema: Node } | undefined {
  const format = isNode(body.response_format) ? body.response_format : {};
  const asked = isNode(format.json_schema) ? format.json_schema : undefined;
  return asked && isNode(asked.schema) ? { name: String(asked.name), schema: asked.schema } : undefined;
}

/** Refuses what OpenAI refuses, and answers with the first of `values` that keeps to the schema; without a schema with the last. */
export function answerAsOpenAI(request: RecordedRequest, values: readonly unknown[]): Behaviour {
  const asked = schemaOf(request);
  if (!asked) return answerJson(values.at(-1));
  const [issue] = strictModeIssues(asked.schema);
  if (issue !== undefined) return fail(400, `Invalid schema for response_format '${asked.name}': ${issue}.`);
  const validate = compileSchema(asked.schema);
  const fitting = values.find((value) => validate(value));
  return fitting === undefined ? fail(418, 'no scripted answer keeps to the schema') : answerJson(fitting);
}
