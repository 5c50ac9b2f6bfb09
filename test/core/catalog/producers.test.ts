/** Which tool's result provides which argument, by which field; and who is added before a chosen tool. */
import { describe, expect, it } from 'vitest';
import { createCatalog } from '../../../src/core/catalog/catalog.js';
import { loadCatalog } from '../../../src/core/catalog/load.js';
import { missingProducers, type ProducerContext, producerGraph } from '../../../src/core/catalog/producers.js';
import { createScope, type View } from '../../../src/core/catalog/scope.js';
import { parseTool, type Tool, type ToolEntry } from '../../../src/core/catalog/tool.js';

const text = { type: 'string' };
const objectOf = (properties: Record<string, unknown>) => ({ type: 'object', properties });
const strings = (...names: string[]) => objectOf(Object.fromEntries(names.map((name) => [name, text])));
const needing = (...names: string[]) => ({ ...strings(...names), required: names });
const listOf = (items: unknown) => ({ type: 'array', items });

function makeTool(name: string, { origin = 'test', ...entry }: Partial<ToolEntry> = {}): Tool {
  const parsed = parseTool({ name, toolType: 'builtin', risk: 'low', ...entry }, { origin, index: 0 });
  if (!parsed.ok) throw new Error(parsed.issues.map(({ message }) => message).join('; '));
  return parsed.tool;
}

const viewOf = (...tools: Tool[]) => createScope(createCatalog(tools))({});

async function fixture(name: string): Promise<View> {
  const { catalog } = await loadCatalog({ sources: [`fixtures/catalogs/${name}.json`], strict: true });
  return createScope(catalog)({});
}

function tool(view: View, name: string): Tool {
  const found = view.byName.get(name);
  if (!found) throw new Error(`no tool ${name}`);
  return found;
}

/** `producer path.to.field` of each provision, best first. */
function provisions(view: View, consumer: string, argument: string): string[] {
  const found = producerGraph(view).provisionsFor(tool(view, consumer), argument);
  return found.map(({ producer, path }) => `${producer.name} ${path.join('.')}`);
}

type Asked = Partial<Omit<ProducerContext, 'view'>> & { present?: string[] };

function added(view: View, name: string, { request = { message: '' }, present = [], ...rest }: Asked = {}) {
  return missingProducers(tool(view, name), new Set(present), { view, request, ...rest });
}

const namesAdded = (...parts: Parameters<typeof added>) => added(...parts).map((one) => one.tool.name);
const asks = (message: string) => ({ request: { message } });

const hydrology = await fixture('hydrology');
const assistant = await fixture('assistant');
const codingAgent = await fixture('coding-agent');

/** As an OpenAPI document without response schemas gives them. */
const movies = viewOf(
  makeTool('search_movie', { description: 'Search for movies.', inputSchema: needing('query') }),
  makeTool('movie_credits', { description: 'Get the cast of a movie.', inputSchema: needing('movie_id') }),
  makeTool('search_person', { description: 'Search for people.', inputSchema: needing('query') }),
  makeTool('person_details', { description: 'Get the details of a person.', inputSchema: needing('person_id') }),
  makeTool('genre_list', { description: 'Get the official genres.' }),
);
const finding = (name: string, needed: string, returned: string) =>
  makeTool(name, { inputSchema: needing(needed), outputSchema: strings(returned, 'price') });
const hotels = viewOf(
  finding('find_city', 'name', 'city_id'),
  finding('list_hotels', 'city_id', 'hotel_id'),
  finding('hotel_prices', 'hotel_id', 'currency'),
);

