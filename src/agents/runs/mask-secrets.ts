/**
 * Masks secrets before a run is stored: the fields of arguments and results that the tool's schemas mark. Resuming a
 * run asks again for those that later steps need.
 */
import { isDeepStrictEqual } from 'node:util';
import { isContainer, isObject, leavesOf, mapLeaves } from '../../core/catalog/schema/json.js';
import { mapSecrets, secretArgumentNames } from '../../core/catalog/schema/secrets.js';
import type { JsonSchema, Tool } from '../../core/catalog/tool.js';
import { WinnowError } from '../../core/errors.js';
import { oncePer } from '../../core/kept.js';
import { findReferences, type Reference, type Root, referencesIn } from '../../core/planning/references.js';
import { createKeyMask, LARGE, MASK } from '../../core/secret-forms.js';
import { type ParsedPlan, type ParsedStep, type StepState, stepOf } from './plan-run.js';
import { rootsOf } from './step-order.js';

/** The secrets among a tool's arguments and results. */
export interface Secrets {
  /** Names of the fields that its schemas mark; masked at any depth, so echoes are, too. */
  readonly names: readonly string[];
  /** Its schemas, which may also mark nameless parts, such as items of a list. */
  readonly input: JsonSchema;
  readonly output: JsonSchema | undefined;
}
const secretsIn = oncePer(
  ({ inputSchema: input, outputSchema: output }: Tool): Secrets => ({
    names: [input, output ?? {}].flatMap(secretArgumentNames),
    input,
    output,
  }),
);

/** @returns undefined for an unknown tool */
export type SecretsOf = (tool: string) => Secrets | undefined;

export function secretsAmong(find: (name: string) => Tool | undefined): SecretsOf {
  return (name) => {
    const tool = find(name);
    return tool && secretsIn(tool);
  };
}

const ROOTS: readonly Root[] = ['item', 'input'];
type Input = NonNullable<ParsedPlan['inputs']>[string];

/** Characters of all secrets of a run that are looked for; a large one, which costs less, counts for a tenth. */
const MOST_SECRET_CHARACTERS = 16_384;

/**
 * Masks each secret found everywhere in the run: in echoes, in arguments of later steps, and in the plan's words. Once results
 * have more secrets than can be looked for, each text is masked as a whole; a plan that has more is refused.
 */
