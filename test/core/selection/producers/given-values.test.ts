import { describe, expect, it } from '@jest/globals';
import { type PlanRequest, parseRequest } from '../../../../src/core/request.js';
import { givenOf, isGiven } from '../../../../src/core/selection/producers/given-values.js';
import { needsOf } from '../../../../src/core/selection/producers/needs.js';
import { makeTool } from '../setup.js';

function holds(argument: string, request: PlanRequest, schema: Record<string, unknown> = { type: 'string' }): boolean {
  const inputSchema = { type: 'object', properties: { [argument]: schema }, required: [argument] };
  const spoken = new Map([[argument, new Set(['other'])]]);
  const [need] = needsOf(makeTool('some_tool', { inputSchema }), { produced: spoken, nouns: new Set() });
  if (!need) throw new Error(`${argument} is no handle`);
  return isGiven(need, givenOf(parseRequest(request)));
}

describe('the request holds the value of a handle', () => {
  it.each<[string, string, Record<string, unknown> | undefined]>([
    ['order_id', 'cancel 3f2504e0-4f89-11d3-9a0c-0305e82c3301', undefined],
    ['order_id', 'cancel AB-1234-X', undefined],
    ['station_code', '31006930 now', undefined],
    ['movie_id', 'credits of movie 550', { type: 'integer' }],
    ['movie_id', 'credits, movie_id: 550', { type: 'integer' }],
    ['movie_id', 'credits, movie id = 550', { type: 'integer' }],
    ['ticket_id', 'close ticket #12', { type: 'integer' }],
    ['id', 'show id 7', { type: 'integer' }],
    ['person_id', 'studies of Ann, her id is 1234', undefined],
    ['person_id', 'studies of Ann,编号是1234,她的id为12', undefined],
    ['employee_id', 'the tools of the employee (id Adriel)', undefined],
    ['product_id', 'is it there? Look for the prod id: V-neck', undefined],
    ['product_id', 'is it there? Look for the id "delta"', undefined],
    ['document_uri', 'open https://example.org/a', undefined],
    ['station_code', '当前水位 31006930', undefined],
    ['order_id', 'Tell me the status of order 987654', undefined],
    ['hotel_id', 'Book a room in hotel 12345', undefined],
    ['customer_id', 'Call up customer 98765', { type: 'integer' }],
    ['ticket_id', 'close ticket #1000', { type: 'integer' }],
    ['ticket_id', 'close ticket #2019', { type: 'integer' }],
    ['order_id', 'cancel order_id: 20240115', undefined],
    ['order_id', 'cancel order id 13912345678', undefined],
    ['key_ref', 'take AB1', { type: 'string', pattern: '^[A-Z]{2}\\d$' }],
  ])('%s in "%s"', (argument, message, schema) => {
    expect(holds(argument, { message }, schema)).toBe(true);
  });

  it.each<[string, string, Record<string, unknown> | undefined]>([
    ['order_id', 'cancel my order', undefined],
    ['station_code', '修武站水位，电话13800138000', undefined],
    ['station_code', '修武站20260101水位', undefined],
    ['station_code', 'level of Xiuwu, at most 12500 m3', undefined],
    ['account_id', 'Transfer 10000 to Ann Smith', undefined],
    ['account_id', 'Transfer $12345 to Ann Smith', undefined],
    ['account_id', 'Call Ann Smith at 5551234567', undefined],
    ['movie_id', 'Who plays in the movie 1917?', { type: 'integer' }],
    ['product_id', 'offers for the Sony WH-1000XM4', undefined],
    ['movie_id', 'the 3 best movies', { type: 'integer' }],
    ['movie_id', 'credits of ab12cd34', { type: 'integer' }],
    ['movie_id', 'find the movie with id Alien', { type: 'integer' }],
    ['product_id', 'what is its id and name', undefined],
    ['product_id', 'the id: of the shirt', undefined],
    ['product_id', 'the id of the "delta" shirt', undefined],
    ['document_uri', 'open the handbook', undefined],
    ['key_ref', 'take the key', { type: 'string', pattern: '(' }],
  ])('%s not in "%s"', (argument, message, schema) => {
    expect(holds(argument, { message }, schema)).toBe(false);
  });

  it.each(['movie_id', 'movieId', 'MovieID'])('in an entity %s', (name) => {
    expect(holds('movie_id', { message: 'cast', entities: { [name]: 0 } })).toBe(true);
  });

  it('not in an entity of another name, or without a value', () => {
    expect(holds('movie_id', { message: 'cast', entities: { person_id: 7, movie_id: null } })).toBe(false);
  });

  it('not in what was said before, where the message names something of its own', () => {
    const history = [{ role: 'assistant', content: '盘石头水库（测站编码 31005650）245.6 米' } as const];
    expect(holds('station_code', { message: 'its level now', history })).toBe(true);
    expect(holds('station_code', { message: '它的水位', history })).toBe(true);
    expect(holds('station_code', { message: 'the level of Xiuwu', history })).toBe(false);
    expect(holds('station_code', { message: '“修武站”的水位', history })).toBe(false);
    expect(holds('station_code', { message: '水位', history, entities: { object: '修武站' } })).toBe(false);
    expect(holds('station_code', { message: '水位', history, entities: { object: '盘石头水库' } })).toBe(true);
  });

  it('in what was said before, where the message names only what was said there, or nothing', () => {
    const history = [{ role: 'user', content: 'what of "Alpha" and "Beta", order 987654?' } as const];
    expect(holds('order_id', { message: 'compare "Alpha" with "Beta"', history })).toBe(true);
    expect(holds('order_id', { message: 'can I see the PDF of it?', history })).toBe(true);
    expect(holds('order_id', { message: 'compare "Gamma" with "Beta"', history })).toBe(false);
  });

  it('not in an entity that holds nothing', () => {
    expect(holds('station_code', { message: 'its level', entities: { station_code: '' } })).toBe(false);
  });

  it('in one of the last messages, not in one long ago', () => {
    const said = { role: 'user', content: 'order AB-1234-X' } as const;
    const other = { role: 'assistant', content: 'well' } as const;
    expect(holds('order_id', { message: 'cancel it', history: [said, other] })).toBe(true);
    expect(holds('order_id', { message: 'cancel it', history: [said, ...Array(6).fill(other)] })).toBe(false);
  });

  // Once a tool returns `path`, the argument counts as a handle; a path in the message is its value.
  it('a path', () => {
    const schema = { type: 'string', description: 'Path as returned by find_files.' };
    expect(holds('path', { message: 'read src/app.ts' }, schema)).toBe(true);
  });
});
