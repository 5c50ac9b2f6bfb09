/** Where the text of a plan stands that is not written to the end: in which argument of which tool. */

export interface ArgumentName {
  readonly tool: string;
  readonly argument: string;
}

/** An object or list that is open. */
export interface OpenLevel {
  /** The way to it from the arguments: names of properties, `*` for an item of a list. */
  readonly path: readonly string[];
  /** Names in this object so far, with the one that is being written; undefined in a list. */
  readonly written: readonly string[] | undefined;
}

export interface OpenPlace extends ArgumentName {
  /** Of the arguments, the arguments themselves first, the innermost last. */
  readonly levels: readonly OpenLevel[];
  /** Whether a text is open. */
  readonly inText: boolean;
}

interface Level {
  readonly isObject: boolean;
  readonly keys: string[];
}

const PART = /"(?:[^"\\]|\\.)*(?:"(?:\s*:)?)?|[{}[\]]/gsu;

/** `undefined` outside of arguments. */
export function openPlaceOf(text: string): OpenPlace | undefined {
  const open: Level[] = [];
  let last = '';
  for (const [part] of text.matchAll(PART)) {
    last = part;
    if (part === '{' || part === '[') open.push({ isObject: part === '{', keys: [] });
    else if (part === '}' || part === ']') open.pop();
    else if (part.endsWith(':')) open.at(-1)?.keys.push(part.slice(1, part.lastIndexOf('"')));
  }
  const inside = open.findIndex((_, place) => open[place - 1]?.keys.at(-1) === 'arguments');
  const argument = open[inside]?.keys.at(-1);
  const tool = [...text.matchAll(/"tool"\s*:\s*"([^"]+)"/gu)].at(-1)?.[1];
  if (argument === undefined || tool === undefined) return undefined;
  const way = open.slice(inside).map(({ isObject, keys }) => (isObject ? (keys.at(-1) ?? '') : '*'));
  const levels = open
    .slice(inside)
    .map(({ isObject, keys }, depth) => ({ path: way.slice(0, depth), written: isObject ? keys : undefined }));
  const inText = last.startsWith('"') && !/"(?:\s*:)?$/u.test(last.slice(1)) && text.endsWith(last);
  return { tool, argument, levels, inText };
}
