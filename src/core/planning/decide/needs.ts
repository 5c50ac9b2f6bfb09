/** Dependencies of a step: required arguments that only another tool's result can provide, and the tools that can. */
import { type Argument, doubtfulCodesIn, isGiven, stemsOf } from '../../catalog/identifiers.js';
import { type Provision, producerGraph } from '../../catalog/producers.js';
import { isAbove } from '../../catalog/risk.js';
import { isNumber, isObject } from '../../catalog/schema/json.js';
import { fittedSchemas } from '../../catalog/schema/normalise.js';
import { subschemaAt } from '../../catalog/schema/paths.js';
import type { View } from '../../catalog/scope.js';
import type { JsonSchema, Tool } from '../../catalog/tool.js';
import type { Request } from '../../request.js';
import { renderPath } from '../references.js';
import { formOf } from '../times.js';
import type { Doubtful } from './given.js';
import { spansOf } from './options.js';
import {
  boundsOf,
  type Candidate,
  candidatesFor,
  isFreeText,
  isText,
  openReference,
  plainSchema,
  resultFields,
  type SourceContext,
} from './sources.js';

/** Below this score a provision is a guess and adds no step. */
const MIN_SCORE = 0.45;

export interface Waiting {
  readonly argument: string;
  readonly provisions: readonly Provision[];
}

/**
 * Required arguments that only another tool's result can provide, each with its provisions, best first.
 *
 * @param about.isAmong whether one of the values of the request is the identifier with this name
 */
export async function awaitedArguments(
  tool: Tool,
  about: {
    ask: string;
    context: Omit<SourceContext, 'results'>;
    settled: Pick<ReadonlyMap<string, Candidate>, 'has'>;
    isAmong: (name: string, doubtful: Doubtful) => Promise<boolean>;
  },
  { view, request }: { view: View; request: Request },
): Promise<Waiting[]> {
  const { ask, context, settled, isAmong } = about;
  const graph = producerGraph(view);
  const root = fittedSchemas(tool).input;
  const asked = { ...request, message: saidIn(request, ask) };
  const waiting: Waiting[] = [];
  for (const argument of graph.argumentsOf(tool)) {
    if (!argument.isRequired || settled.has(argument.name)) continue;
    const provisions = argument.isIdentifier
      ? graph.provisionsFor(tool, argument.name).filter(({ score }) => score >= MIN_SCORE)
      : byFormat(formatOf(argument, root), tool, view.tools);
    if (provisions.length > 0 && !(await isSaid(argument))) waiting.push({ argument: argument.name, provisions });
  }
  return waiting;

  async function isSaid(argument: Argument): Promise<boolean> {
    const { name, isIdentifier } = argument;
    const schema = plainSchema(argument.schema, root);
    const isList = schema.type === 'array';
    const item = isList ? plainSchema(schema.items, root) : schema;
    if (!isIdentifier) return hasValue(name, item);
    if (isNumber(item)) {
      if (isGiven(argument, asked)) return true;
      // A number may be a count.
      const numbers = context.said.numbers.flatMap(({ text, value }) => (/\p{Nd}/u.test(text) ? [value] : []));
      return numbers.length > 0 && isAmong(name, { values: numbers, words: [], isList });
    }
    const isOnly = graph.identifiersOf(tool).length === 1;
    const codes = doubtfulCodesIn(asked, argument, isOnly);
    if (codes.length > 0) return isAmong(name, { values: codes, words: spansOf(context.texts), isList });
    return isGiven(argument, asked);
  }

  function hasValue(name: string, schema: JsonSchema): boolean {
    if (!isText(schema) || schema.format === undefined) return true;
    const place = { name, schema, required: true };
    return candidatesFor(place, { ...context, spans: spansOf(context.texts) }).length > 0;
  }
}

/** Tools whose results may provide a required identifier that the request lacks. */
export function producersOf(tool: Tool, { view, request }: { view: View; request: Request }): ReadonlySet<Tool> {
  const missing = missingIdentifiers(tool, { view, request });
  const provisions = missing.flatMap(({ name }) => producerGraph(view).provisionsFor(tool, name));
  return new Set(provisions.flatMap(({ producer, score }) => (score >= MIN_SCORE ? [producer] : [])));
}

