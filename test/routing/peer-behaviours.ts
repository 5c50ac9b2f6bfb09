/**
 * What the tests of the closest peer pin down (Mastra's ToolSearchProcessor, packages/core: search and load of tools,
 * per-request filter, stores of what is loaded, tools of a request, deferred schemas, tools chosen ahead), in our own
 * words: each with the test that shows it here, or with the reason why it is another here.
 */

export type Covered = readonly [behaviour: string, file: string, test: string];
export type Otherwise = readonly [behaviour: string, reason: string];

const SEARCH = 'routing/search/tool-search.test.ts';
const RANK = 'search/rank.test.ts';
const ENABLING = 'routing/sessions/enabling.test.ts';
const ROUTER = 'routing/router.test.ts';
const SIMILAR = 'routing/sessions/similar-names.test.ts';
const LISTS = 'routing/search/tool-lists.test.ts';
const DISCOVERY = 'routing/search/discovery.test.ts';
const LIFE = 'server/agents/life.test.ts';
const STORE = 'store/contract.ts';
const CATALOG = 'catalog/catalog.test.ts';
const SELECTOR = 'langchain/tool-selector.test.ts';
const PEER = 'langchain/peer.test.ts';

export const COVERED: readonly Covered[] = [
  ['a word of a name finds the tool', RANK, 'puts a tool that is named before all others'],
  ['a word of a description finds the tool', RANK, 'finds a tool by its %s and says so'],
  ['a whole match of a name goes first', RANK, 'gives a whole match more than half a one'],
  ['a query of several words finds what has most of them', RANK, 'gives a whole match more than half a one'],
  ['nothing found is an empty list with advice', SEARCH, 'asks back when it found %s, between the nearest groups'],
  ['an empty query is not searched', 'server/agents/edges.test.ts', 'is a problem document that names the field'],
  [
    'at most so many matches as asked for',
    SEARCH,
    'gives as many as are asked for, five where nothing is said, also where better ones may not be seen',
  ],
  ['each match has a score', SEARCH, 'scores each match above nothing, best first, whatever the case of the letters'],
  [
    'matches are in order of score',
    SEARCH,
    'scores each match above nothing, best first, whatever the case of the letters',
  ],
  [
    'capitals make no difference',
    SEARCH,
    'scores each match above nothing, best first, whatever the case of the letters',
  ],
  ['long descriptions are cut', SEARCH, 'shortens a long description, and marks it'],
  ['a least score may be asked for', LISTS, 'narrow leaves out what scores below the minimum'],
  ['the answer says what to do next', SEARCH, 'asks back when it found %s, between the nearest groups'],
  [
    'a catalogue that changes is searched as it is now',
    SEARCH,
    'hears of a changed catalogue at the next search, and says that the last index answers meanwhile',
  ],
  [
    'tools of MCP servers are searched like all others',
    'cli/serve-agents.test.ts',
    'runs functions, MCP tools and skills of the catalogue, follows its policy file, and keeps its sessions',
  ],
  ['only what is indexed is found', SEARCH, 'never finds what is out of service'],

  ['what one thread loads, another does not have', ENABLING, 'reaches nobody else'],
  [
    'what is loaded stays for the next steps',
    ENABLING,
    'enables for three turns, the current one counted, and says when the client sees it',
  ],
  [
    'what is loaded outlives the process',
    LIFE,
    'keeps session, enablements and open approvals over a restart of the server',
  ],
  ['state of a thread can be cleared', ENABLING, 'takes away what was enabled, and says why it did not'],
  ['all state of a thread goes with it', STORE, 'end once, with what was enabled and what was asked for in them'],
  ['threads without life are removed', ROUTER, 'that did nothing for long is over, before and after it is removed'],
  ['what is loaded ends by itself', STORE, 'hold until their last turn is over'],

  [
    'a tool that exists is loaded, and the answer says so',
    ENABLING,
    'enables for three turns, the current one counted, and says when the client sees it',
  ],
  ['several are loaded at once', ENABLING, 'rejects each name with its own reason and enables the others'],
  [
    'of several, those that do not exist are named apart',
    ENABLING,
    'rejects each name with its own reason and enables the others',
  ],
  ['an empty list is refused with a clear word', ENABLING, 'refuses %s, naming the field'],
  [
    'a name that is given twice counts once',
    ENABLING,
    'takes a name once however often it is given, and once more does no harm',
  ],
  ['loading again is no failure', ENABLING, 'takes a name once however often it is given, and once more does no harm'],
  ['a tool is there once', ENABLING, 'takes a name once however often it is given, and once more does no harm'],
  [
    'a name that does not exist is answered with what may be meant',
    SIMILAR,
    'is answered with those that may be meant, of what the caller may find alone',
  ],
  [
    'what may not be seen is never suggested',
    SIMILAR,
    'says no more of a tool that is denied than of one that does not exist',
  ],

  [
    'a filter takes tools away from searches',
    DISCOVERY,
    'finds by session, tells what is enabled, and hides what the policy denies',
  ],
  ['a filter takes tools away from loading', ROUTER, 'is not found, listed, or brought along'],
  [
    'a filter takes loaded tools away from a request',
    ENABLING,
    'is hidden while the policy denies it, and there again when it does not, without being asked for again',
  ],
  [
    'a filter forgets nothing: allowed again, the tool is there again',
    ENABLING,
    'is hidden while the policy denies it, and there again when it does not, without being asked for again',
  ],
  [
    'what is taken away makes room for what ranks lower',
    SEARCH,
    'gives as many as are asked for, five where nothing is said, also where better ones may not be seen',
  ],
  [
    'a filter knows who asks',
    DISCOVERY,
    'keeps sessions of other risk ceilings and roles apart though they share an index',
  ],
  [
    'two tools of one name are told apart by whose they are',
    SEARCH,
    "lets a user's own tool take the place of the system's of the same name",
  ],
  [
    'a filter that fails lets nothing through',
    'routing/policy/policy.test.ts',
    'that %s keeps the old policy and says so, to the caller and in the audit',
  ],
  [
    'without a filter all is found and loaded',
    LISTS,
    'classic gives all that the caller may use, with schemas and without an index',
  ],
  ['tools that the agent has anyway stay', ENABLING, 'leaves what is always on or pinned as it is'],
  [
    'always-on tools and loaded ones are listed together',
    ROUTER,
    'hold what may be called now, or all that is allowed',
  ],

  [
    'from a search to a call that runs',
    LIFE,
    'goes from a search to an approved call, once, and all of it is in the audit',
  ],
  ['over several turns, more is found and loaded', ENABLING, 'prolongs what is enabled, and never shortens it'],

  [
    'a search hands out no schemas: they come with what is loaded',
    SEARCH,
    'answers in the documented form, with what is enabled in the session of the caller',
  ],
  [
    'what can not be made ready is not claimed to be loaded',
    ENABLING,
    'rejects each name with its own reason and enables the others',
  ],
  [
    'what was loaded and is revoked since can not be called, and the rest goes on',
    ROUTER,
    'stays denied in a session in which it was enabled before the policy changed',
  ],
  [
    'nobody else can call what one has loaded, whoever they say they are',
    ROUTER,
    "looks like none to anybody but its user, and is the embedding program's own",
  ],
  [
    'of two tools of one name neither takes the place of the other unseen',
    CATALOG,
    'refuses %s of one name, and names both sources',
  ],
  [
    'a tool runs with the user of the request, not with the one it was loaded for',
    'langchain/routing-middleware.test.ts',
    'of an enabled tool runs behind the router, with its arguments and its user',
  ],
  [
    'tools that an agent gets with a request are held back until they are needed',
    SELECTOR,
    'are chosen anew where the agent has other tools now',
  ],
  [
    'tools may be chosen before the first step, so that nothing need be searched for',
    SELECTOR,
    'are those that were chosen, in their order, with those that every turn has and those of the provider',
  ],
  [
    'tools are chosen once a user message, not once a step',
    SELECTOR,
    'hold for a turn that goes on in another process',
  ],
  ['another message chooses anew', SELECTOR, 'are chosen anew for the next user message'],
  [
    'a wrong choice hides nothing: what was left out can still be reached',
    SELECTOR,
    'is there from the next step to the end of the turn where that is asked for',
  ],
  ['a choice that fails does not end the run', PEER, 'not with ours'],
  [
    'a message without words is not chosen for',
    SELECTOR,
    'are all there where the message has no words, and who listens is told why',
  ],
  [
    'where no choice is sure, none is made',
    'selection/confidence.test.ts',
    'makes a question of "%s" when it is below the threshold',
  ],
  [
    'a choice ahead takes nothing that the filter takes away',
    'selection/scope.test.ts',
    'and a filter of the host take tools away',
  ],
];

