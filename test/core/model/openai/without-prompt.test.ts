import { describe, expect, it } from '@jest/globals';
import { withoutPrompt } from '../../../../src/core/model/openai/without-prompt.js';
import { fail, nextTokens, send } from '../../../support/server-behaviours.js';
import { errorOf, PLAIN, startModel } from './setup.js';

const prompt = {
  system: 'You choose tools.\n- read_level_v2: Water level of a station.',
  user: 'Earlier messages:\nuser: hello there\nRequest: log in with hunter2secret, please',
};

describe('the words of a server', () => {
  it.each([
    ['all of the prompt', `Content filter: ${prompt.system}\n${prompt.user}`, 'Content filter: […]'],
    ['the message', 'Bad: "log in with hunter2secret, please". Stop.', 'Bad: "[…]". Stop.'],
    ['in other letters', 'Bad: LOG IN WITH HUNTER2SECRET', 'Bad: […]'],
    ['across a line', 'Bad: hello there Request: log in', 'Bad: […]'],
    ['as JSON in JSON', 'Input: "messages:\\\\nuser: hello there\\\\nRequest: log"', 'Input: "[…]"'],
    ['cut inside of a word', 'Bad: Request: log in with hunter2s... (cut)', 'Bad: […]... (cut)'],
    ['the description of a tool', 'Bad: Water level of a station', 'Bad: […]'],
    ['a code of the request alone', 'Flagged: "hunter2secret"!', 'Flagged: "[…]"!'],
  ])('lose what they quote: %s', (_, text, rest) => expect(withoutPrompt(text, prompt)).toBe(rest));

  it('keep what follows a quotation, though its words stand in the prompt', () => {
    const said = 'Bad: "log in with hunter2secret, please": level of a tool in a station is wrong';
    expect(withoutPrompt(said, { ...prompt, user: `Level of it, a thing in there. ${prompt.user}` })).toBe(
      'Bad: "[…]": level of a tool in a station is wrong',
    );
  });

  it('lose what they quote in Chinese', () => {
    const chinese = { system: '你选择工具。', user: 'Request: 请用密码秘密九九登录' };
    expect(withoutPrompt('内容不合规：用密码秘密九九', chinese)).toBe('内容不合规：[…]');
  });

  it.each([
    'maximum context length is 8192 tokens. However, you requested 9000 tokens',
    'Invalid schema for response_format: read_level_v2 is not allowed',
    'The model `x` does not exist, please log in',
    '',
  ])('stay as they are otherwise: "%s"', (text) => expect(withoutPrompt(text, prompt)).toBe(text));

  it('are read in linear time', () => {
    const long = { system: 'word '.repeat(50_000), user: `${'w0rd '.repeat(50_000)}${'\\n'.repeat(50_000)}` };
    expect(withoutPrompt(`${long.system}${'水'.repeat(50_000)}${long.user}`, long)).toContain('水水');
  });
});

describe('an error of a model', () => {
  const quoted = 'log in with hunter2secret, please';

  it.each([
    ['in the words of OpenAI', fail(400, `Content filter: ${quoted}`), 'answered 400: Content filter: […]. Headers'],
    ['in a body of another form', send(422, { input: [`用 ${quoted}`] }), 'answered 422: {"input":["用 […]"]}'],
    ['in letters as codes', send(400, '{"input": "\\u006cog in with hunter2secret, please"}'), '{"input":"[…]"}'],
    ['with status 200', send(200, { error: { message: `Filter: ${quoted}` } }), 'no usable answer: Filter: […].'],
  ])('does not hold the prompt that the server quotes %s', async (_, behaviour, said) => {
    const { model } = await startModel(() => behaviour, { maxRetries: 0 });
    const error = await errorOf(model.complete({ ...PLAIN, prompt }));
    expect(error.message).toContain(said);
    expect(JSON.stringify(error) + error.stack).not.toContain('hunter2');
  });

  it('does not hold it where probabilities are asked for either', async () => {
    const { model } = await startModel([nextTokens({ a: 1 }), fail(400, `Content filter: ${quoted}`)]);
    const reader = await model.openReader?.({ prompt, opening: '["' });
    const error = await errorOf(reader?.weigh(reader.tokenize('a'), []) ?? Promise.resolve());
    expect(error.message).toContain('Content filter: […]');
  });
});
