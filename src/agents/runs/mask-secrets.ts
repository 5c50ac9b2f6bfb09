/**
 * Masks secrets before a run is stored: the fields of arguments and results that the tool's schemas mark. Resuming a
 * run asks again for those that later steps need.
 */
import { isDeepStrictEqual } from 'node:util';
import { isContainer, isObject, leavesOf, mapLeaves } from '../../core/catalog/schema/json.js';
import { secretArgumentNames } from '../../core/catalog/schema/secrets.js';
import type { JsonSchema, Tool } from '../../core/catalog/tool.js';
import { oncePer } from '../../core/kept.js';
import { findReferences, type Reference, type Root, referencesIn } from '../../core/planning/references.js';
import { createKeyMask, MASK } from '../../core/secret-forms.js';
import { mapSecrets } from '../calls/hide-secrets.js';
import type { ParsedPlan, ParsedStep, StepState } from './plan-run.js';
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

/** Masks each secret found everywhere in the run: in echoes, and in arguments of later steps. */
export function createMasking(secretsOf: SecretsOf) {
  const secrets = new Set<string>();

  function hide(value: unknown, tool: string, place?: 'input' | 'output'): unknown {
    return hideKnown(mark(value, tool, place));
  }

  /** Masks marked values, and remembers them. */
  function mark(value: unknown, tool: string, place?: 'input' | 'output'): unknown {
    const known = secretsOf(tool);
    const schema = place && known?.[place];
    const marked = schema && value !== undefined ? mapSecrets(schema, value, () => MASK) : value;
    const masked = maskFields(marked, new Set(known?.names));
    collect(value, masked);
    return masked;
  }

  function hideKnown(masked: unknown): unknown {
    return mapTexts(masked, createKeyMask([...secrets]));
  }

  function hideSteps(plan: ParsedPlan): ParsedStep[] {
    return plan.steps.map((step) => {
      const kept = keepReferences(step.arguments, hide(step.arguments, step.tool, 'input'), rootsOf(plan, step));
      return { ...step, arguments: isObject(kept) ? kept : {} };
    });
  }

  /** An input that is used in a secret argument is secret, too. */
  function hideInputs(plan: ParsedPlan): ParsedPlan['inputs'] {
    if (!plan.inputs) return undefined;
    const names = plan.steps.flatMap((step) => secretInputsOf(step, mark(step.arguments, step.tool, 'input')));
    const inputs = Object.entries(plan.inputs).map(([name, input]) => {
      if (!names.includes(name) || input.value === undefined) return [name, input] as const;
      collect(input.value, MASK);
      return [name, { ...input, value: MASK, isMasked: true as const }] as const;
    });
    // An input may contain the secret of another.
    const hidden = inputs.map(([name, input]) => [name, { ...input, ...hiddenValue(input.value) }]);
    return Object.fromEntries(hidden);
  }

  function hiddenValue(value: unknown): { value?: unknown; isMasked?: true } {
    const hidden = hideKnown(value);
    return isDeepStrictEqual(hidden, value) ? {} : { value: hidden, isMasked: true };
  }

  function collect(given: unknown, masked: unknown): void {
    if (masked === MASK) for (const text of textsIn(given)) secrets.add(text);
    else if (isContainer(given) && isContainer(masked))
      for (const [name, part] of Object.entries(given)) collect(part, Reflect.get(masked, name));
  }

  return {
    value: (value: unknown, tool: string) => hide(value, tool, 'output'),
    /** Masks these from now on, too. */
    remember: (values: readonly unknown[]) => collect(values, MASK),
    /** Leaves references, which are no secrets and which the run needs. */
    plan(plan: ParsedPlan): ParsedPlan {
      // First, since steps may contain values of inputs.
      const inputs = hideInputs(plan);
      return { ...plan, ...(inputs ? { inputs } : {}), steps: hideSteps(plan) };
    },
    /** @param isLoop the output is the list of its items' outputs. Default: false */
    state(state: StepState, tool: string, isLoop = false): StepState {
      const { arguments: given, output, failure, notes } = state;
      const open = { arguments: given, output, failure, notes };
      const marked = {
        arguments: mark(given, tool, 'input'),
        output:
          isLoop && Array.isArray(output)
            ? output.map((item) => mark(item, tool, 'output'))
            : mark(output, tool, 'output'),
        failure: mark(failure, tool),
        notes: mark(notes, tool),
      };
      const hidden = hideKnown(marked);
      return isDeepStrictEqual(hidden, open) ? state : { ...state, ...Object(hidden), isMasked: true };
    },
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

function mapTexts(given: unknown, map: (text: string) => string): unknown {
  return mapLeaves(given, (value) => {
    if (typeof value === 'string') return map(value);
    // Numbers are masked only as a whole.
    return typeof value === 'number' && map(String(value)) === MASK ? MASK : value;
  });
}

function keepReferences(given: unknown, masked: unknown, roots: readonly Root[]): unknown {
  if (typeof given === 'string') return findReferences(given, roots)[0]?.whole ? given : masked;
  if (Array.isArray(given) && Array.isArray(masked))
    return given.map((item, index) => keepReferences(item, masked[index], roots));
  if (!isObject(given) || !isObject(masked)) return masked;
  const kept = Object.entries(given).map(([name, value]) => [name, keepReferences(value, masked[name], roots)]);
  return Object.fromEntries(kept);
}

/** Names of inputs that are used in masked arguments; `item` stands for the list of the loop. */
function secretInputsOf({ arguments: given, each }: ParsedStep, masked: unknown): string[] {
  const found = maskedReferences(given, masked);
  const ofLoop = found.some(({ step }) => step === 'item') ? referencesIn(each, ['input']) : [];
  return [...found, ...ofLoop].filter(({ step }) => step === 'input').map(({ path: [name] }) => String(name));
}

function maskedReferences(given: unknown, masked: unknown): Reference[] {
  if (masked === MASK) return referencesIn(given, ROOTS);
  if (!isContainer(given) || !isContainer(masked)) return [];
  return Object.entries(given).flatMap(([name, part]) => maskedReferences(part, Reflect.get(masked, name)));
}

export function isMasked(value: unknown): boolean {
  return JSON.stringify(value)?.includes(MASK) === true;
}
