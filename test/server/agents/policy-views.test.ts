/** What the policy hides is hidden also where no session asks: in the list of tools, and from the planner. */
import { describe, expect, it } from '@jest/globals';
import type { Planner } from '../../../src/core/planner.js';
import { readingPlanner, startAgentServer } from './setup.js';

const ANN = { user: 'ann' };
const POLICY = {
  rules: [
    { name: 'nobody deletes', match: { tool: 'file_delete' }, decision: 'deny' as const },
    { name: 'interns do not list', match: { tool: 'file_list', role: 'intern' }, decision: 'deny' as const },
  ],
};
/** A planner that writes down what it was asked. */
function recordingPlanner(): { planner: Planner; asked: Parameters<Planner['plan']>[0][] } {
  const planner = readingPlanner();
  const asked: Parameters<Planner['plan']>[0][] = [];
  const plan: Planner['plan'] = (request, call) => {
    asked.push(request);
    return planner.plan(request, call);
  };
  return { planner: { ...planner, plan }, asked };
}

describe('a tool that the policy denies', () => {
  const start = () => startAgentServer({ policy: POLICY, planner: readingPlanner() });
  const namesOf = (tools: { name: string }[]) => tools.map(({ name }) => name);

  it('is in no list, as the roles of the caller are', async () => {
    const { ask } = await start();
    const list = async (who: object) => namesOf((await ask('GET /v1/tools', undefined, who)).body.tools);
    expect(await list(ANN)).toEqual(['file_read', 'file_list']);
    expect(await list({ user: 'bob' })).toEqual(['file_read', 'file_list', 'diary']);
    expect(await list({ ...ANN, roles: 'dev,intern' })).toEqual(['file_read']);
    expect(await list({})).toEqual(['file_read', 'file_list']);
  });

  it.each(['/v1/plan', '/v1/select'])('is not chosen by %s, also where the caller demands it', async (path) => {
    const { ask } = await start();
    const asked = { message: 'Read the file a.txt', require: ['file_delete'], deny: ['file_list'] };
    const { status, body } = await ask(`POST ${path}`, asked, ANN);
    const { tools } = body.selection ?? body;
    expect([status, namesOf(tools)]).toEqual([200, ['file_read']]);
  });

  it('is not planned with anew when a run has failed, nor is what the session may not find', async () => {
    const { planner, asked } = recordingPlanner();
    const { ask } = await startAgentServer({ policy: POLICY, planner });
    const { body: session } = await ask('POST /v1/sessions', {}, { ...ANN, roles: 'intern' });
    const plan = { steps: [{ id: 's1', tool: 'nothing', arguments: {} }] };
    const request = { message: 'Read the file a.txt' };
    await ask('POST /v1/plans/run', { session: session.id, plan, request }, ANN);
    await ask('POST /v1/plans/run', { session: session.id, plan, request: { ...request, allow: ['diary'] } }, ANN);
    expect(asked.map(({ allow }) => allow)).toEqual([['file_read'], []]);
  });
});