/** Required identifiers of a tool that the request does not give. */
function missingIdentifiers(tool: Tool, { view, request }: { view: View; request: Request }): Argument[] {
  const isMissing = (argument: Argument) => argument.isRequired && argument.isIdentifier && !isGiven(argument, request);
  return producerGraph(view).argumentsOf(tool).filter(isMissing);
}

/**
 * The best provisions for the argument, of distinct tools: by a tool whose own key the request gives, else those with the highest
 * score, in the order of selection; of those that read if there are any, since nobody asked for an effect.
 */
export function bestProvisions(
  consumer: Tool,
  provisions: readonly Provision[],
  { tools, ...parts }: { view: View; request: Request; tools: readonly Tool[] },
): Provision[] {
  const keyed = provisions.find(({ producer }) => isKeyed(producer, consumer, parts));
  if (keyed) return [keyed];
  const readers = provisions.filter(({ producer }) => producer.risk === 'low');
  const preferred = readers.length > 0 ? readers : provisions;
  const equal = preferred.filter(({ score }) => score === preferred[0]?.score);
  const producers = new Set([...tools, ...equal.map(({ producer }) => producer)]);
  return [...producers].flatMap((tool) => equal.find(({ producer }) => producer === tool) ?? []);
}

/** Whether the request gives the identifiers by which the tool finds its result, such as the number of an order for its id. */
function isKeyed(producer: Tool, consumer: Tool, { view, request }: { view: View; request: Request }): boolean {
  const { argumentsOf } = producerGraph(view);
  const own = argumentsOf(consumer).map(({ name }) => name);
  const keys = argumentsOf(producer).filter(({ isRequired, isIdentifier }) => isRequired && isIdentifier);
  return keys.length > 0 && keys.every((key) => !own.includes(key.name) && isGiven(key, request));
}

/** Whether the provision is sure enough, and its tool only reads. */
export function isLookup({ producer, score }: Provision): boolean {
  return score >= MIN_SCORE && producer.risk === 'low';
}

/**
 * Provisions of each optional identifier by tools that find it by words, if the request has no word of its form.
 *
 * @param about.consumers tools that wait for this one, which find nothing for it
 */
export function lookupsOf(
  tool: Tool,
  { handles, consumers }: { handles: SourceContext['handles']; consumers: readonly Tool[] },
  { view, request }: { view: View; request: Request },
): Map<string, readonly Provision[]> {
  const graph = producerGraph(view);
  const isOpen = (provision: Provision) =>
    isLookup(provision) &&
    !consumers.includes(provision.producer) &&
    missingIdentifiers(provision.producer, { view, request }).length === 0 &&
    findsByWords(provision.producer);
  const optional = graph
    .argumentsOf(tool)
    .filter(({ name, isRequired }) => !isRequired && handles.get(name)?.isGiven === false);
  const found = optional.map(({ name }) => [name, graph.provisionsFor(tool, name).filter(isOpen)] as const);
  return new Map(found.filter(([, provisions]) => provisions.length > 0));

  function findsByWords(producer: Tool): boolean {
    const root = fittedSchemas(producer).input;
    const given = graph.argumentsOf(producer).filter(({ isIdentifier }) => !isIdentifier);
    return given.some(({ schema }) => isFreeText(plainSchema(schema, root)));
  }
}

/** Whether the tool takes nothing but one text, which it requires. */
export function takesName(tool: Tool, { view }: { view: View }): boolean {
  return producerGraph(view).argumentsOf(tool).length === 1 && textsOf(tool, view).length === 1;
}

/** The one text that a lookup requires, with the words of a thing as its value; undefined if it does not take these. */
export function namedArgument(tool: Tool, words: string, { view }: { view: View }): NamedArgument | undefined {
  const root = fittedSchemas(tool).input;
  const [only, other] = textsOf(tool, view);
  if (!only || other || !boundsOf(plainSchema(only.schema, root))(words)) return undefined;
  return { name: only.name, value: words, from: 'request', isOnly: takesName(tool, { view }) };
}

