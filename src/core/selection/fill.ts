/** What is done with free room: the next of the ranking and the keyword matches in turn. A second opinion costs few tokens. */
import type { Tool } from '../catalog/tool.js';
import type { Entry } from './entry.js';

export interface Room {
  maxTools: number;
  schemaTokens: { budget: number; of: (tool: Tool) => number };
  /** The names behind the chosen ones, best first. */
  next: readonly Entry[];
  /** Keyword matches, best first; asked for only where there is room. */
  keyword: () => readonly Entry[];
  /** The tool behind the producers that it needs and that are not present. */
  withProducers: (entry: Entry, present: ReadonlySet<string>) => Entry[];
  isEnough: (entries: readonly Entry[]) => boolean;
}

export function fill(entries: readonly Entry[], room: Room): Entry[] {
  const filled = [...entries];
  if (filled.length >= room.maxTools) return filled;
  const queues = [[...room.next], [...room.keyword()]];
  let tokens = filled.reduce((sum, entry) => sum + room.schemaTokens.of(entry.tool), 0);
  for (let turn = 0; filled.length < room.maxTools && queues.some((queue) => queue.length > 0); turn++) {
    if (room.isEnough(filled)) break;
    const present = new Set(filled.map((entry) => entry.tool.name));
    const candidate = takeNew(queues[turn % queues.length] ?? [], present);
    if (!candidate) continue;
    const group = room.withProducers(candidate, present);
    const added = group.length <= room.maxTools - filled.length ? group : [candidate];
    const cost = added.reduce((sum, entry) => sum + room.schemaTokens.of(entry.tool), 0);
    if (tokens + cost > room.schemaTokens.budget) continue;
    tokens += cost;
    filled.push(...added);
  }
  return filled;
}

/** The first of the queue that is not there yet; what stands before it is taken out too. */
function takeNew(queue: Entry[], present: ReadonlySet<string>): Entry | undefined {
  for (let entry = queue.shift(); entry; entry = queue.shift()) if (!present.has(entry.tool.name)) return entry;
  return undefined;
}
