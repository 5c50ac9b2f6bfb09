/** The selector of tools, and the tools of LangChain as Winnow reads them. */
import { StructuredTool } from '@langchain/core/tools';
import { MemorySaver } from '@langchain/langgraph';
import { createAgent, tool, toolStrategy } from 'langchain';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { z as z3 } from 'zod/v3';
import { toolsFromLangChain } from '../../../src/adapters/langchain/bound-tools.js';
import { createToolSelector, type ToldSelection } from '../../../src/adapters/langchain/index.js';
import { createScriptedModel } from '../../support/scripted-model.js';
import { ScriptedChat } from './scripted-chat.js';
import { selectByOurs } from './selecting.js';

const READ = { name: 'read_file' };
const DELETE = { name: 'delete_file' };

describe('the tools of a turn', () => {
  it('are those that were chosen, in their order, with those that every turn has and those of the provider', async () => {
    const { shown, asked } = await selectByOurs({
      selections: [['write_mail', 'read_file']],
      answers: [READ, 'done'],
      options: { alwaysInclude: ['list_task'] },
    });
    const tools = ['write_mail', 'read_file', 'list_task', 'web_search'];
    expect(shown).toEqual([tools, tools]);
    expect(asked[0]).toContain('- write_mail: Can write a mail.');
    expect(asked[0]).not.toContain('list_task');
  });

  it('are chosen anew for the next user message', async () => {
    const { shown } = await selectByOurs({
      selections: [['read_file'], ['delete_file']],
      answers: ['one', 'two'],
      messages: ['one', 'two'],
    });
    expect(shown.map(([first]) => first)).toEqual(['read_file', 'delete_file']);
  });

  it('are no more than maxTools, also where the selection fails or few are there', async () => {
    const options = { maxTools: 2 };
    const chosen = await selectByOurs({
      selections: [['read_file', 'read_note', 'read_mail']],
      answers: ['done'],
      options,
    });
    const failed = await selectByOurs({ selections: [new Error('down')], answers: ['done'], options });
    const few = await selectByOurs({ selections: [['read_file', 'read_note']], answers: ['done'], tools: 3, options });
    expect([chosen, failed, few].map(({ shown }) => shown[0]?.length)).toEqual([3, 3, 3]);
  });

  it('hold for a turn that goes on in another process', async () => {
    const checkpointer = new MemorySaver();
    const broken = selectByOurs({ selections: [['read_file']], answers: [READ, new Error('killed')], checkpointer });
    await expect(broken).rejects.toThrow('killed');
    const { asked, shown } = await selectByOurs({ selections: [], answers: ['done'], messages: [''], checkpointer });
    expect(asked).toEqual([]);
    expect(shown).toEqual([['read_file', 'web_search']]);
  });

  it('are chosen anew where the agent has other tools now', async () => {
    const checkpointer = new MemorySaver();
    const broken = selectByOurs({ selections: [['read_file']], answers: [READ, new Error('killed')], checkpointer });
    await expect(broken).rejects.toThrow('killed');
    const options = { alwaysInclude: ['list_task'] };
    const { shown } = await selectByOurs({
      selections: [['move_file']],
      answers: ['done'],
      messages: [''],
      checkpointer,
      options,
    });
    expect(shown[0]).toEqual(['move_file', 'list_task', 'web_search']);
  });

  it('follow the rules that are given', async () => {
    const rules = [{ name: 'look first', when: { message: 'throw' }, first: ['list_file'] }];
    const { shown } = await selectByOurs({
      selections: [['delete_file']],
      answers: ['done'],
      messages: ['throw it away'],
      options: { rules },
    });
    expect(shown[0]).toEqual(['list_file', 'delete_file', 'web_search']);
  });

  it('are all there where the message has no words, and who listens is told why, and ends no run by a failure', async () => {
    const told: ToldSelection[] = [];
    const model = createScriptedModel();
    const chat = new ScriptedChat(['done']);
    const tools = Array.from({ length: 20 }, (_, place) =>
      tool(async () => '', { name: `tool_${place}`, schema: z.object({}) }),
    );
    const onSelection = (one: ToldSelection) => {
      told.push(one);
      throw new Error('the listener is broken');
    };
    const selector = createToolSelector({ planner: { model }, onSelection });
    const agent = createAgent({ model: chat, tools, middleware: [selector] });
    const content = [{ type: 'image_url', image_url: 'data:image/png;base64,AA==' }];
    await agent.invoke({ messages: [{ role: 'user', content }] });
    expect(chat.seen[0]?.tools).toHaveLength(20);
    expect(told).toMatchObject([{ tools: { length: 20 }, failure: { code: 'invalid_request' } }]);
    expect(model.calls).toEqual([]);
  });
});