describe('the field that provides an argument', () => {
  const weigh = makeTool('parcel_weight', { inputSchema: needing('parcel_id') });
  const node = { $defs: { node: objectOf({ parcel: strings('id'), next: { $ref: '#/$defs/node' } }) } };

  it.each<[string, Record<string, unknown>, string]>([
    ['of that name', strings('weight', 'parcel_id'), 'parcel_id'],
    ['of that name in another spelling', strings('weight', 'parcelID'), 'parcelID'],
    ['inside an object of that kind', objectOf({ parcel: strings('id', 'name') }), 'parcel.id'],
    ['inside a list of that kind', objectOf({ parcels: listOf(strings('id', 'name')) }), 'parcels.0.id'],
    ['in a list at the root', listOf(strings('name', 'parcel_id')), '0.parcel_id'],
    ['behind a reference, entered once', { ...node, $ref: '#/$defs/node' }, 'parcel.id'],
    ['in a part of allOf', { allOf: [strings('name'), strings('parcel_id')] }, 'parcel_id'],
    [
      'in one form of anyOf',
      objectOf({ found: { anyOf: [strings('parcel_id'), { type: 'null' }] } }),
      'found.parcel_id',
    ],
    [
      'outside rather than in a list',
      objectOf({ all: listOf(strings('parcel_id')), last: strings('parcel_id') }),
      'last.parcel_id',
    ],
  ])('is the one %s', (_, outputSchema, path) => {
    expect(provisions(viewOf(weigh, makeTool('lookup', { outputSchema })), 'parcel_weight', 'parcel_id')[0]).toBe(
      `lookup ${path}`,
    );
  });

  it.each<[string, Record<string, unknown>]>([
    ['first_parcel_id', text],
    ['toParcelId', text],
    ['contents_id', { ...text, description: 'The parcel that holds the goods' }],
    ['content_ids', { ...listOf(text), description: 'parcel_id of each' }],
    ['contents', { ...listOf(text), description: 'Ids of the parcels that are in it' }],
  ])('is that of the thing which plays a role: %s', (argument, schema) => {
    const swap = makeTool('swap', { inputSchema: { ...objectOf({ [argument]: schema }), required: [argument] } });
    const find = makeTool('find_parcel', { outputSchema: objectOf({ found: listOf(strings('parcel_id', 'name')) }) });
    const bills = makeTool('find_bill', { outputSchema: strings('bill_id', 'sum') });
    expect(provisions(viewOf(swap, bills, find), 'swap', argument)).toEqual(['find_parcel found.0.parcel_id']);
    const [best] = producerGraph(viewOf(swap, find)).provisionsFor(swap, argument);
    expect(best?.score).toBeGreaterThan(0.45);
  });

  it('is the bare id of the thing which plays a role', () => {
    const swap = makeTool('swap', { inputSchema: needing('first_parcel_id', 'second_parcel_id') });
    const find = makeTool('find_parcel', { outputSchema: objectOf({ found: listOf(strings('id', 'name')) }) });
    const bills = makeTool('find_bill', { outputSchema: strings('id', 'sum') });
    expect(provisions(viewOf(swap, bills, find), 'swap', 'second_parcel_id')).toEqual(['find_parcel found.0.id']);
  });

  it.each<[string, Record<string, unknown>]>([
    ['others', strings('colour', 'weight')],
    ['the id of another thing', strings('invoice_id', 'weight')],
    ['one of another type', objectOf({ parcel_id: { type: 'boolean' }, weight: text })],
  ])('is not there among %s', (_, outputSchema) => {
    expect(provisions(viewOf(weigh, makeTool('lookup', { outputSchema })), 'parcel_weight', 'parcel_id')).toEqual([]);
  });

  it.each([
    [hydrology, 'query_reservoir_last', 'stcd', 'lookup_station_code stcd'],
    [hydrology, 'compare_dispatch_plans', 'baseline_plan_id', 'simulate_dispatch plan_id'],
    [assistant, 'book_flight', 'flight_id', 'flights_search cheapest.flight_id'],
    [assistant, 'send_mail', 'to', 'find_contact email'],
    [assistant, 'drive_share', 'file_id', 'drive_search file_id'],
    [codingAgent, 'commit_message_write', 'diff', 'git_diff diff'],
    [codingAgent, 'lsp_hover', 'uri', 'lsp_open_file uri'],
  ])('%#: is found for $2 of $1', (view, consumer, argument, expected) => {
    expect(provisions(view, consumer, argument)).toContain(expected);
  });

  it('is a guess where no output schema declares it, and told as one', () => {
    const [best] = producerGraph(movies).provisionsFor(tool(movies, 'movie_credits'), 'movie_id');
    expect(best).toMatchObject({ producer: { name: 'search_movie' }, path: ['movie_id'] });
  });

  it('is the only field of a result that hides what is inside', () => {
    const search = { inputSchema: needing('query'), outputSchema: strings('content') };
    const view = viewOf(weigh, makeTool('search_parcels', search), makeTool('search_songs', search));
    expect(provisions(view, 'parcel_weight', 'parcel_id')).toEqual(['search_parcels content']);
  });
});

