/** The question that goes back to the user when the model is not sure what is meant. */
import type { View } from '../catalog/scope.js';
import { oneLine } from '../catalog/summary.js';
import type { Selection } from '../result.js';

const MOST_NAMED = 4;

/** In Chinese where the message is, else in English. */
export function askBack(message: string, selection: Selection, view: View): string {
  const tools = selection.tools.filter((tool) => !tool.fill).flatMap(({ name }) => view.byName.get(name) ?? []);
  const named = tools.slice(0, MOST_NAMED).map((tool) => oneLine(tool.title ?? tool.name));
  return /\p{Script=Han}/u.test(message)
    ? `您指的是哪一项：${named.join('、')}？`
    : `Which of these do you mean: ${named.join(', ')}?`;
}
