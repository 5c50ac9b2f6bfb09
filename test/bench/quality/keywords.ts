/** No model for the choice: the best keyword matches are handed on. */
import MiniSearch from 'minisearch';
import type { Tool } from '../../../src/core/catalog/tool.js';
import { searchText } from '../../../src/core/prompts/context.js';
import { parseRequest } from '../../../src/core/request.js';
import { createKeywordSearch } from '../../../src/core/search/rank.js';
import { type Contestant, idleWhereGiven } from './contestant.js';
import { createSecondCall } from './second-call.js';

type Search = (query: string, limit: number) => readonly Tool[];

export const KEYWORDS: readonly Contestant[] = [
  createContestant({ id: 'keywords', title: "keywords alone, Winnow's index", group: 'first' }, (tools) => {
    const index = createKeywordSearch(tools);
    return (query, limit) => index(query, limit).map(({ tool }) => tool);
  }),
  createContestant({ id: 'bm25', title: 'keywords alone, MiniSearch as it comes', group: 'peer' }, (tools) => {
    const index = new MiniSearch({ fields: ['name', 'description'] });
    index.addAll(tools.map(({ name, description }, id) => ({ id, name, description })));
    return (query, limit) =>
      index
        .search(query)
        .slice(0, limit)
        .flatMap(({ id }) => tools[id] ?? []);
  }),
];

function createContestant(
  called: Pick<Contestant, 'id' | 'title' | 'group'>,
  build: (tools: readonly Tool[]) => Search,
): Contestant {
  return {
    ...called,
    idleOn: idleWhereGiven,
    enter(arena) {
      const call = createSecondCall(arena);
      const built = new WeakMap<readonly Tool[], Search>();
      return {
        async answer(trial) {
          const search = built.get(trial.tools) ?? build(trial.tools);
          built.set(trial.tools, search);
          const found = search(searchText(parseRequest(trial.request)), arena.maxTools);
          const tools = found.map(({ name }) => name);
          if (!trial.wantsPlan) return { kind: 'answered', tools, abstained: tools.length === 0 };
          const reply = await call(trial, found);
          return reply.kind === 'answered' ? { ...reply, tools } : reply;
        },
      };
    },
  };
}
