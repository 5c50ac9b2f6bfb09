/** The question that goes back to the user when the model is not sure what is meant. */
import type { View } from '../catalog/scope.js';
import { oneLine } from '../catalog/summary.js';
import { asksInChinese } from '../guess-language.js';
import type { Request } from '../request.js';
import type { Selection } from '../result.js';

const MOST_NAMED = 4;

/** In Chinese where the message or the caller's locale is, else in English. */
export function askBack(request: Pick<Request, 'message' | 'locale'>, selection: Selection, view: View): string {
  const chosen = selection.tools.filter((tool) => !tool.fill);
  const tools = (chosen.length > 0 ? chosen : selection.tools).flatMap(({ name }) => view.byName.get(name) ?? []);
  const named = tools.slice(0, MOST_NAMED).map((tool) => oneLine(tool.title ?? tool.name));
  return asksInChinese(request)
    ? `您指的是哪一项：${named.join('、')}？`
    : `Which of these do you mean: ${named.join(', ')}?`;
}