export function createMasking(secretsOf: SecretsOf) {
  const secrets = new Set<string>();
  let room = MOST_SECRET_CHARACTERS;
  /** Made anew after a secret was added. */
  let mask: ((text: string) => string) | undefined;

  /** Masks marked values, and remembers them. */
  function mark(value: unknown, tool: string, place?: 'input' | 'output'): unknown {
    const known = secretsOf(tool);
    const schema = place && known?.[place];
    const marked = schema && value !== undefined ? mapSecrets(schema, value, () => MASK) : value;
    const masked = known && known.names.length > 0 ? maskFields(marked, new Set(known.names)) : marked;
    if (masked !== value) collect(value, masked);
    return masked;
  }

  function collect(given: unknown, masked: unknown): void {
    if (masked === MASK) for (const text of textsIn(given)) remember(text);
    else if (isContainer(given) && isContainer(masked))
      for (const [name, part] of Object.entries(given)) collect(part, Reflect.get(masked, name));
  }

  function remember(secret: string): void {
    if (secrets.has(secret)) return;
    room -= secret.length > LARGE ? LARGE / 10 : secret.length;
    if (room < 0) return;
    mask = undefined;
    secrets.add(secret);
  }

  /** @throws WinnowError `invalid_request` if what is read has more secrets than can be looked for */
  function refusing<T>(read: () => T): T {
    const before = room;
    const value = read();
    if (before < 0 || room >= 0) return value;
    const what = `more than ${MOST_SECRET_CHARACTERS} characters of secrets, by the marks of its tools`;
    throw new WinnowError('invalid_request', `The plan has ${what}: split it, or give less at once.`);
  }

  function hideText(text: string): string {
    if (room < 0) return MASK;
    mask ??= createKeyMask([...secrets]);
    return mask(text);
  }

  const hideKnown = (marked: unknown) => (secrets.size === 0 ? marked : mapLeaves(marked, hideLeaf));

  function hideLeaf(value: unknown): unknown {
    if (typeof value === 'string') return hideText(value);
    if (room < 0) return typeof value === 'number' ? MASK : value;
    // Numbers are masked only as a whole.
    return typeof value === 'number' && secrets.has(`${value}`) && hideText(`${value}`) === MASK ? MASK : value;
  }

  /** The steps as marked, and what they use as secrets: these inputs and places of results are secret, too. */
  const learn = oncePer(({ steps, inputs = {} }: ParsedPlan) => {
    const marked = steps.map((step) => mark(step.arguments, step.tool, 'input'));
    const used = usedAsSecrets(steps, marked);
    const names = new Set(used.parts.get('input')?.parts.keys());
    for (const [name, { value }] of Object.entries(inputs)) if (names.has(name)) collect(value, MASK);
    return { marked, used, names };
  });

  /** For a loop the output is the list of its items' outputs. */
  function markOutput({ id, output }: StepState, step: ParsedStep, plan: ParsedPlan): unknown {
    const isItem = id !== step.id;
    const marked =
      step.each !== undefined && !isItem && Array.isArray(output)
        ? output.map((item) => mark(item, step.tool, 'output'))
        : mark(output, step.tool, 'output');
    const places = placesIn([learn(plan).used], step.id);
    const masked = maskPlaces(marked, isItem ? placesIn(places, id.slice(step.id.length + 1, -1)) : places);
    if (masked !== marked) collect(output, masked);
    return masked;
  }

  function hideInput(input: Input, isSecret: boolean): Input {
    const { description, value } = input;
    const hidden = isSecret && value !== undefined ? MASK : hideKnown(value);
    // A value that is no secret may contain one.
    const isOpen = hidden === value || (!isSecret && isDeepStrictEqual(hidden, value));
    const words = description === undefined ? {} : { description: hideText(description) };
    return { ...input, ...words, ...(isOpen ? {} : { value: hidden, isMasked: true }) };
  }

  /** Leaves names and references, which are no secrets and which the run needs. */
  function hideStep(step: ParsedStep, marked: unknown, roots: readonly Root[]): ParsedStep {
    const hidePart = (given: unknown, part: unknown): unknown => {
      if (typeof given === 'string' && isReference(given, roots)) return given;
      if (part === MASK) return MASK;
      if (!isContainer(given) || !isContainer(part)) return hideLeaf(given);
      if (Array.isArray(given) && Array.isArray(part)) return given.map((item, at) => hidePart(item, part[at]));
      return Object.fromEntries(
        Object.entries(given).map(([name, it]) => [name, hidePart(it, Reflect.get(part, name))]),
      );
    };
    const isOpen = secrets.size === 0 && marked === step.arguments;
    const kept = isOpen ? step.arguments : hidePart(step.arguments, marked);
    const { when } = step;
    return {
      ...step,
      purpose: hideText(step.purpose),
      ...(when && 'to' in when ? { when: { ...when, to: hideKnown(when.to) } } : {}),
      arguments: isObject(kept) ? kept : {},
    };
  }

  return {
    value: (value: unknown, tool: string) => hideKnown(mark(value, tool, 'output')),
    /** Masks these from now on, too. */
    remember: (values: readonly unknown[]) => refusing(() => collect(values, MASK)),
    /** Masks the secrets of this plan from now on, too. */
    learn: (plan: ParsedPlan) => void refusing(() => learn(plan)),
    /** Masks the secrets among these arguments from now on, too. */
    learnCall: (given: unknown, tool: string) => void mark(given, tool, 'input'),
    text: hideText,
    plan(plan: ParsedPlan): ParsedPlan {
      const { marked, names } = refusing(() => learn(plan));
      const inputs = Object.entries(plan.inputs ?? {}).map(([name, one]) => [name, hideInput(one, names.has(name))]);
      return {
        ...plan,
        goal: hideText(plan.goal),
        ...(plan.inputs ? { inputs: Object.fromEntries(inputs) } : {}),
        steps: plan.steps.map((step, at) => hideStep(step, marked[at], rootsOf(plan, step))),
      };
    },
    /** @param plan that the step belongs to */
    state(state: StepState, plan: ParsedPlan): StepState {
      const { arguments: given, output, failure, notes } = state;
      const open = { arguments: given, output, failure, notes };
      const step = plan.steps.find(({ id }) => id === stepOf(state.id));
      const tool = step?.tool ?? '';
      const marked = {
        arguments: mark(given, tool, 'input'),
        output: step ? markOutput(state, step, plan) : output,
        failure: mark(failure, tool),
        notes: mark(notes, tool),
      };
      const hidden = hideKnown(marked);
      return isDeepStrictEqual(hidden, open) ? state : { ...state, ...Object(hidden), isMasked: true };
    },
  };
}