export const OTHERWISE: readonly Otherwise[] = [
  [
    'requests without a thread share one state',
    'A session is needed for all that lasts: what one anonymous caller enables must not be there for the next.',
  ],
  [
    'searching loads what is found (autoLoad)',
    'Enabling is a decision of the agent, judged by the policy; `narrow` lists hand schemas out without it.',
  ],
  [
    'what is loaded is read out of the messages of the conversation',
    'It is in the store, so it outlives a compaction of the conversation, and no text of a message can enable a tool.',
  ],
  [
    'loaded tools are appended in the order of loading',
    'They stand in the order of the catalogue, which is the same after a restart and in every process; a tool more changes the prompt either way.',
  ],
  [
    'a system message explains the meta tools',
    'Their descriptions do, in every adapter alike; a message would be one more text to keep in step.',
  ],
  ['a tool may be loaded by a key or by its id', 'A tool has one name, which is unique for whoever sees it.'],
  [
    'the filter may be asynchronous code',
    'Policy is data that is decided on at once: it can be checked, versioned and bound to approvals. Code of the embedder may filter by `ToolFilter` of the planner, or take tools out of the catalogue.',
  ],
  [
    'tools chosen ahead are added to those of earlier messages',
    'What the selector chose holds for its message: else a long talk ends with all tools. What an agent enables itself stays for its turns.',
  ],
  [
    'tools are chosen ahead by the answer to one question, by a table from answers to tools',
    'Selection reads a line on each tool: no table is to be kept in step with the catalogue. Fixed ties are rules of the catalogue, which are checked with it.',
  ],
  [
    'schemas are fetched when a tool is loaded',
    'A catalogue holds them: arguments are checked, and approvals are bound, by the schema that the operator has read, not by one that a server gives at that moment.',
  ],
  [
    'names and descriptions of all tools can be put before the model',
    'That is what searching saves; `classic` hands all of them out, and the planner shows a line on each.',
  ],
  [
    'the number of threads in memory can be asked for',
    '`winnow sessions list` tells it: the store holds the state, not the process.',
  ],
];
