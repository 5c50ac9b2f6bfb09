/** Decides the arguments of one step: writes them, and once more without what another request would get as well. */
import { fittedSchemas } from '../../catalog/schema/normalise.js';
import { shownTool } from '../../catalog/shown.js';
import type { JsonSchema, Tool } from '../../catalog/tool.js';
import type { SourceName } from '../../result.js';
import { type Names, writeObject } from './arguments.js';
import type { OwnText } from './choice.js';
import { type Awaiting, type Example, findAwaited, findCopied, findNotGiven, type OptionalValue } from './given.js';
import { findHandedOver } from './hand-over.js';
import { createJsonWriter } from './json-writer.js';
import type { TakenWords } from './options.js';
import type { Open } from './read.js';
import type { Candidate, SourceContext } from './sources.js';

export const OPENING = '{';

interface DecidedArguments {
  readonly arguments: Record<string, unknown>;
  readonly from: Record<string, SourceName>;
  readonly missing: readonly string[];
  readonly probability: number;
  readonly taken: TakenWords;
  /** Optional identifiers for which the request wants a lookup; none if an argument is missing. */
  readonly awaited: readonly string[];
}

type ReadPrompt = <T>(use: (open: Open) => Promise<T>) => Promise<T>;

/**
 * @param question.readUnasked the same prompt without a request
 * @param question.readImplied the same prompt with what the tool that waits for the result says of itself in place of the request
 * @param question.settled references to earlier steps, or the next value of a repeated call
 * @param question.lookups optional identifiers that another tool finds
 */
export async function decideArguments(
  tool: Tool,
  question: {
    read: ReadPrompt;
    readUnasked: ReadPrompt;
    readImplied: ReadPrompt | undefined;
    context: SourceContext;
    settled: ReadonlyMap<string, Candidate>;
    taken: TakenWords;
    lookups: Names;
  },
): Promise<DecidedArguments> {
  const { read, readUnasked, readImplied, context, settled, lookups } = question;
  const root = fittedSchemas(tool).input;
  const { description } = shownTool(tool);
  const notGiven = new Set<string>();
  const refused = new Map<string, string>();
  const handedOver = new Map<string, Candidate>();
  for (;;) {
    const optionals: OptionalValue[] = [];
    const taken = new Map(question.taken);
    const awaiting: Awaiting[] = [];
    const examples: Example[] = [];
    const own: OwnText[] = [];
    const isLookup = readImplied !== undefined;
    const known = {
      root,
      description,
      context,
      settled,
      depth: 0,
      taken,
      notGiven,
      refused,
      handedOver,
      lookups,
      isLookup,
    };
    const writing = { ...known, optionals, awaiting, examples, own };
    const before = refused.size;
    const { handed, value, ...rest } = await read(async (open) => {
      const written = await writeObject(root, { ...writing, open, writer: createJsonWriter(open) });
      const isTimed = Object.values(written.from).includes('computed');
      return { ...written, handed: await findHandedOver(own, context, { taken, isTimed }, open) };
    });
    if (handed) {
      handedOver.set(handed.name, handed.text);
      continue;
    }
    const given = new Set(optionals);
    const compare = async (open: Open) => {
      for (const optional of await findNotGiven(optionals, 'unasked', open)) {
        optional.leaveOut();
        given.delete(optional);
      }
      for (const { name, text } of await findCopied(examples, open)) refused.set(name, text);
      return findAwaited(awaiting, open);
    };
    // With an argument missing, the caller decides again or asks the user.
    const isComplete = rest.missing.length === 0;
    const awaited = isComplete ? await readUnasked(compare) : [];
    const implied =
      isComplete && given.size > 0 ? await readImplied?.((open) => findNotGiven(given, 'implied', open)) : [];
    for (const { name, value: text, leaveOut } of implied ?? []) {
      if (refused.has(name)) leaveOut();
      else refused.set(name, String(text));
    }
    if (refused.size === before) return { arguments: inOrderOf(root, value), ...rest, taken, awaited };
  }
}

function inOrderOf({ properties }: JsonSchema, values: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const names = Object.keys(Object(properties)).filter((name) => name in values);
  return Object.fromEntries(names.map((name) => [name, values[name]]));
}
