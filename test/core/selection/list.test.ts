import { describe, expect, it } from '@jest/globals';
import { createSheet } from '../../../src/core/selection/ladder.js';
import { parseAnswer } from '../../../src/core/selection/list.js';
import { makeTool, naming, TOOLS } from './setup.js';

const sheet = createSheet(TOOLS, 'whole');

function parse(text: string, finish: 'stop' | 'length' = 'stop') {
  return parseAnswer({ text, finish }, sheet);
}

function read(text: string) {
  const parsed = parse(text);
  if (!parsed.ok) throw new Error(parsed.issues.join('; '));
  const { named, ...rest } = parsed.value;
  return { ...rest, names: named.map(({ tool }) => tool.name), dropped: [...parsed.dropped] };
}

describe('the answer of a list model', () => {
  it('keeps the order of relevance', () => {
    expect(read(naming('stock_quote', 'read_mail', 'book_flight'))).toMatchObject({
      names: ['stock_quote', 'read_mail', 'book_flight'],
      chosen: 3,
      reason: 'they fit',
      dropped: [],
    });
  });

  it('may be a bare list, lack its reason, or carry space around a name', () => {
    expect(read('["read_mail"]').names).toEqual(['read_mail']);
    expect(read('{"selected_tools":["read_mail"]}')).toMatchObject({ names: ['read_mail'], reason: '' });
    expect(read('{"selected_tools":["read_mail"],"reason":7}')).toMatchObject({ names: ['read_mail'], reason: '' });
    expect(read(naming(' read_mail ')).names).toEqual(['read_mail']);
  });

  it('drops what is repeated, 4,000 times too, and says so once', () => {
    const answer = read(naming(...Array<string>(4_000).fill('read_mail'), 'stock_quote'));
    expect(answer.names).toEqual(['read_mail', 'stock_quote']);
    expect(answer.dropped).toEqual([{ name: 'read_mail', reason: 'duplicate' }]);
  });

  it('drops unknown names, suggests the near miss, and never takes it', () => {
    const answer = read(naming('raed_mail', 'stock_quote', 'xyzzy'));
    expect(answer.names).toEqual(['stock_quote']);
    expect(answer.dropped).toEqual([
      { name: 'raed_mail', reason: 'unknown', suggestion: 'read_mail' },
      { name: 'xyzzy', reason: 'unknown' },
    ]);
  });

  it('records 4,000 unknown names, but looks for near misses of the first only', () => {
    const { names, dropped } = read(
      naming(...Array.from({ length: 4_000 }, (_, place) => `read_ma${place}`), 'play_song'),
    );
    expect(names).toEqual(['play_song']);
    expect(dropped).toHaveLength(4_000);
    const suggested = dropped.filter(({ suggestion }) => suggestion === 'read_mail');
    expect(suggested.length).toBeGreaterThan(0);
    expect(suggested.length).toBeLessThanOrEqual(20);
  });

  it.each(['READ_MAIL', 'read mail', 'read_mail()', '- read_mail'])('does not take %s for a tool', (name) => {
    expect(read(naming(name, 'stock_quote')).names).toEqual(['stock_quote']);
  });

  it('shortens the unknown names that it records', () => {
    const [dropped] = read(naming('x'.repeat(50_000), 'read_mail')).dropped;
    expect(dropped?.name.length).toBeLessThanOrEqual(200);
  });

  it.each([
    ['an empty list', naming()],
    ['the name for it', naming('none')],
  ])('can say by %s that no tool fits', (_, text) => {
    expect(read(text)).toMatchObject({ names: [], none: { says: true } });
  });

  it('does not say so beside a tool', () => {
    expect(read(naming('none', 'read_mail'))).toMatchObject({ names: ['read_mail'], none: { says: false } });
  });

  it.each([
    ['only unknown names', naming('xyzzy', 'plugh'), 'none of xyzzy, plugh'],
    ['no JSON', 'I would take read_mail.', 'JSON'],
    ['nothing', '', 'empty'],
    ['the wrong key', '{"tools":["read_mail"]}', 'selected_tools'],
    ['a list of something else', '{"selected_tools":[{"name":"read_mail"}]}', 'selected_tools'],
    ['a text for a list', '{"selected_tools":"read_mail"}', 'selected_tools'],
    ['null', 'null', 'selected_tools'],
  ])('is not usable with %s, and says why', (_, text, said) => {
    const parsed = parse(text);
    expect(parsed).toMatchObject({ ok: false });
    expect(!parsed.ok && parsed.issues.join()).toContain(said);
  });

  it.each([
    ['behind a name', '{"selected_tools": ["read_mail", "stock_quote",'],
    ['inside a name', '{"selected_tools":["read_mail","stock_quote","read_m'],
    ['in a loop', `{"selected_tools":["read_mail","stock_quote"${',"read_mail"'.repeat(40)},"re`],
    ['behind the list', '{"selected_tools":["read_mail","stock_quote"],"reas'],
    ['in the reason', '{"selected_tools":["read_mail","stock_quote"],"reason":"they ["x", "'],
  ])('that was cut %s is taken as far as it came', (_, text) => {
    const parsed = parse(text, 'length');
    expect(parsed.ok && parsed.value.named.map(({ tool }) => tool.name)).toEqual(['read_mail', 'stock_quote']);
    expect(parsed).toMatchObject({ ok: true, value: { reason: expect.stringContaining('cut') } });
    expect(parse(text)).toMatchObject({ ok: false });
  });

  it('is told to be shorter when it was cut before the first name was whole', () => {
    expect(parse('{"selected_tools":["read_ma', 'length')).toMatchObject({
      ok: false,
      issues: ['the answer was cut: be shorter'],
    });
  });

  it('carries the probability of each name where the server gives them', () => {
    const pieces = ['{"selected_tools":[', '"', 'read', '_mail', '",', '"', 'stock_quote', '"]}'];
    const logprobs = pieces.map((text) => ({
      text,
      logprob: text === 'read' ? Math.log(0.5) : text === '_mail' ? Math.log(0.8) : 0,
    }));
    const parsed = parseAnswer({ text: pieces.join(''), finish: 'stop', logprobs }, sheet);
    const named = parsed.ok ? parsed.value.named : [];
    expect(named.map(({ probability }) => probability)).toEqual([expect.closeTo(0.4, 5), 1]);
  });
});

describe('names that the model reads', () => {
  const tools = [
    makeTool('github__open_issue', { origin: 'github' }),
    makeTool('jira__open_issue', { origin: 'jira' }),
    makeTool('jira__close', { origin: 'jira' }),
  ];
  const labelled = createSheet(tools, 'names');

  it('are taken as they stand on the sheet and as they are', () => {
    expect(labelled.text).toContain('- close');
    for (const name of ['close', 'jira__close']) {
      const parsed = parseAnswer({ text: naming(name), finish: 'stop' }, labelled);
      expect(parsed.ok && parsed.value.named.map(({ tool }) => tool.name)).toEqual(['jira__close']);
    }
  });

  it('never stand for two tools', () => {
    expect(parseAnswer({ text: naming('open_issue'), finish: 'stop' }, labelled)).toMatchObject({ ok: false });
  });
});