describe('of several producers the best', () => {
  const returns = { outputSchema: strings('parcel_id', 'name') };

  it.each<[string, Tool[]]>([
    ['reads rather than writes', [makeTool('a', { ...returns, risk: 'high' }), makeTool('best', returns)]],
    ['stands on the same server', [makeTool('a', { ...returns, origin: 'far' }), makeTool('best', returns)]],
    [
      'waits for no other identifier',
      [makeTool('a', { ...returns, inputSchema: needing('box_id') }), makeTool('best', returns)],
    ],
    ['is named by the argument', [makeTool('a', returns), makeTool('post_office', returns)]],
  ])('%s', (_, producers) => {
    const parcel_id = { ...text, description: 'As the Post Office returned it.' };
    const weigh = makeTool('weigh', { inputSchema: { ...objectOf({ parcel_id }), required: ['parcel_id'] } });
    const best = producers.at(-1)?.name;
    expect(provisions(viewOf(...producers, weigh), 'weigh', 'parcel_id')[0]).toBe(`${best} parcel_id`);
  });

  it('is none that asks for the same itself, and not the consumer', () => {
    const same = { inputSchema: needing('parcel_id'), outputSchema: strings('parcel_id', 'name') };
    expect(provisions(viewOf(makeTool('weigh', same), makeTool('track', same)), 'weigh', 'parcel_id')).toEqual([]);
  });
});

describe('an argument is an identifier', () => {
  const isIdentifier = (name: string, schema: Record<string, unknown> = text, ...others: Tool[]) => {
    const view = viewOf(makeTool('use', { inputSchema: objectOf({ [name]: schema }) }), ...others);
    return producerGraph(view).argumentsOf(tool(view, 'use'))[0]?.isIdentifier;
  };

  it.each(['movie_id', 'movieId', 'movie-ids', 'id', 'documentUri', 'order_ref', 'homepage_id'])(
    'by its name: %s',
    (name) => {
      expect(isIdentifier(name)).toBe(true);
    },
  );

  it.each(['query', 'name', 'country_code', 'api_key', 'page_token', 'path', 'video'])(
    'not %s, which a user can say',
    (name) => {
      expect(isIdentifier(name)).toBe(false);
    },
  );

  it.each([
    ['one of a list', { ...text, enum: ['a', 'b'] }],
    ['a constant', { const: 'a' }],
    ['given by default', { ...text, default: 'me' }],
  ])('not when it is %s', (_, schema) => {
    expect(isIdentifier('thing_id', schema)).toBe(false);
  });

  it('when it is a code that another tool returns, or when its description names a tool', () => {
    expect(isIdentifier('project_code', text, makeTool('find', { outputSchema: strings('project_code') }))).toBe(true);
    expect(isIdentifier('spot', { ...text, description: '由 find_spot 返回' }, makeTool('find_spot'))).toBe(true);
    expect(isIdentifier('spot', { ...text, description: '由 find_spots 返回' }, makeTool('find_spot'))).toBe(false);
  });
});

