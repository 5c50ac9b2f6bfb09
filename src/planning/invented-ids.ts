/**
 * Identifiers that a step needs and nobody gave: the model made them up ("12345", "example@example.com"), and the step
 * would run on what nobody meant. Of 478 such arguments in the plans that benchmarks and fixtures hold to be right, 8 are
 * of this kind, and 4 of these belong to users whose profile says them.
 */
import type { JsonSchema, Tool } from '../catalog/tool.js';
import type { Step } from '../result.js';
import { fittedSchemas } from './fitted.js';
import { findReferences } from './references.js';
import { inside, requiredAt } from './required-at.js';

export interface InventedId {
  readonly tool: string;
  /** For the repair and the trace. Without the value, which may be a secret. */
  readonly problem: string;
}

export function inventedIds(
  steps: readonly Step[],
  { tools, said }: { tools: ReadonlyMap<string, Tool>; said: string },
): InventedId[] {
  const heard = plain(said);
  return steps.flatMap(({ id, tool: name, arguments: values }) => {
    const tool = tools.get(name);
    return (requiredAt(tool) ?? []).flatMap((argument): InventedId[] => {
      const schema = inside(tool && fittedSchemas(tool).input, argument) ?? {};
      const value = values[argument];
      if (!isIdentifier(argument) || value === undefined || isKnown(value, { argument, schema, heard })) return [];
      const advice = 'leave the step out, refer to a step that finds it, or ask for it';
      return [{ tool: name, problem: `${id}.arguments.${argument}: nobody gave this identifier; ${advice}` }];
    });
  });
}

/** Not keys, paths and addresses of the web: these may be new, or known to all. */
const IDENTIFIERS = /(?:^|[^\p{L}])(?:id|uuid|guid|e?mail|phone)$/iu;
const IDENTIFIERS_IN_CAMEL_CASE = /[\p{Ll}\d](?:I[dD]|U?UID|Uuid|Guid|E?[mM]ail|Phone)$/u;

function isIdentifier(argument: string): boolean {
  return IDENTIFIERS.test(argument) || IDENTIFIERS_IN_CAMEL_CASE.test(argument);
}

/** "user 1": small numbers count things, and codes like `US` and `en` are known to all. */
const SMALL = 12;
const CODE = /^\p{L}{1,3}$/u;
const NOTHING = /^(?:null|none|n\/?a|undefined)?$/iu;

interface Place {
  argument: string;
  schema: JsonSchema;
  /** In plain form. */
  heard: string;
}

function isKnown(value: unknown, { argument, schema, heard }: Place): boolean {
  if (typeof value === 'number') return Math.abs(value) <= SMALL || heard.includes(String(value));
  if (typeof value !== 'string' || findReferences(value).length > 0) return true;
  const text = plain(value);
  if (CODE.test(text) || NOTHING.test(value.trim())) return true;
  if (heard.includes(text) || plain(JSON.stringify(schema)).includes(text)) return true;
  // `game_engine_id` as engine_id: a name in the place of a value.
  if (text.endsWith(plain(argument))) return false;
  const words = value
    .split(/[^\p{L}\p{N}]+/u)
    .map(plain)
    .filter(Boolean);
  return words.filter((word) => heard.includes(word)).length * 2 > words.length;
}

/** Only what identifiers consist of: "+1 (555) 01-23" and "15550123" are the same. */
function plain(text: string): string {
  return text
    .normalize('NFKC')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, '');
}
