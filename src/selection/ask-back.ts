/** What the user is told where no plan is written, in Chinese where the message or the caller's locale is, else in English. */
import type { View } from '../catalog/scope.js';
import { oneLine } from '../catalog/summary.js';
import type { Tool } from '../catalog/tool.js';
import { asksInChinese } from '../guess-language.js';
import type { Request } from '../request.js';
import type { Selection } from '../result.js';

type Asking = Pick<Request, 'message' | 'locale'>;

const MOST_NAMED = 4;

/** The model is not sure what is meant. */
export function askBack(request: Asking, selection: Selection, view: View): string {
  const chosen = selection.tools.filter((tool) => !tool.fill);
  const tools = (chosen.length > 0 ? chosen : selection.tools).flatMap(({ name }) => view.byName.get(name) ?? []);
  const named = namesOf(tools);
  return asksInChinese(request)
    ? `您指的是哪一项：${named.join('、')}？`
    : `Which of these do you mean: ${named.join(', ')}?`;
}

/** The model is sure that no tool does it. */
export function sayNoneFits(request: Asking, nearest: readonly Tool[]): string {
  const named = namesOf(nearest);
  return asksInChinese(request)
    ? `没有工具能完成这个请求，最接近的是：${named.join('、')}。`
    : `No tool does what is asked; the nearest: ${named.join(', ')}.`;
}

function namesOf(tools: readonly Tool[]): string[] {
  return tools.slice(0, MOST_NAMED).map((tool) => oneLine(tool.title ?? tool.name));
}