describe('a missing producer is added', () => {
  it.each([
    [hydrology, 'query_reservoir_last', '盘石头水库当前水位', ['lookup_station_code']],
    [codingAgent, 'debug_step', 'go on to the next line', ['debug_start']],
    [codingAgent, 'terminal_send', 'type ls into a shell', ['terminal_open']],
    [assistant, 'pay_invoice', 'pay the last invoice', ['list_invoices']],
    [movies, 'movie_credits', 'Who played in "Arrival"?', ['search_movie']],
    [movies, 'person_details', 'Where was "Amy Adams" born?', ['search_person']],
    [hotels, 'hotel_prices', 'What do hotels in Rome cost?', ['find_city', 'list_hotels']],
  ])('%#: before $1, the deepest first', (view, name, message, expected) => {
    expect(namesAdded(view, name, asks(message))).toEqual(expected);
  });

  it('with the argument that it serves', () => {
    expect(added(hotels, 'hotel_prices').map(({ serves }) => serves)).toEqual([
      'list_hotels.city_id',
      'hotel_prices.hotel_id',
    ]);
  });

  it.each(['genre_list', 'search_movie'])('not before %s, which needs nothing that a user cannot say', (name) => {
    expect(namesAdded(movies, name, asks('something'))).toEqual([]);
  });

  it('not for an optional argument', () => {
    const view = viewOf(
      makeTool('find_city', { outputSchema: strings('city_id', 'name') }),
      makeTool('use', { inputSchema: strings('city_id') }),
    );
    expect(namesAdded(view, 'use', asks('what do they cost'))).toEqual([]);
  });

  it('not when a present tool provides the value, or the caller must not know of it', () => {
    expect(namesAdded(hotels, 'hotel_prices', { present: ['list_hotels'] })).toEqual([]);
    expect(namesAdded(hotels, 'hotel_prices', { isShown: ({ name }) => name !== 'list_hotels' })).toEqual([]);
  });

  it.each(['list_parcels', 'list_returns'])('that the model finds likelier where two are as good: %s', (likely) => {
    const lists = ['list_parcels', 'list_returns'].map((name) =>
      makeTool(name, { outputSchema: strings('parcel_id', 'name') }),
    );
    const view = viewOf(...lists, makeTool('weigh', { inputSchema: needing('parcel_id') }));
    expect(namesAdded(view, 'weigh', { probabilityOf: (name) => (name === likely ? 0.8 : 0) })).toEqual([likely]);
  });

  it('never twice, and circles end', () => {
    const circle = viewOf(finding('a', 'b_id', 'a_id'), finding('b', 'a_id', 'b_id'), finding('c', 'b_id', 'c_id'));
    for (const name of ['a', 'b', 'c']) {
      const names = namesAdded(circle, name);
      expect(names).not.toContain(name);
      expect(new Set(names).size).toBe(names.length);
    }
  });
});

