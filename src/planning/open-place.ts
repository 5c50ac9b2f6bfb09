/** Where the text of a plan stands that is not written to the end: in which argument of which tool. */

export interface ArgumentName {
  readonly tool: string;
  readonly argument: string;
}

export interface OpenPlace extends ArgumentName {
  /** Names of the arguments of this step so far, with the one that is being written. */
  readonly written: readonly string[];
  /** Whether the value that is being written is the argument's own, not one inside it. */
  readonly isDirect: boolean;
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
  const written = open[inside]?.keys ?? [];
  const argument = written.at(-1);
  const tool = [...text.matchAll(/"tool"\s*:\s*"([^"]+)"/gu)].at(-1)?.[1];
  if (argument === undefined || tool === undefined) return undefined;
  const inText = last.startsWith('"') && !/"(?:\s*:)?$/u.test(last.slice(1)) && text.endsWith(last);
  return { tool, argument, written, isDirect: inside === open.length - 1, inText };
}