/** Masks the secrets among the arguments of a call in texts about it, such as the words of a tool that failed. */
export function maskOfCall(tool: Tool | undefined, given: unknown): (text: string) => string {
  let masking: ReturnType<typeof createMasking> | undefined;
  return (text) => {
    if (!tool) return text;
    if (!masking) {
      masking = createMasking(secretsAmong(() => tool));
      masking.learnCall(given, tool.name);
    }
    return masking.text(text);
  };
}

function maskFields(value: unknown, secret: ReadonlySet<string>): unknown {
  if (Array.isArray(value)) return value.map((item) => maskFields(item, secret));
  if (!isObject(value)) return value;
  const fields = Object.entries(value).map(([name, part]) => [
    name,
    secret.has(name) ? MASK : maskFields(part, secret),
  ]);
  return Object.fromEntries(fields);
}

function textsIn(given: unknown): string[] {
  return leavesOf(given).flatMap(({ value }) => {
    if (typeof value === 'string') return findReferences(value, ROOTS).length > 0 ? [] : [value];
    return typeof value === 'number' ? [String(value)] : [];
  });
}

/** Whether the text is one reference and nothing else. The quick look saves the search in plain texts. */
function isReference(text: string, roots: readonly Root[]): boolean {
  return text.startsWith('${') && findReferences(text, roots)[0]?.whole === true;
}

/** Where references lead, as a tree of names; `undefined` stands for each item of a list. */
interface Place {
  isSecret: boolean;
  readonly parts: Map<string | undefined, Place>;
}

/** What masked arguments refer to: a step or `input`, and below it the path. For `item` it is the list of the loop. */
function usedAsSecrets(steps: readonly ParsedStep[], masked: readonly unknown[]): Place {
  const root: Place = { isSecret: false, parts: new Map() };
  for (const [at, { arguments: given, each }] of steps.entries()) {
    const found = maskedReferences(given, masked[at]);
    const [list] = found.some(({ step }) => step === 'item') ? referencesIn(each, ['input']) : [];
    const item = list && placeAt(root, [list.step, ...list.path, undefined]);
    for (const { step, path } of found) {
      const from = step === 'item' ? item : placeAt(root, [step]);
      if (from) placeAt(from, path).isSecret = true;
    }
  }
  return root;
}

function placeAt(from: Place, path: readonly (string | number | undefined)[]): Place {
  return path.reduce<Place>((place, part) => {
    const name = part === undefined ? part : String(part);
    const next = place.parts.get(name) ?? { isSecret: false, parts: new Map() };
    place.parts.set(name, next);
    return next;
  }, from);
}

function placesIn(places: readonly Place[], name: string): Place[] {
  return places.flatMap(({ parts }) => [parts.get(name) ?? [], parts.get(undefined) ?? []].flat());
}

function maskPlaces(value: unknown, places: readonly Place[]): unknown {
  if (value === undefined || places.length === 0) return value;
  if (places.some(({ isSecret }) => isSecret)) return MASK;
  if (Array.isArray(value)) return value.map((item, at) => maskPlaces(item, placesIn(places, `${at}`)));
  if (!isObject(value)) return value;
  const fields = Object.entries(value);
  return Object.fromEntries(fields.map(([name, part]) => [name, maskPlaces(part, placesIn(places, name))]));
}

function maskedReferences(given: unknown, masked: unknown): Reference[] {
  if (masked === MASK) return referencesIn(given, ROOTS);
  if (!isContainer(given) || !isContainer(masked)) return [];
  return Object.entries(given).flatMap(([name, part]) => maskedReferences(part, Reflect.get(masked, name)));
}

export function isMasked(value: unknown): boolean {
  if (typeof value === 'string') return value.includes(MASK);
  return isContainer(value) && holdsMask(value);
}

/** Looked at once, since many references may lead to it. */
const holdsMask = oncePer((value: object) => JSON.stringify(value).includes(MASK));
