/** What well-meaning users do, from an opened session to its end. What was acknowledged goes into the ledger. */
import { OPERATOR } from './server.mjs';

const INITIALIZE = {
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'soak', version: '1' } },
};

/** @param seen ids that hostile users may try @returns scenarios, each a function of the user's name */
export function goodScenarios({ client, ledger, seen, below, isLikely }) {
  const { ask, expect } = client;
  let number = 0;
  const fresh = (prefix) => `${prefix}${++number}`;

  async function open(user) {
    const answer = await ask(user, 'POST /v1/sessions', {});
    expect(answer.status === 201, 'a session is opened', answer);
    const { id, turn } = answer.body;
    ledger.keep('session', id, { turn });
    seen(`/v1/sessions/${id}`);
    return { at: `/v1/sessions/${id}`, id };
  }

  async function end(user, { at, id }) {
    const fact = ledger.change('session', id);
    const answer = await ask(user, `DELETE ${at}`);
    expect(answer.status === 200, 'a session ends', answer);
    ledger.keep('session', id, { ...fact, ended: true });
  }

  async function call(user, { at, id }, tool, input) {
    const answer = await ask(user, `POST ${at}/call`, { tool, arguments: input });
    if (answer.status === 200) ledger.called(id);
    return answer;
  }

  /** @returns the approval that a call waits for */
  async function callAndWait(user, session, input) {
    await ask(user, `POST ${session.at}/enable`, { names: ['note_delete'] });
    const waiting = await call(user, session, 'note_delete', input);
    const { approval } = waiting.body;
    expect(approval !== undefined, 'a call waits for approval', waiting);
    ledger.keep('approval', approval, { states: ['pending'] });
    seen(`/v1/approvals/${approval}`);
    return approval;
  }

  async function decide(approval, verb) {
    ledger.change('approval', approval);
    const answer = await ask(OPERATOR, `POST /v1/approvals/${approval}/${verb}`, {});
    expect(answer.body.ok === true, `an approval is decided by ${verb}`, answer);
    ledger.keep('approval', approval, { states: [verb === 'grant' ? 'granted' : 'refused'] });
  }

  async function findAndCall(user) {
    const session = await open(user);
    const found = await ask(user, `POST ${session.at}/search`, { query: pickQuery(below) });
    const isEarly = found.body.error?.code === 'index_building';
    expect(isEarly || found.body.matches?.length > 0, 'a search finds', found);
    await ask(user, `POST ${session.at}/enable`, { names: ['note_read', 'note_break', `note_kind_${below(60)}`] });
    for (let time = below(6); time >= 0; time--) {
      const read = await call(user, session, 'note_read', { id: fresh('n') });
      expect(read.body.ok === true, 'an enabled tool is called', read);
    }
    const failed = await call(user, session, 'note_break', { id: 'x' });
    expect(failed.body.ok === false, 'a broken tool fails', failed);
    const wrong = await call(user, session, 'note_read', { id: 7, more: [] });
    expect(wrong.body.ok === false, 'wrong arguments are refused', wrong);
    await ask(user, `GET ${session.at}/tools?mode=narrow&query=read&top_k=3`);
    ledger.change('session', session.id);
    const next = await ask(user, `POST ${session.at}/turns`, {});
    ledger.keep('session', session.id, { turn: next.body.turn });
    await end(user, session);
  }

  async function callWithApproval(user) {
    const session = await open(user);
    const input = { id: fresh('d') };
    const approval = await callAndWait(user, session, input);
    await ask(user, `GET /v1/approvals/${approval}`);
    if (isLikely(0.3)) {
      await decide(approval, 'refuse');
      const refused = await call(user, session, 'note_delete', input);
      expect(refused.body.code === 'approval_refused', 'a refused call does not run', refused);
    } else {
      await decide(approval, 'grant');
      // Sent and not answered, it may be used or not.
      ledger.keep('approval', approval, { states: ['granted', 'used'] });
      const ran = await call(user, session, 'note_delete', input);
      expect(ran.body.ok === true, 'a granted call runs', ran);
      ledger.keep('approval', approval, { states: ['used'] });
      const again = await ask(user, `POST ${session.at}/call`, { tool: 'note_delete', arguments: input, approval });
      expect(again.body.code === 'approval_used', 'a grant is used once', again);
    }
    await end(user, session);
  }

  async function keepOwnTool(user) {
    const name = fresh('own_');
    const added = await ask(user, 'POST /v1/private-tools', { tool: { name, description: 'Knits a scarf.' } });
    expect(added.status === 201, 'a private tool is added', added);
    ledger.keep('tool', `${user}/${name}`, { isThere: true });
    const list = await ask(user, 'GET /v1/private-tools');
    expect(list.text.includes(`my__${name}"`), 'it is listed', list);
    if (list.body.tools?.length < 20) return;
    ledger.change('tool', `${user}/${name}`);
    const removed = await ask(user, `DELETE /v1/private-tools/my__${name}`);
    expect(removed.status === 200, 'it is removed', removed);
    ledger.keep('tool', `${user}/${name}`, { isThere: false });
  }

  async function runPlan(user) {
    await ask(user, 'POST /v1/plan', { message: `Read the note ${fresh('p')}` });
    const session = await open(user);
    await ask(user, `POST ${session.at}/enable`, { names: ['note_read', 'note_delete'] });
    const id = fresh('r');
    const step = (name, tool) => ({ id: name, tool, arguments: { id } });
    const plan = { steps: [step('s1', 'note_read'), { ...step('s2', 'note_delete'), dependsOn: ['s1'] }] };
    const run = await ask(user, 'POST /v1/plans/run', { session: session.id, plan });
    expect(run.body.state === 'paused', 'a run waits for approval', run);
    ledger.keep('run', run.body.id, { state: 'paused' });
    seen(`/v1/plans/runs/${run.body.id}/resume`);
    const { approval } = run.body.steps?.s2 ?? {};
    await decide(approval, 'grant');
    ledger.keep('approval', approval, { states: ['granted', 'used'] });
    ledger.change('run', run.body.id);
    const resumed = await ask(user, `POST /v1/plans/runs/${run.body.id}/resume`, {});
    expect(resumed.body.state === 'done', 'a granted run ends', resumed);
    ledger.keep('run', run.body.id, { state: resumed.body.state });
    ledger.keep('approval', approval, { states: ['used'] });
    await end(user, session);
  }

  async function speakMcp(user) {
    const accept = { accept: 'application/json, text/event-stream' };
    const opened = await ask(user, 'POST /mcp', INITIALIZE, accept);
    expect(opened.status === 200, 'an MCP client connects', opened);
    const headers = { ...accept, 'mcp-session-id': opened.headers['mcp-session-id'] };
    const say = (method, params) => ask(user, 'POST /mcp', { jsonrpc: '2.0', id: fresh('m'), method, params }, headers);
    const use = (name, input) => say('tools/call', { name, arguments: input });
    await ask(user, 'POST /mcp', { jsonrpc: '2.0', method: 'notifications/initialized' }, headers);
    await say('tools/list');
    await use('tool_search', { query: pickQuery(below) });
    await use('tool_enable', { names: ['note_read', 'note_delete'] });
    const read = await use('note_read', { id: fresh('n') });
    expect(read.text.includes('xxx'), 'a tool is called over MCP', read);
    const waiting = await use('note_delete', { id: fresh('d') });
    expect(!waiting.text.includes('gone'), 'over MCP, too, a call waits', waiting);
    await ask(user, 'DELETE /mcp', undefined, headers);
  }

  async function look(user) {
    await ask(user, 'GET /v1/telemetry');
    await ask(user, 'GET /v1/approvals?limit=20');
    await ask(user, 'GET /v1/tools');
    await ask(user, 'POST /v1/select', { message: 'Delete a note' });
    for (const path of [
      '/v1/audit?limit=20',
      '/v1/index',
      '/v1/sessions/none',
      '/metrics',
      '/readyz',
      '/v1/adaptation',
    ])
      await ask(OPERATOR, `GET ${path}`);
  }

  return [
    findAndCall,
    findAndCall,
    findAndCall,
    callWithApproval,
    callWithApproval,
    keepOwnTool,
    runPlan,
    speakMcp,
    look,
  ];
}

export function initialize() {
  return INITIALIZE;
}

function pickQuery(below) {
  return ['read a note', 'delete', `notes of the kind ${below(60)}`, 'write it anew'][below(4)];
}
