/** Mends the keywords that hold values: enum, const, default, bounds. */

import type { JsonSchema } from '../tool.js';
import type { FitContext, Say } from './fit-context.js';
import {
  type Draft,
  isObject,
  isOfType,
  type JsonType,
  jsonTypeOf,
  sameJson,
  showJson,
  typeKeyword,
  typesOf,
  withoutRepeats,
} from './json.js';
import { inKeywordOrder } from './keywords.js';

export function fitEnum(draft: Draft, context: FitContext, say: Say): void {
  if (!('enum' in draft)) return;
  if (!Array.isArray(draft.enum)) readEnumText(draft, say);
  if (!Array.isArray(draft.enum)) return;
  const values = withoutRepeats(draft.enum);
  if (values.length < draft.enum.length) say('repeated enum values left out');
  draft.enum = values;
  if (values.length === 0) {
    delete draft.enum;
    context.misread = true;
    say('an empty `enum` allows nothing: left out');
    return;
  }
  fitToType(draft, context, say);
}

/** Seen in the wild: `"enum": "1-100"` for a range, `"enum": "asc, desc"` for a list. */
function readEnumText(draft: Draft, say: Say): void {
  const written = draft.enum;
  delete draft.enum;
  const range = typeof written === 'string' ? /^\s*(-?\d+)\s*(?:-|\.\.|to)\s*(-?\d+)\s*$/.exec(written) : null;
  const types = typesOf(draft);
  if (range && types.some((type) => type === 'integer' || type === 'number')) {
    draft.minimum ??= Number(range[1]);
    draft.maximum ??= Number(range[2]);
    say(`enum ${showJson(written)} written as minimum and maximum`);
    return;
  }
  const parts = typeof written === 'string' ? written.split(/[,|]/).map((part) => part.trim()) : [];
  const values = parts.filter((part) => part !== '');
  if (values.length > 1 && (types.length === 0 || types.includes('string'))) {
    draft.enum = values;
    say(`enum ${showJson(written)} written as a list`);
    return;
  }
  addToDescription(draft, `Allowed: ${typeof written === 'string' ? written : showJson(written)}`);
  say(`enum ${showJson(written)} is no list: moved to the description`);
}

function fitToType(draft: Draft, context: FitContext, say: Say): void {
  const types = typesOf(draft);
  const values = Array.isArray(draft.enum) ? draft.enum : [];
  if (types.length === 0) return;
  const fitting = values.filter((value) => isOfType(value, types));
  if (fitting.length === values.length) return;
  const rest = values.filter((value) => !isOfType(value, types));
  if (fitting.length > 0) {
    draft.enum = fitting;
    say(`enum values that are not of type ${types.join(' or ')} left out: ${showJson(rest)}`);
    return;
  }
  context.misread = true;
  if (types.includes('array') && enumOfElements(draft, values, say)) return;
  const converted = values.map((value) => convert(value, types));
  if (converted.every((value) => value !== undefined)) {
    draft.enum = withoutRepeats(converted);
    say(`enum values written as ${types.join(' or ')}`);
  } else {
    delete draft.type;
    say(`no enum value is of type ${types.join(' or ')}: the enum stands, the type is left out`);
  }
}

/** `{type: "array", enum: ["a", "b"]}` lists what an element may be. */
function enumOfElements(draft: Draft, values: readonly unknown[], say: Say): boolean {
  const items: JsonSchema = isObject(draft.items) ? draft.items : {};
  const types = typesOf(items);
  if ('enum' in items || (types.length > 0 && !values.every((value) => isOfType(value, types)))) return false;
  delete draft.enum;
  const elementTypes = [...new Set(values.map(jsonTypeOf))];
  draft.items = inKeywordOrder({ type: typeKeyword(elementTypes), ...items, enum: values });
  say('the enum of a list is that of its elements: moved to `items`');
  return true;
}

export function fitDefault(draft: Draft, say: Say): void {
  if (!('default' in draft)) return;
  const types = typesOf(draft);
  const written = draft.default;
  if (types.length > 0 && !isOfType(written, types)) {
    const converted = convert(written, types);
    if (converted === undefined) delete draft.default;
    else draft.default = converted;
    const fate = converted === undefined ? 'left out' : `written as ${showJson(converted)}`;
    say(`default ${showJson(written)} is not of type ${types.join(' or ')}: ${fate}`);
  }
  if (!('default' in draft) || !Array.isArray(draft.enum)) return;
  if (draft.enum.some((value) => sameJson(value, draft.default))) return;
  say(`default ${showJson(draft.default)} is none of the enum: left out`);
  delete draft.default;
}

/** Only where nothing is lost: "10" for a number, "true" for a boolean, 5 for a string. */
function convert(value: unknown, types: readonly JsonType[]): unknown {
  if (typeof value === 'string') {
    const parsed = parseScalar(value.trim());
    return parsed !== undefined && isOfType(parsed, types) ? parsed : undefined;
  }
  const plain = typeof value === 'number' || typeof value === 'boolean';
  return plain && types.includes('string') ? String(value) : undefined;
}

function parseScalar(text: string): unknown {
  if (/^(true|false)$/i.test(text)) return text.toLowerCase() === 'true';
  return /^-?(0|[1-9]\d{0,14})(\.\d{1,10})?$/.test(text) ? Number(text) : undefined;
}

const LIMITS = ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf'];
const COUNTS = ['minLength', 'maxLength', 'minItems', 'maxItems', 'minProperties', 'maxProperties', 'minContains'];
const FLAGS = ['uniqueItems', 'deprecated', 'readOnly', 'writeOnly'];
const PAIRS = [
  ['minimum', 'maximum'],
  ['minLength', 'maxLength'],
  ['minItems', 'maxItems'],
  ['minProperties', 'maxProperties'],
] as const;

export function fitBounds(draft: Draft, context: FitContext, say: Say): void {
  for (const keyword of [...LIMITS, ...COUNTS, 'maxContains', ...FLAGS]) {
    if (!(keyword in draft)) continue;
    const written = draft[keyword];
    const value = typeof written === 'string' ? parseScalar(written.trim()) : written;
    const usable = isUsableBound(keyword, value);
    if (usable) draft[keyword] = value;
    else delete draft[keyword];
    if (value !== written || !usable) {
      say(
        `\`${keyword}: ${showJson(written)}\` ${usable ? `written as ${showJson(value)}` : 'is not usable: left out'}`,
      );
    }
  }
  for (const [low, high] of PAIRS) {
    if (typeof draft[low] !== 'number' || typeof draft[high] !== 'number' || draft[low] <= draft[high]) continue;
    say(`\`${low}: ${draft[low]}\` is above \`${high}: ${draft[high]}\`: both left out`);
    delete draft[low];
    delete draft[high];
    context.misread = true;
  }
}

function isUsableBound(keyword: string, value: unknown): boolean {
  if (FLAGS.includes(keyword)) return typeof value === 'boolean';
  if (typeof value !== 'number' || !Number.isFinite(value)) return false;
  if (LIMITS.includes(keyword)) return keyword !== 'multipleOf' || value > 0;
  return Number.isInteger(value) && value >= 0;
}

export function addToDescription(draft: Draft, text: string): void {
  const before = typeof draft.description === 'string' ? draft.description.trim() : '';
  draft.description = before === '' ? text : `${before} (${text})`;
}
