/**
 * What in a plan may be left out: arguments, and properties inside them, behind the required ones; steps behind those of
 * the likely tools.
 */
import { openPlaceOf } from './open-place.js';

export interface Needed {
  /** What is required in the arguments of a tool at this path; undefined where that is not known. */
  requiredAt(tool: string, path: readonly string[]): readonly string[] | undefined;
  /** Tools that the request speaks of; where there is none, nothing is known about the steps. */
  readonly likely: readonly string[];
}

/** How the text of a plan would go on with something optional, for each way in which a token may begin. */
export function optionalNext(text: string, { requiredAt, likely }: Needed): string[] {
  const place = openPlaceOf(text);
  const areStepsThere = likely.length > 0 && likely.every((tool) => text.includes(`"tool":"${tool}"`));
  // Behind the arguments, and behind the step.
  if (place === undefined) return areStepsThere && text.endsWith('}') ? ['},', ','] : [];
  const { tool, levels, inText } = place;
  const beginnings: string[] = [];
  // One token may end a text, a list and an object, and begin what comes next.
  let ending = inText ? '"' : '';
  for (const { path, written } of [...levels].reverse()) {
    const required = written && requiredAt(tool, path);
    if (required?.every((name) => written?.includes(name))) beginnings.push(`${ending},`);
    ending += written ? '}' : ']';
  }
  return areStepsThere ? [...beginnings, `${ending}},`] : beginnings;
}
