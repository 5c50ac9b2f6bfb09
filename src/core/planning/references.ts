/** `${s1.path.to[0].field}`, and `${s1['a.b']}` for other names: how a step uses what an earlier step found. */
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
/** As a model may write one, `${steps.s1.a}`, or as other languages put values into a text. */
const LOOKALIKE = /\$\{[^}]*\}?|\{\{[^{}]*\}\}/gu;

export function findReferences(text: string): Reference[] {
  return [...text.matchAll(REFERENCE)].map((match) => ({
    text: match[0],
    step: match[1] ?? '',
    path: parsePath(match[2] ?? ''),
    whole: match[0] === text,
  }));
}

/**
 * Parts of a text that look like references but are malformed: a wrong one must not pass as a text. Alone in any marks,
 * `<s1.code>`, or with a field in `${}`, it is meant as one also where nothing tells its step.
 *
 * @param names of the plan's steps and of their tools
 */
export function findBroken(text: string, names: ReadonlySet<string> = new Set()): string[] {
  const rest = text.replace(REFERENCE, '');
  const parts = rest === text && /^[$<%{]\S+$/u.test(text) ? [text] : (rest.match(LOOKALIKE) ?? []);
  return parts.filter((part) => {
    const isStep = /^\$\{.*\b(?:s|[Ss]tep[_-]?)\d+\b/u.test(part);
    const head = part.replace(/^[$<%{(.\s]+/u, '').split(/[.[\]})>%]/u, 1)[0];
    return isStep || names.has(head?.trim() ?? '') || (part === text && /^\$\{[^{}]+[.[][^{}]*\}$/u.test(part));
  });
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
  return JSON.parse(JSON.stringify(values), (_, value: unknown) => {
    if (typeof value !== 'string') return value;
    const named = (whole: string, id: string) => (names.has(id) ? `\${${names.get(id)}` : whole);
    return value.replace(/\$\{([^.[\]{}\s]+)(?=[.[}])/gu, named);
  });
}

export interface Leaf {
  readonly path: readonly (string | number)[];
  readonly text: string;
}

/** All references inside a value, each with the text that holds it. */
export function referencesIn(value: unknown): (Reference & { readonly leaf: Leaf })[] {
  return textsIn(value).flatMap((leaf) => findReferences(leaf.text).map((found) => ({ ...found, leaf })));
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
