import { leavesOf } from '../catalog/schema/json.js';

/** A reference to the result of an earlier step: `${s1.path.to[0].field}`, and `${s1['a.b']}` for names with dots. */
export interface Reference {
  readonly text: string;
  /** A step, or a `Root`. */
  readonly step: string;
  readonly path: readonly (string | number)[];
  /** The whole text is the reference, so the value keeps its type; else the value becomes part of the text. */
  readonly whole: boolean;
}

/** Further beginnings of references: the item of a loop, an input of a kept plan. */
export type Root = 'item' | 'input';

const REFERENCE = compile([]);
const PART = /\.([^.[\]{}\s]+)|\[(\d+)\]|\['([^'{}]+)'\]|\["([^"{}]+)"\]/gu;
const PLAIN_NAME = /^[^.[\]{}\s]+$/u;
/**
 * A malformed reference to a step inside a text: `${steps.s1.a}`, or the syntax of another template language. The step is looked
 * for once, ahead, since a search for the end from each step would take quadratic time.
 */
const LOOKALIKE = /\$\{[^{}]*\b(?:s|[Ss]tep[_-]?)\d+\b[^{}]*\}?|\{\{(?=[^{}]*\bs\d+\b)[^{}]*\}\}/gu;
const ROOT_LOOKALIKE = /\$\{(?:inputs?|items?)\b[^{}]*\}?/gu;
/** A malformed reference as the whole text: `<s1.code>` in any brackets, or `${find.id}` with an unknown step. */
const WHOLE_LOOKALIKE = /^(?:[$<%{][({.\s]*s\d+\b\S*|\$\{(?=[^{}]+[.[])[^{}]+\}+)$/u;

/** Plans of the planner have no roots, so their pattern is compiled once. */
function formOf(roots: readonly Root[]): RegExp {
  return roots.length === 0 ? REFERENCE : compile(roots);
}

function compile(roots: readonly Root[]): RegExp {
  const path = /(?:\.[^.[\]{}\s]+|\[\d+\]|\['[^'{}]+'\]|\["[^"{}]+"\])*/u.source;
  return new RegExp(`\\$\\{(${['s\\d+', ...roots].join('|')})(${path})\\}`, 'gu');
}

/** @param roots that are valid at this place of the plan; other texts stay plain text. Default: none */
export function findReferences(text: string, roots: readonly Root[] = []): Reference[] {
  return [...text.matchAll(formOf(roots))].map((match) => ({
    text: match[0],
    step: match[1] ?? '',
    path: parsePath(match[2] ?? ''),
    whole: match[0] === text,
  }));
}

/**
 * Writes each reference of a text anew, piece by piece: what is put in can't be taken for a reference.
 * @param references those of the text, in their order
 */
export function replaceReferences(
  text: string,
  references: readonly Reference[],
  write: (reference: Reference) => string,
): string {
  let [written, from] = ['', 0];
  for (const reference of references) {
    const at = text.indexOf(reference.text, from);
    written += text.slice(from, at) + write(reference);
    from = at + reference.text.length;
  }
  return written + text.slice(from);
}

/** Parts of a text that look like references but are malformed; these must not pass as plain text. */
export function findBroken(text: string, roots: readonly Root[] = []): string[] {
  const rest = text.replace(formOf(roots), '');
  if (rest === text && WHOLE_LOOKALIKE.test(text)) return [text];
  return [...(rest.match(LOOKALIKE) ?? []), ...(roots.length > 0 ? (rest.match(ROOT_LOOKALIKE) ?? []) : [])];
}

function parsePath(text: string): (string | number)[] {
  return [...text.matchAll(PART)].map(([, name, place, ...quoted]) => {
    const word = name ?? place;
    if (word === undefined) return quoted.find((one) => one !== undefined) ?? '';
    return /^\d+$/u.test(word) ? Number(word) : word;
  });
}

export interface Leaf {
  readonly path: readonly (string | number)[];
  readonly text: string;
}

export function referencesIn(value: unknown, roots: readonly Root[] = []): (Reference & { readonly leaf: Leaf })[] {
  return textsIn(value).flatMap((leaf) => findReferences(leaf.text, roots).map((found) => ({ ...found, leaf })));
}

export function textsIn(value: unknown): Leaf[] {
  return leavesOf(value).flatMap(({ path, value: text }) => (typeof text === 'string' ? [{ path, text }] : []));
}

/** `["items", 0, "id", "a.b"]` -> `items[0].id['a.b']`. */
export function renderPath(path: readonly (string | number)[]): string {
  return path.map(renderPart).join('').replace(/^\./u, '');
}

function renderPart(part: string | number): string {
  if (typeof part === 'number') return `[${part}]`;
  return PLAIN_NAME.test(part) ? `.${part}` : `['${part}']`;
}
