/** Mends the keywords that hold text: title, description, format, pattern; and takes out what is no keyword. */
import type { Say } from './fit-context.js';
import { addToDescription } from './fit-values.js';
import { type Draft, isObject, showJson, typesOf } from './json.js';
import { isKeyword, SILENT_KEYWORDS } from './keywords.js';

/** Formats that small models know and servers take. */
const KNOWN_FORMATS = new Set([
  'date',
  'date-time',
  'time',
  'duration',
  'email',
  'hostname',
  'ipv4',
  'ipv6',
  'uri',
  'uuid',
]);
const FORMAT_ALIASES: ReadonlyMap<string, string> = new Map([
  ['datetime', 'date-time'],
  ['url', 'uri'],
  ['iri', 'uri'],
  ['idn-email', 'email'],
  ['guid', 'uuid'],
  ['host-name', 'hostname'],
  ['ip-address', 'ipv4'],
]);
/** Repeat the type and tell nothing more. */
const TYPE_FORMATS = new Set(['string', 'number', 'int32', 'int64', 'integer', 'float', 'double']);
const LONG_DESCRIPTION_CHARACTERS = 4000;

export function fitTexts(draft: Draft, say: Say): void {
  for (const keyword of ['title', 'description', 'contentEncoding', 'contentMediaType']) {
    const written = draft[keyword];
    if (written === undefined || typeof written === 'string') continue;
    if (keyword === 'description' && written !== null) {
      draft.description = Array.isArray(written) ? written.map(textOf).join(' ') : textOf(written);
    } else delete draft[keyword];
    say(`\`${keyword}\` is no text: ${keyword in draft ? 'written as one' : 'left out'}`);
  }
  const { description } = draft;
  if (typeof description === 'string' && description.length > LONG_DESCRIPTION_CHARACTERS) {
    say(`the description has ${description.length} characters, which every request that loads the tool pays for`);
  }
  if ('examples' in draft && !Array.isArray(draft.examples)) {
    draft.examples = isObject(draft.examples) ? Object.values(draft.examples) : [draft.examples];
    say('`examples` written as a list');
  }
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

export function fitFormat(draft: Draft, say: Say): void {
  if (!('format' in draft)) return;
  const written = draft.format;
  const format = typeof written === 'string' ? (FORMAT_ALIASES.get(written.toLowerCase()) ?? written) : undefined;
  const types = typesOf(draft);
  const takesText = types.length === 0 || types.includes('string');
  if (format !== undefined && takesText && KNOWN_FORMATS.has(format)) {
    if (format !== written) say(`format ${showJson(written)} written as "${format}"`);
    draft.format = format;
    return;
  }
  delete draft.format;
  if (format === undefined || TYPE_FORMATS.has(format)) {
    say(`format ${showJson(written)} adds nothing to the type: left out`);
    return;
  }
  addToDescription(draft, `Format: ${format}`);
  say(`format ${showJson(written)} is unknown to models: moved to the description`);
}

export function fitPattern(draft: Draft, say: Say): void {
  if (!('pattern' in draft) || isRegularExpression(draft.pattern)) return;
  const written = draft.pattern;
  delete draft.pattern;
  if (typeof written === 'string') addToDescription(draft, `Pattern: ${written}`);
  say(`pattern ${showJson(written)} is no regular expression of ECMAScript: moved to the description`);
}

function isRegularExpression(pattern: unknown): boolean {
  if (typeof pattern !== 'string') return false;
  try {
    new RegExp(pattern, 'u');
    return true;
  } catch {
    return false;
  }
}

export function dropForeignKeywords(draft: Draft, say: Say): void {
  for (const keyword of Object.keys(draft)) {
    if (isKeyword(keyword) && keyword !== '$defs') continue;
    const value = draft[keyword];
    delete draft[keyword];
    // Definitions are read from the document where a reference needs them; a boolean `required` by the parent.
    if (SILENT_KEYWORDS.has(keyword) || keyword === '$defs' || keyword === 'definitions') continue;
    say(`${showJson(keyword)} is no keyword of JSON Schema: left out (was ${showJson(value)})`);
  }
}
