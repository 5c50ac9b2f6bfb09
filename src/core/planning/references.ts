/** `${s1.path.to[0].field}`, and `${s1['a.b']}` for other names: how a step uses what an earlier step found. */
import { isObject } from '../catalog/schema/json.js';

export interface Reference {
  /** As it stands in the plan. */
  readonly text: string;
  readonly step: string;
  readonly path: readonly (string | number)[];
  /** It stands alone, so the value keeps its type; else it is put into the text around it. */
  readonly whole: boolean;
}

const REFERENCE = /\$\{(s\d+)((?:\.[^.[\]{}\s]+|\[\d+\]|\['[^'{}]+'\]|\["[^"{}]+"\])*)\}/gu;
const PART = /\.([^.[\]{}\s]+)|\[(\d+)\]|\['([^'{}]+)'\]|\["([^"{}]+)"\]/gu;
const PLAIN_NAME = /^[^.[\]{}\s]+$/u;
const LOOKALIKE = /\$\{[^}]*\}?/gu;
/** As other languages put values into a text. */
const PLACEHOLDER =
  /\{\{([^{}]+)\}\}|(?<![{$])\{([^{}\s]+)\}|<([^<>\s]+)>|%([^%\s]+)%|\$\(([^()\s]+)\)|\$\.?([\p{L}_][\p{L}\p{N}_-]*(?:\.[\p{L}\p{N}_-]+|\[\d+\])*)/gu;
/** What stands alone so is no text. */
const NAMELESS = /^(?:steps?|results?|outputs?|previous|prev|last)$/iu;

export function findReferences(text: string): Reference[] {
  return [...text.matchAll(REFERENCE)].map((match) => ({
    text: match[0],
    step: match[1] ?? '',
    path: parsePath(match[2] ?? ''),
    whole: match[0] === text,
  }));
}

/**
 * Parts of a text that look like references but are malformed: a wrong one must not pass as a text.
 *
 * @param names of the plan's steps and of their tools: what names one of them in any form of a placeholder is meant as a reference
 */
export function findBroken(text: string, names: ReadonlySet<string> = new Set()): string[] {
  const rest = text.replace(REFERENCE, '');
  const lookalikes = (rest.match(LOOKALIKE) ?? []).filter((found) => {
    const head = headOf(found.replace(/^\$\{|\}$/gu, ''));
    return /\b(?:s|[Ss]tep[_-]?)\d+\b/u.test(found) || names.has(head) || (found === text && NAMELESS.test(head));
  });
  const placeholders = [...rest.replace(LOOKALIKE, '').matchAll(PLACEHOLDER)].flatMap(([found, ...inner]) => {
    const within = inner.find((part) => part !== undefined)?.trim() ?? '';
    const head = headOf(within);
    return names.has(head) && (found === text || (within !== head && /^(?:\{\{|\$)/u.test(found))) ? [found] : [];
  });
  return [...lookalikes, ...placeholders];
}

/** `s1` of `s1.items[0]` */
function headOf(text: string): string {
  return text.split(/[.[]/u, 1)[0]?.trim() ?? '';
}

function parsePath(text: string): (string | number)[] {
  return [...text.matchAll(PART)].map(([, name, place, ...quoted]) => {
    const word = name ?? place;
    if (word === undefined) return quoted.find((one) => one !== undefined) ?? '';
    return /^\d+$/u.test(word) ? Number(word) : word;
  });
}

/** The same values, with references to steps under their new ids; other ids stay. */
export function renameReferences(
  values: Readonly<Record<string, unknown>>,
  names: ReadonlyMap<string, string>,
): Record<string, unknown> {
  const rename = (value: unknown): unknown => {
    if (typeof value === 'string')
      return value.replace(/\$\{([^.[\]{}\s]+)(?=[.[}])/gu, (whole, id: string) =>
        names.has(id) ? `\${${names.get(id)}` : whole,
      );
    if (Array.isArray(value)) return value.map(rename);
    return isObject(value) ? renameReferences(value, names) : value;
  };
  return Object.fromEntries(Object.entries(values).map(([key, value]) => [key, rename(value)]));
}

export interface Leaf {
  readonly path: readonly (string | number)[];
  readonly text: string;
}

/** All texts inside a value, with the way to them. */
export function textsIn(value: unknown, path: readonly (string | number)[] = []): Leaf[] {
  if (typeof value === 'string') return [{ path, text: value }];
  if (Array.isArray(value)) return value.flatMap((item, index) => textsIn(item, [...path, index]));
  if (typeof value === 'object' && value !== null)
    return Object.entries(value).flatMap(([key, item]) => textsIn(item, [...path, key]));
  return [];
}

/** `["items", 0, "id", "a.b"]` -> `items[0].id['a.b']`. */
export function renderPath(path: readonly (string | number)[]): string {
  return path.map(renderPart).join('').replace(/^\./u, '');
}

function renderPart(part: string | number): string {
  if (typeof part === 'number') return `[${part}]`;
  return PLAIN_NAME.test(part) ? `.${part}` : `['${part}']`;
}

/** Whether a reference can hold the name, as `renderPath` has it. */
export function canName(field: string): boolean {
  return PLAIN_NAME.test(field) || /^[^'{}\n\r]+$/u.test(field);
}