describe('the request holds the value of', () => {
  const number = { type: 'integer' };
  const isGiven = (argument: string, message: string, schema: Record<string, unknown> = text) => {
    const inputSchema = { ...objectOf({ [argument]: schema }), required: [argument] };
    const search = makeTool('find', { outputSchema: objectOf({ [argument]: schema, name: text }) });
    return namesAdded(viewOf(search, makeTool('use', { inputSchema })), 'use', asks(message)).length === 0;
  };

  it.each<[string, string, Record<string, unknown>?]>([
    ['order_id', 'cancel 3f2504e0-4f89-11d3-9a0c-0305e82c3301'],
    ['order_id', 'cancel AB-1234-X'],
    ['order_id', 'Tell me the status of order 9876'],
    ['order_id', 'Cancele o pedido R-64; o R-65 fica'],
    ['order_id', '取消 b_7'],
    ['station_code', '当前水位31006930怎么样'],
    ['movie_id', 'credits of movie 550', number],
    ['movie_id', 'credits, movie_id: 550', number],
    ['ticket_id', 'close #12', number],
    ['invoice_id', 'pay what is due on 30 November (inv-2291)'],
    ['issue_number', 'pull up 88', number],
    ['document_uri', 'open https://example.org/a'],
    ['note_path', 'read src/app.ts'],
    ['note_path', 'read C:\\notes'],
    ['note_path', 'read ~/notes.'],
  ])('%s in "%s"', (argument, message, schema = text) => {
    expect(isGiven(argument, message, schema)).toBe(true);
  });

  it.each<[string, string, Record<string, unknown>?]>([
    ['order_id', 'cancel my order'],
    ['account_id', 'Transfer 10000 to Ann Smith'],
    ['product_id', 'offers for the Sony WH-1000XM4'],
    ['session_id', 'stop at src/app.ts:12'],
    ['product_id', 'offers for the Sony A-7'],
    ['movie_id', 'the 3 best movies', number],
    ['movie_id', 'credits of ab12cd34', number],
    ['document_uri', 'open the handbook of src/app.ts'],
    ['note_path', 'read my notes about the budget'],
  ])('%s not in "%s"', (argument, message, schema = text) => {
    expect(isGiven(argument, message, schema)).toBe(false);
  });

  it('another identifier, where the name of that one stands before it', () => {
    const inputSchema = { ...objectOf({ project_id: text }), required: ['project_id'] };
    const find = makeTool('find_project', {
      inputSchema: objectOf({ workspace: text }),
      outputSchema: objectOf({ project_id: text }),
    });
    const view = viewOf(find, makeTool('count_tasks', { inputSchema }));
    expect(namesAdded(view, 'count_tasks', asks('tasks of workspace 120011'))).toEqual(['find_project']);
    expect(namesAdded(view, 'count_tasks', asks('tasks of 120011'))).toEqual([]);
  });

  describe('whose schema shows the form of its codes', () => {
    const like = (description: string) => ({ type: 'string', description });
    const find = makeTool('find_guest', {
      inputSchema: needing('name'),
      outputSchema: objectOf({ guest_id: text }),
    });
    const take = (name: string, properties: Record<string, unknown>) =>
      makeTool(name, { inputSchema: { ...objectOf(properties), required: Object.keys(properties) } });
    const greet = take('greet', { guest_id: like('Id of the guest, e.g. G-1') });
    const renew = take('renew_loan', { loan_id: like('Number of the loan, e.g. L-1') });

    it('has a code of that form, also behind a capitalised word, and none of the form that others show', () => {
      const view = viewOf(find, greet, renew);
      expect(namesAdded(view, 'greet', asks('Wake Ann G-4 please'))).toEqual([]);
      expect(namesAdded(view, 'greet', asks('greet L-4'))).toEqual(['find_guest']);
      expect(namesAdded(view, 'greet', asks('greet X-4'))).toEqual([]);
    });

    it('shares it with identifiers of the same thing that show none, by their names or descriptions', () => {
      const move = take('move', { guest_id: text });
      const invite = take('invite', { attendees: like('Ids of the guests to invite') });
      const number = take('bill', { guest_number: text });
      const count = take('check_in', { guest_id: { type: 'integer' } });
      const view = viewOf(find, greet, renew, move, invite, number, count);
      const codes = (tool: string) => [...producerGraph(view).formsTakenBy(view.byName.get(tool) as Tool)];
      expect(['move', 'invite', 'bill', 'check_in'].map(codes)).toEqual([['g0'], ['g0'], [], []]);
      expect(namesAdded(view, 'move', asks('move L-4'))).toEqual(['find_guest']);
    });
  });

  it('another identifier, where the name of that one stands before the first of a list', () => {
    const inputSchema = { ...strings('ticket_id', 'person_id'), required: ['ticket_id', 'person_id'] };
    const find = makeTool('find_person', { inputSchema: needing('name'), outputSchema: strings('person_id', 'email') });
    const view = viewOf(find, makeTool('assign', { inputSchema }));
    expect(namesAdded(view, 'assign', asks('Assign tickets T-12 and T-13 to Bo Lind'))).toEqual(['find_person']);
    expect(namesAdded(view, 'assign', asks('Assign tickets T-12 and P-7'))).toEqual([]);
  });

  it.each([
    [{ movie_id: 0 }, []],
    [{ movieId: 7 }, []],
    [{ movie_id: null }, ['search_movie']],
    [{ movie: 'Arrival' }, ['search_movie']],
  ])('an identifier in the entities %j', (entities, expected) => {
    expect(namesAdded(movies, 'movie_credits', { request: { message: 'who played', entities } })).toEqual(expected);
  });

  it('no path where there is no request: any may be meant', () => {
    expect(isGiven('note_path', '')).toBe(true);
    expect(isGiven('file_id', '')).toBe(false);
  });
});

it('adds no more producers than a real chain has, however long a server makes it', () => {
  const words = Array.from({ length: 40 }, (_, place) => `thing${String.fromCharCode(97 + (place % 26))}${place}`);
  const tools = words.map((word, place) =>
    makeTool(`get_${word}`, {
      inputSchema: needing(`${word}_id`),
      outputSchema: strings(`${words[place + 1]}_id`, 'note'),
    }),
  );
  expect(namesAdded(viewOf(...tools), `get_${words.at(-1)}`)).toHaveLength(16);
});

describe('a tool with very many arguments', () => {
  const names = Array.from({ length: 60 }, (_, place) => `thing${place}_id`);
  const finders = [40, 50].map((place) =>
    makeTool(`find_thing${place}`, { inputSchema: needing('name'), outputSchema: strings(`thing${place}_id`) }),
  );
  const view = viewOf(makeTool('use_things', { inputSchema: needing(...names) }), ...finders);

  it('has the first 48 of them looked at', () => {
    expect(namesAdded(view, 'use_things')).toEqual(['find_thing40']);
  });

  it('takes as given what the first 4,000 characters of the request say', () => {
    const says = (before: number) => asks(`${'x'.repeat(before)} the thing40 77123 and more`);
    expect(namesAdded(view, 'use_things', says(3_900))).toEqual([]);
    expect(namesAdded(view, 'use_things', says(4_000))).toEqual(['find_thing40']);
  });
});
