/** The part of a prompt that changes with each request: what is known besides the message, in a bounded window. */
import { oneLine } from '../catalog/summary.js';
import type { Message, Request } from '../request.js';
import { wordsOf } from '../search/words.js';

export interface Window {
  historyMessages: number;
  historyCharacters: number;
}

/** Lines before the message: earlier messages, intent, entities; empty when there is nothing to say. */
export function renderContext(request: Request, window: Window): string {
  const lines = [
    ...renderHistory(request.history ?? [], window),
    ...(request.maxTools === undefined ? [] : [`At most ${request.maxTools} tools.`]),
    ...(request.intent ? [`Intent: ${oneLine(request.intent)}`] : []),
    ...(request.entities && Object.keys(request.entities).length > 0
      ? [`Known: ${JSON.stringify(request.entities)}`]
      : []),
  ];
  return lines.map((line) => `${line}\n`).join('');
}

/** What keywords are looked for in: the message, and where it says little ("do it") what the user said before. */
export function searchText({ message, intent, history }: Request): string {
  const earlier =
    wordsOf(message).length < MIN_WORDS ? (history ?? []).filter(({ role }) => role === 'user').slice(-2) : [];
  return [message, intent ?? '', ...earlier.map(({ content }) => content)].join(' ');
}

const MIN_WORDS = 3;

/** What of the history no model sees, in words; undefined where all of it is seen. */
export function unseenHistory({ history = [] }: Request, { historyMessages, historyCharacters }: Window) {
  const seen = Math.min(historyMessages, history.length);
  const recent = seen > 0 ? history.slice(-seen) : [];
  const length = recent.reduce((sum, { content }) => sum + oneLine(content).length, 0);
  const notes = [
    seen < history.length ? `the last ${seen} of ${history.length} messages` : '',
    length > historyCharacters ? `the last ${historyCharacters} of ${length} characters` : '',
  ].filter(Boolean);
  return notes.length > 0 ? `of the history only ${notes.join(', of them ')} are seen` : undefined;
}

function renderHistory(history: readonly Message[], { historyMessages, historyCharacters }: Window): string[] {
  const recent = historyMessages > 0 ? history.slice(-historyMessages) : [];
  if (recent.length === 0 || historyCharacters === 0) return [];
  const lines: string[] = [];
  let room = historyCharacters;
  for (const { role, content } of [...recent].reverse()) {
    if (room <= 0) break;
    const text = oneLine(content);
    const kept = text.length <= room ? text : `${text.slice(0, Math.max(0, room - 1))}…`;
    room -= kept.length;
    lines.unshift(`${role}: ${kept}`);
  }
  return ['Earlier messages:', ...lines];
}
