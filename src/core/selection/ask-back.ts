/** What the user is told where no plan is written, in Chinese where the message or the caller's locale is, else in English. */
import type { View } from '../catalog/scope.js';
import { oneLine } from '../catalog/summary.js';
import { asksInChinese } from '../guess-language.js';
import type { Request } from '../request.js';
import type { Selection } from '../result.js';

type Asking = Pick<Request, 'message' | 'locale'>;

const MOST_NAMED = 4;

/** The model is not sure what is meant. */
export function askBack(request: Asking, selection: Selection, view: View): string {
  const named = namesOf(selection, view);
  return asksInChinese(request)
    ? `您指的是哪一项：${named.join('、')}？`
    : `Which of these do you mean: ${named.join(', ')}?`;
}

function namesOf({ tools }: Selection, { byName }: View): string[] {
  const chosen = tools.filter((tool) => !tool.fill);
  const told = (chosen.length > 0 ? chosen : tools).flatMap(({ name }) => byName.get(name) ?? []);
  return told.slice(0, MOST_NAMED).map((tool) => oneLine(tool.title ?? tool.name));
}
