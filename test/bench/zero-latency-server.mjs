/**
 * An OpenAI-compatible server that thinks for no time, in a process of its own (forked by `own-cost.mjs`). It keeps no
 * state: which answer is due stands in the path (who asks, on which catalogue), in the number `<<n)` of the request's
 * message and in one word of the body; the body is never parsed.
 */
import { createServer } from 'node:http';

/** Seen in one of the two calls of a contestant only. */
const FIRST_CALL = { winnow: '"name":"selection"', langchain: '"response_format"' };
const NUMBER_OPENS = '<<';

/** Answers of one request -> whole response bodies, rendered once. */
function renderBodies({ names, plan }) {
  return {
    winnow: [completion(JSON.stringify({ selected_tools: names, reason: '' })), completion(JSON.stringify(plan))],
    langchain: [completion(JSON.stringify({ tools: names })), completion('Done.')],
  };
}

function completion(content) {
  const choices = [{ index: 0, message: { role: 'assistant', content }, finish_reason: 'stop' }];
  const usage = { prompt_tokens: 1000, completion_tokens: 50, total_tokens: 1050 };
  const facts = { id: 'chatcmpl-0', object: 'chat.completion', created: 0, model: 'zero-latency' };
  return Buffer.from(JSON.stringify({ ...facts, choices, usage }));
}

function start(answers) {
  const bodies = new Map(Object.entries(answers).map(([catalog, cases]) => [catalog, cases.map(renderBodies)]));
  const server = createServer((request, response) => {
    const chunks = [];
    request.on('data', (chunk) => chunks.push(chunk));
    request.on('end', () => {
      const [, who, catalog] = request.url.split('/');
      const body = chunks.length === 1 ? chunks[0] : Buffer.concat(chunks);
      const at = body.lastIndexOf(NUMBER_OPENS) + NUMBER_OPENS.length;
      const number = Number.parseInt(body.latin1Slice(at, at + 6), 10);
      const answer = bodies.get(catalog)?.[number]?.[who]?.[body.includes(FIRST_CALL[who]) ? 0 : 1];
      response.writeHead(answer ? 200 : 400, {
        'content-type': 'application/json',
        'content-length': answer?.length ?? 0,
      });
      response.end(answer);
    });
  });
  server.keepAliveTimeout = 60_000;
  server.listen(0, '127.0.0.1', () => process.send({ port: server.address().port }));
}

process.once('message', start);
process.once('disconnect', () => process.exit());
