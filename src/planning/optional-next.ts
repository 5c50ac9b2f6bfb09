/** What in a plan may be left out: arguments behind the required ones, steps behind those of the likely tools. */
import { openPlaceOf } from './open-place.js';

export interface Needed {
  /** Names of the arguments that a tool requires. */
  requiredOf(tool: string): readonly string[];
  /** Tools that the request speaks of; where there is none, nothing is known about the steps. */
  readonly likely: readonly string[];
}

/** How the text of a plan would go on with something optional, for each way in which a token may begin. */
export function optionalNext(text: string, { requiredOf, likely }: Needed): string[] {
  const place = openPlaceOf(text);
  const areStepsThere = likely.length > 0 && likely.every((tool) => text.includes(`"tool":"${tool}"`));
  // Behind the arguments, and behind the step.
  if (place === undefined) return areStepsThere && text.endsWith('}') ? ['},', ','] : [];
  if (!place.isDirect || requiredOf(place.tool).some((name) => !place.written.includes(name))) return [];
  const end = place.inText ? '"' : '';
  return [`${end},`, ...(areStepsThere ? [`${end}}},`] : [])];
}
