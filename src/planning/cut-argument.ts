/** Where an answer was cut: the argument that was being written, for one that ran on without end. */

export interface CutArgument {
  tool: string;
  argument: string;
}

/** The tool and the argument in whose value the text of a plan ends; `undefined` where it ends elsewhere. */
export function cutArgumentOf(text: string): CutArgument | undefined {
  const path = openPath(text);
  const place = path.indexOf('arguments');
  const argument = path[place + 1];
  const tool = [...text.matchAll(/"tool"\s*:\s*"([^"]+)"/gu)].at(-1)?.[1];
  return place < 0 || argument === undefined || tool === undefined ? undefined : { tool, argument };
}

/** The keys of the objects that are open at the end of a cut JSON text, outermost first; lists have none. */
function openPath(text: string): string[] {
  const open: { isObject: boolean; key?: string }[] = [];
  for (const [token] of text.matchAll(/"(?:[^"\\]|\\.)*"?(?:\s*:)?|[{}[\],]/gsu)) {
    const level = open.at(-1);
    if (token === '{' || token === '[') open.push({ isObject: token === '{' });
    else if (token === '}' || token === ']') open.pop();
    else if (token === ',') delete level?.key;
    else if (level?.isObject && token.endsWith(':')) level.key = token.slice(1, token.lastIndexOf('"'));
  }
  return open.flatMap(({ key }) => key ?? []);
}
