/**
 * Made-up people who use tools by habit, in words of their own: for showing what adaptation brings. Each search that does
 * not find the tool is followed by one in plain words, as an agent would do it.
 */
import type { TelemetryEvent } from '../../src/agents/records.js';

export interface Habit {
  readonly user: string;
  /** The person's own word for it, in no tool's text, or one that means other things to others. */
  readonly word: string;
  readonly tool: string;
  /** A query in plain words for the same tool. */
  readonly plain: string;
}

const TRAINED = [
  (word: string) => `${word} it`,
  (word: string) => `please ${word} this for me`,
  (word: string) => `${word} now`,
];
const HELD_OUT = [(word: string) => `can you ${word} that again`, (word: string) => `I want to ${word}`];
/** Said by many, meant differently by each. */
const AMBIGUOUS = ['check my work', 'show the changes', 'clean this up', 'find the problem', 'look it up', 'start it'];
const SYLLABLES = ['blor', 'zan', 'kri', 'vop', 'mux', 'tarn', 'quil', 'desh', 'froo', 'yib', 'ogg', 'plon'];

export interface HabitOptions {
  users: number;
  habitsOfOne: number;
  /** A tool with a query in plain words that finds it. */
  tools: readonly { readonly name: string; readonly plain: string }[];
  random: () => number;
}

/** Half of the habits have a word of the person's own, half an ambiguous one. */
export function makeHabits({ users, habitsOfOne, tools, random }: HabitOptions): Habit[] {
  const pick = <T>(list: readonly T[]): T => {
    const one = list[Math.floor(random() * list.length)];
    if (one === undefined) throw new Error('nothing to pick from');
    return one;
  };
  return Array.from({ length: users }, (_, user) => {
    const words = new Set<string>();
    while (words.size < habitsOfOne) {
      words.add(words.size % 2 === 0 ? `${pick(SYLLABLES)}${pick(SYLLABLES)}` : pick(AMBIGUOUS));
    }
    return [...words].map((word): Habit => {
      const { name, plain } = pick(tools);
      return { user: `user${user}`, word, tool: name, plain };
    });
  }).flat();
}

export type Find = (query: string, user: string) => Promise<readonly string[]>;

/** The events of a session in which a habit is followed once. */
export async function liveSession(
  habit: Habit,
  { id, at, find, random }: { id: string; at: string; find: Find; random: () => number },
) {
  const { user, tool } = habit;
  const common = { at, session: id, user, project: 'p', turn: 1 };
  const events: TelemetryEvent[] = [];
  const query = TRAINED[Math.floor(random() * TRAINED.length)]?.(habit.word) ?? habit.word;
  for (const asked of [query, habit.plain]) {
    const names = [...(await find(asked, user))];
    events.push({ type: 'search', ...common, query: asked, names, rankedBy: 'rules', milliseconds: 1 });
    if (names.slice(0, 3).includes(tool)) break;
  }
  events.push({ type: 'enable', ...common, tool, via: 'asked' });
  events.push({ type: 'call', ...common, tool, ok: true, milliseconds: 10 });
  return events;
}

/** Queries in forms that no session had, with what the person means. */
export async function measureHabits(habits: readonly Habit[], find: Find): Promise<{ top1: number; top3: number }> {
  let first = 0;
  let three = 0;
  let all = 0;
  for (const { user, word, tool } of habits) {
    for (const form of HELD_OUT) {
      const place = (await find(form(word), user)).indexOf(tool);
      all += 1;
      if (place === 0) first += 1;
      if (place >= 0 && place < 3) three += 1;
    }
  }
  return { top1: first / all, top3: three / all };
}

/** A store of what is learnt, in memory; entries go through JSON as they would through a database. */
export function createLearntMemory() {
  const entries = new Map<string, Record<string, unknown>>();
  const keyOf = (entry: Record<string, unknown>) =>
    JSON.stringify(['level', 'subject', 'kind', 'key'].map((name) => entry[name]));
  const isMatch = (entry: Record<string, unknown>, query: object) =>
    Object.entries(query).every(([name, value]) => value === undefined || entry[name] === value);
  return {
    async put(news: readonly object[]) {
      for (const one of news) {
        const plain = JSON.parse(JSON.stringify(one));
        entries.set(keyOf(plain), plain);
      }
    },
    async list(query: object = {}) {
      return [...entries.values()]
        .filter((entry) => isMatch(entry, query))
        .map((entry) => JSON.parse(JSON.stringify(entry)));
    },
    async remove(query: object) {
      const gone = [...entries].filter(([, entry]) => isMatch(entry, query));
      for (const [key] of gone) entries.delete(key);
      return gone.length;
    },
  };
}