describe('a tool that was not chosen', () => {
  it('does not run, and the model is told what it has', async () => {
    const { ran, answers, final } = await selectByOurs({
      selections: [['read_file', 'read_note']],
      answers: [DELETE, READ, 'done'],
      options: { alwaysInclude: ['list_task'] },
    });
    expect(ran).toEqual(['read_file']);
    expect(JSON.parse(answers[0] ?? '')).toEqual({
      ok: false,
      code: 'not_selected',
      reason: 'delete_file was not chosen for this request and did not run.',
      next: 'Use one of the tools that you have: read_file, read_note, list_task.',
    });
    expect(final).toBe('done');
  });

  it('is not missed where none was chosen', async () => {
    const { answers, shown } = await selectByOurs({ selections: [[]], answers: [DELETE, 'done'] });
    expect(shown[0]).toEqual(['web_search']);
    expect(JSON.parse(answers[0] ?? '')).toMatchObject({ code: 'not_selected', next: 'Answer without tools.' });
  });

  it('is there from the next step to the end of the turn where that is asked for', async () => {
    const { ran, answers, shown } = await selectByOurs({
      selections: [['read_file'], ['read_file']],
      answers: [DELETE, DELETE, 'one', DELETE, 'two'],
      messages: ['one', 'two'],
      options: { onUnselected: 'enable' },
    });
    expect(shown.map((tools) => tools.includes('delete_file'))).toEqual([false, true, true, false, true]);
    expect(ran).toEqual(['delete_file']);
    expect(JSON.parse(answers[0] ?? '')).toMatchObject({ next: expect.stringContaining('call it again') });
  });

  it('is told apart from one that does not exist', async () => {
    const { answers, ran } = await selectByOurs({
      selections: [['read_file']],
      answers: [{ name: 'read_fax' }, 'done'],
    });
    expect(answers[0]).toMatch(/read_fax is not a valid tool/);
    expect(ran).toEqual([]);
  });

  it('runs nowhere in a step that calls several', async () => {
    const { ran } = await selectByOurs({ selections: [['read_file']], answers: [[READ, DELETE, READ], 'done'] });
    expect(ran).toEqual(['read_file', 'read_file']);
  });
});

describe('the selection model', () => {
  it('sees what was said, called and found before, as a window on the history', async () => {
    const { asked } = await selectByOurs({
      selections: [['read_file'], ['read_file']],
      answers: [{ name: 'read_file', args: { title: 'a.txt' } }, 'It is empty.', 'done'],
      messages: ['What is in a.txt?', 'do it again'],
    });
    const seen = asked[1] ?? '';
    expect(seen).toContain(
      'user: What is in a.txt?\nassistant: read_file({"title":"a.txt"})\ntool: ran read_file\nassistant: It is empty.\n',
    );
    expect(seen).toMatch(/Request: do it again$/);
  });
});

describe('a run', () => {
  it('ends where alwaysInclude names no tool of the agent', async () => {
    const run = selectByOurs({ selections: [], answers: [], options: { alwaysInclude: ['fax'] } });
    await expect(run).rejects.toMatchObject({
      cause: { code: 'invalid_option', message: expect.stringMatching(/alwaysInclude.*fax/) },
    });
  });

  it('that is cancelled while tools are chosen ends there', async () => {
    const controller = new AbortController();
    const model = createScriptedModel({
      answers: () => {
        controller.abort();
        return '{"selected_tools": []}';
      },
    });
    const chat = new ScriptedChat(['done']);
    const selector = createToolSelector({ planner: { model, options: { passthroughTools: 0 } } });
    const tools = [tool(async () => '', { name: 'one', schema: z.object({}) })];
    const agent = createAgent({ model: chat, tools, middleware: [selector] });
    const run = agent.invoke({ messages: [{ role: 'user', content: 'go' }] }, { signal: controller.signal });
    await expect(run).rejects.toThrow(/abort|cancel/i);
    expect(chat.seen).toEqual([]);
  });

  it('hands on a structured response', async () => {
    const model = createScriptedModel({ answers: ['{"selected_tools": ["one"]}'] });
    const chat = new ScriptedChat(({ tools }) => ({
      name: tools.find((name) => name.startsWith('extract')) ?? '',
      args: { n: 1 },
    }));
    const selector = createToolSelector({ planner: { model, options: { passthroughTools: 0 } } });
    const tools = [tool(async () => '', { name: 'one', schema: z.object({}) })];
    const responseFormat = toolStrategy(z.object({ n: z.number() }));
    const agent = createAgent({ model: chat, tools, middleware: [selector], responseFormat });
    const { structuredResponse } = await agent.invoke({ messages: [{ role: 'user', content: 'go' }] });
    expect(structuredResponse).toEqual({ n: 1 });
  });
});

