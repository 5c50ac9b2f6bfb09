/**
 * Problems of a plan as lines. A plan decides neither how many lines there are nor how long they get: one of 1 MB can
 * have 40,000 wrong references, each in an argument with a name of 300,000 characters.
 */
import { WinnowError } from '../errors.js';

const MOST_LINES = 20;
const MOST_CHARACTERS = 500;
const MOST_CHARACTERS_OF_NAME = 80;

export type Issues = ReturnType<typeof createIssues>;

export function createIssues() {
  const lines: string[] = [];
  let more = 0;
  return {
    /** A further problem is counted, not written; who looks for problems can stop. */
    get isFull(): boolean {
      return lines.length === MOST_LINES;
    },
    /** @param write is called only while there is room for its line */
    add(write: () => string): void {
      if (lines.length === MOST_LINES) more += 1;
      else lines.push(cutText(write(), MOST_CHARACTERS));
    },
    addEach<Item>(items: Iterable<Item>, write: (item: Item) => string): void {
      for (const item of items) this.add(() => write(item));
    },
    /** The lines, and how many were left out. */
    lines: (): string[] => (more === 0 ? [...lines] : [...lines, `and more: ${more} are not shown or not looked at`]),
  };
}

/** @throws WinnowError `invalid_request` with the lines, if there are any */
export function refuse(found: Issues): void {
  const issues = found.lines();
  if (issues.length > 0) throw new WinnowError('invalid_request', `${issues.join('; ')}.`, { issues });
}

/** A name or reference of a plan or result, for a line. */
export function showName(name: string): string {
  return cutText(name, MOST_CHARACTERS_OF_NAME);
}

export function showNames(path: readonly (string | number)[]): (string | number)[] {
  return path.map((part) => (typeof part === 'string' ? showName(part) : part));
}

/** @param most names that are listed; the rest is counted */
export function listNames(names: readonly string[], most: number): string {
  const more = names.length > most ? ` and ${names.length - most} more` : '';
  return `${names.slice(0, most).map(showName).join(', ')}${more}`;
}

/** Cuts between characters. @example cutText('hello', 4) // 'hell…' */
export function cutText(text: string, most: number): string {
  return text.length > most ? `${text.slice(0, most).replace(/\p{Cs}$/u, '')}…` : text;
}
