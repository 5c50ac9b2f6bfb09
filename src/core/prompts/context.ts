/** The part of a prompt that changes with each request: the context besides the message, in a bounded window. */
import { type Message, MOST_READ, type Request } from '../request.js';
import { wordsOf } from '../search/words.js';
import { literal, oneLine } from '../visible-text.js';

interface Window {
  historyMessages: number;
  historyCharacters: number;
}

/** Lines before the message: earlier messages, `maxTools`, intent, entities. Empty where the request has none of them. */
export function renderContext(request: Request, window: Window): string {
  const lines = [
    ...renderHistory(request.history ?? [], window),
    ...(request.maxTools === undefined ? [] : [`At most ${request.maxTools} tools.`]),
    ...(request.intent ? [`Intent: ${oneLine(request.intent)}`] : []),
    ...(request.entities && Object.keys(request.entities).length > 0 ? [`Known: ${literal(request.entities)}`] : []),
  ];
  return lines.map((line) => `${line}\n`).join('');
}

/** The query of keyword search: message and intent, and for a short message ("do it") the user's last two before it. */
export function searchText({ message, intent, history }: Request): string {
  const asked = message.slice(0, MOST_READ);
  const earlier =
    wordsOf(asked).length < MIN_WORDS ? (history ?? []).filter(({ role }) => role === 'user').slice(-2) : [];
  return [asked, intent ?? '', ...earlier.map(({ content }) => content.slice(0, MOST_READ))].join(' ');
}

const MIN_WORDS = 3;

/** A note on the part of the history that no model sees; undefined where the window holds all of it. */
export function unseenHistory({ history = [] }: Request, window: Window): string | undefined {
  const recent = recentOf(history, window);
  const length = recent.reduce((sum, { content }) => sum + content.length, 0);
  const notes = [
    recent.length < history.length ? `the last ${recent.length} of ${history.length} messages` : '',
    length > window.historyCharacters ? `the last ${window.historyCharacters} of ${length} characters` : '',
  ].filter(Boolean);
  return notes.length > 0 ? `of the history only ${notes.join(', of them ')} are seen` : undefined;
}

function renderHistory(history: readonly Message[], window: Window): string[] {
  const lines: string[] = [];
  let room = window.historyCharacters;
  for (const { role, content } of recentOf(history, window).reverse()) {
    if (room <= 0) break;
    const kept = content.length <= room ? content : `${content.slice(0, Math.max(0, room - 1))}…`;
    room -= kept.length;
    lines.unshift(`${role}: ${kept}`);
  }
  return lines.length > 0 ? ['Earlier messages:', ...lines] : [];
}

function recentOf(history: readonly Message[], { historyMessages }: Window): Message[] {
  const recent = historyMessages > 0 ? history.slice(-historyMessages) : [];
  return recent.map(({ role, content }) => ({ role, content: oneLine(content) }));
}