/** @property isOnly whether the lookup takes nothing else */
type NamedArgument = Candidate & { readonly name: string; readonly isOnly: boolean };

/** The texts that a tool requires and people know. */
export function textsOf(tool: Tool, view: View): Argument[] {
  const root = fittedSchemas(tool).input;
  const isKnown = ({ isIdentifier, schema }: Argument) => !isIdentifier && isFreeText(plainSchema(schema, root));
  return producerGraph(view)
    .argumentsOf(tool)
    .filter((one) => one.isRequired && isKnown(one));
}

/** The text that counts as given: the message, the ask, which may add words of the history, and the history. */
export function saidIn({ message, history = [] }: Request, ask: string): string {
  return [message, ask, ...history.map(({ content }) => content)].join('\n');
}

/**
 * A result without a schema can provide anything but an identifier of another source; else the graph finds a field for the
 * argument, if its name is not generic.
 */
export function canProvide(producer: Tool, consumer: Tool, argument: string, view: View): boolean {
  if (fittedSchemas(producer).output === undefined) {
    const isIdentifier = producerGraph(view)
      .argumentsOf(consumer)
      .some((one) => one.name === argument && one.isIdentifier);
    return producer.origin === consumer.origin || !isIdentifier;
  }
  const provisions = stemsOf(argument).length > 1 ? producerGraph(view).provisionsFor(consumer, argument) : [];
  return provisions.some((one) => one.producer === producer && one.score >= MIN_SCORE);
}

/** Tools that may find a value for one: those that only read if there are any, since nobody asked for an effect. */
export function readersFor({ risk }: Tool, { tools }: { tools: readonly Tool[] }): readonly Tool[] {
  const readers = tools.filter((one) => one.risk === 'low');
  return readers.length > 0 ? readers : tools.filter((one) => !isAbove(one.risk, risk));
}

/** A day or time of one thing is seldom that of another: if nobody names it, the user is asked. */
export function withoutTimes(names: readonly string[], tool: Tool): string[] {
  const root = fittedSchemas(tool).input;
  return names.filter((name) => formOf(plainSchema(Object(root.properties)[name], root)) === undefined);
}

function formatOf({ schema }: Argument, root: JsonSchema): unknown {
  const plain = plainSchema(schema, root);
  return plain.format ?? plainSchema(plain.items, root).format;
}

/** Tools of low risk whose results have a value of that format, such as an email address, but no day or time. @see withoutTimes */
function byFormat(format: unknown, consumer: Tool, tools: readonly Tool[]): Provision[] {
  if (formOf({ format }) !== undefined) return [];
  const readers = tools.filter((tool) => tool !== consumer && tool.risk === 'low');
  return readers.flatMap((producer) => {
    const field = resultFields(fittedSchemas(producer).output).find(({ schema }) => schema.format === format);
    return field && format !== undefined ? [{ producer, path: field.path, score: MIN_SCORE }] : [];
  });
}

/** The value of an argument that a field of a step's result provides, in a list if the argument is one and the field is not. */
export function referenceTo(
  step: string,
  { producer, path }: Provision,
  { tool, argument }: { tool: Tool; argument: string },
): string | readonly string[] {
  const isList = isListArgument(tool, argument);
  const field = producer.outputSchema && subschemaAt(producer.outputSchema, path);
  // The model names the field of a result without a schema.
  const value = producer.outputSchema ? reference(step, path) : openReference(step);
  return isList && !(isObject(field) && field.type === 'array') ? [value] : value;
}

export function isListArgument(tool: Tool, name: string): boolean {
  const root = fittedSchemas(tool).input;
  return plainSchema(Object(root.properties)[name], root).type === 'array';
}

/** `${s1.rooms[0].id}` */
export function reference(step: string, path: Provision['path']): string {
  const rendered = renderPath(path);
  return `\${${step}${rendered === '' || rendered.startsWith('[') ? '' : '.'}${rendered}}`;
}
