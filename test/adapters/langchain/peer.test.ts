/**
 * Where LangChain's own selector (`llmToolSelectorMiddleware` of langchain 1.5.14, really run) fails an agent, and ours
 * does not. Should a row of the peer go red with a newer version, it was mended there: take the row out.
 */
import { describe, expect, it } from 'vitest';
import { type Selected, type Selecting, selectByOurs, selectByPeer, TELLING } from './selecting.js';

interface Row extends Selecting {
  failing: string;
  /** What only one that does not fail comes to. */
  holds: (selected: Selected) => void;
  /** How the peer fails: an error that ends the run, or `holds` that does not. */
  peerThrows?: RegExp;
}

const READ = { name: 'read_file' };

const TABLE: Row[] = [
  {
    failing: 'the selection model sees names alone, not what the tools do',
    selections: [['delete_file']],
    answers: ['done'],
    holds: ({ asked }) => expect(asked[0]).toContain(TELLING),
  },
  {
    failing: 'of the conversation it sees the last message alone',
    selections: [['read_mail'], ['read_mail']],
    answers: ['Shall I read your newest mail?', 'done'],
    messages: ['Is there mail of the dentist?', 'do it'],
    holds: ({ asked }) => expect(asked.at(-1)).toMatch(/dentist[\s\S]*newest mail[\s\S]*do it/),
  },
  {
    failing: 'it is asked again at each step of a turn',
    selections: [['read_file'], ['read_file'], ['read_file']],
    answers: [READ, READ, 'done'],
    holds: ({ asked }) => expect(asked).toHaveLength(1),
  },
  {
    failing: 'it is asked where all tools fit anyway',
    selections: [['read_file']],
    answers: ['done'],
    tools: 3,
    holds: ({ asked }) => expect(asked).toEqual([]),
  },
  {
    failing: 'a name that does not exist ends the run',
    selections: [['read_file', 'read_fax']],
    answers: [READ, 'done'],
    holds: ({ ran }) => expect(ran).toEqual(['read_file']),
    peerThrows: /Model selected invalid tools: read_fax/,
  },
  {
    failing: 'a selection that the server fails ends the run',
    selections: [new Error('503 no capacity')],
    answers: [READ, 'done'],
    holds: ({ ran }) => expect(ran).toEqual(['read_file']),
    peerThrows: /503 no capacity/,
  },
  {
    failing: 'an answer that is no selection ends the run',
    selections: ['I would use the file tool.', 'Really.'],
    answers: [READ, 'done'],
    holds: ({ ran }) => expect(ran).toEqual(['read_file']),
    peerThrows: /No tool calls found in the response/,
  },
  {
    failing: 'a run without a user message ends in an error',
    selections: [],
    answers: ['done'],
    messages: [''],
    holds: ({ final }) => expect(final).toBe('done'),
    peerThrows: /No user message found/,
  },
  {
    failing: 'a tool that was not chosen runs all the same',
    selections: [['read_file'], ['read_file']],
    answers: [{ name: 'delete_file' }, 'done'],
    holds: ({ ran }) => expect(ran).toEqual([]),
  },
];

/** Ours is asked no more often than it has to be, so it needs fewer answers. */
const OURS: Readonly<Record<string, number>> = {
  'it is asked again at each step of a turn': 1,
  'it is asked where all tools fit anyway': 0,
  'a tool that was not chosen runs all the same': 1,
};

const CASES = TABLE.map(({ failing, ...rest }) => [failing, rest] as const);
describe.each(CASES)('where %s', (failing, { holds, peerThrows, ...selecting }) => {
  it("with LangChain's own selector", async () => {
    const peer = selectByPeer(selecting);
    if (peerThrows) await expect(peer).rejects.toThrow(peerThrows);
    else {
      const selected = await peer;
      expect(() => holds(selected)).toThrow();
    }
  });

  it('not with ours', async () => {
    const selections = selecting.selections.slice(0, OURS[failing]);
    holds(await selectByOurs({ ...selecting, selections }));
  });
});