const input = { type: 'object' as const, properties: { n: { type: 'integer' as const, default: 5 } } };
const named = { name: 'count', description: 'Counts.', metadata: { risk: 'low', owner: 'ann' } };
const run = async () => '';
// Under exactOptionalPropertyTypes the types of zod 3 do not fit those of LangChain.
const withZod3 = (schema: object) => Reflect.apply(tool, undefined, [run, { ...named, schema }]);

describe('a bound tool', () => {
  it.each([
    ['zod 4', tool(run, { ...named, schema: z.object({ n: z.int().default(5) }) })],
    ['zod 3', withZod3(z3.object({ n: z3.number().int().default(5) }))],
    ['JSON Schema', tool(run, { ...named, schema: input })],
    ['a function in the form of OpenAI', { type: 'function', function: { ...named, parameters: input } }],
  ])('of %s is a tool with its texts, and what has a default may be left out', (_, bound) => {
    const [made] = toolsFromLangChain([bound]);
    expect(made).toMatchObject({ name: 'count', description: 'Counts.', toolType: 'builtin' });
    expect(made?.inputSchema).toMatchObject({ properties: { n: { type: 'integer', default: 5 } } });
    expect(made?.inputSchema.required ?? []).toEqual([]);
  });

  it('keeps what its metadata says of its risk', () => {
    const [made] = toolsFromLangChain([tool(run, { ...named, schema: z.object({}) })]);
    expect(made).toMatchObject({ risk: 'low', metadata: { owner: 'ann' } });
  });

  it('without parameters takes none', () => {
    expect(toolsFromLangChain([{ type: 'function', function: { name: 'now' } }])).toMatchObject([
      { inputSchema: { type: 'object' } },
    ]);
  });

  it.each([
    ['of the provider', { type: 'web_search' }, 'web_search'],
    ['without a name', { type: 'function', function: {} }, 'function'],
  ])('%s is refused with what to do', (_, bound, name) => {
    expect(() => toolsFromLangChain([bound])).toThrow(
      expect.objectContaining({
        code: 'invalid_option',
        message: expect.stringMatching(`"${name}".*give LangChain tools`),
      }),
    );
  });
});

const citySchema = z.object({ city: z.string().describe('Where.'), days: z.number().int().default(3) });
const cityJson = {
  type: 'object' as const,
  properties: {
    city: { type: 'string', description: 'Where.' },
    days: { default: 3, type: 'integer', minimum: -9007199254740991, maximum: 9007199254740991 },
  },
  required: ['city'],
};

class Forecast extends StructuredTool<typeof citySchema> {
  name = 'forecast';
  description = 'The weather of the next days.';
  schema = citySchema;
  protected async _call() {
    return 'sun';
  }
}

describe('LangChain tools', () => {
  it.each([
    [
      'tool() with zod',
      tool(run, { name: 'forecast', description: 'The weather of the next days.', schema: citySchema }),
    ],
    ['a StructuredTool class', new Forecast()],
    [
      'tool() with JSON Schema',
      tool(run, { name: 'forecast', description: 'The weather of the next days.', schema: cityJson }),
    ],
  ])('%s becomes a tool with the arguments as its caller writes them', (_, langchainTool) => {
    expect(toolsFromLangChain([langchainTool])).toMatchObject([
      {
        name: 'forecast',
        description: 'The weather of the next days.',
        toolType: 'builtin',
        origin: 'langchain',
        inputSchema: cityJson,
      },
    ]);
  });

  it('a tool that takes a string has the argument "input"', () => {
    const [made] = toolsFromLangChain([tool(run, { name: 'echo', description: 'Says it again.' })]);
    expect(made?.inputSchema).toMatchObject({ type: 'object', properties: { input: { type: 'string' } } });
  });

  it('facts for Winnow are taken from the metadata, the others stay there', () => {
    const metadata = { risk: 'high', category: 'files', keywords: ['rm'], owner: 'ops' };
    const remove = tool(run, { name: 'remove', description: 'Removes a file.', schema: citySchema, metadata });
    expect(toolsFromLangChain([remove], { origin: 'my-agent' })).toMatchObject([
      { risk: 'high', category: 'files', keywords: ['rm'], metadata: { owner: 'ops' }, origin: 'my-agent' },
    ]);
  });

  it('a tool that a catalogue can not hold is refused by name', () => {
    const bad = tool(run, { name: '__proto__', description: 'd', schema: citySchema });
    expect(() => toolsFromLangChain([bad])).toThrow(
      expect.objectContaining({ code: 'invalid_catalog', issues: [expect.stringContaining('__proto__')] }),
    );
  });
});
