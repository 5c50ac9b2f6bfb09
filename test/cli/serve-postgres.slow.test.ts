import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, it } from 'vitest';
import { describePostgres } from '../agents/store/postgres.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { configured, NO_MODEL, serve } from './serve-setup.js';

/** `winnow serve --store postgres://…`: two servers on one database, and what is left when both are gone. */
describePostgres('winnow serve with PostgreSQL', (server) => {
  const folder = temporaryFolder();
  beforeAll(() => {
    const tool = { name: 'burn', toolType: 'builtin', risk: 'high', description: 'Burns letters.' };
    writeFileSync(join(folder, 'tools.json'), JSON.stringify([tool]));
    writeFileSync(join(folder, 'tools.mjs'), 'export const burn = () => "burnt";');
  });

  it('shares sessions, approvals, private tools and the audit, and keeps them', async () => {
    const store = ['--store', await server().createDatabase()];
    const tools = ['--catalog', join(folder, 'tools.json'), '--set', `toolsModule=${join(folder, 'tools.mjs')}`];
    const open = () => serve(...NO_MODEL, ...store, ...tools, ...configured({ adaptation: { enabled: true } }));
    const [one, other] = [await open(), await open()];
    const { id } = await one.ask('POST /v1/sessions', {});
    const session = `/v1/sessions/${id}`;
    await one.ask(`POST ${session}/enable`, { names: ['burn'] });
    const refused = await other.ask(`POST ${session}/call`, { tool: 'burn' });
    expect(refused).toMatchObject({ ok: false, code: 'needs_approval' });
    await other.ask(
      `POST /v1/approvals/${refused.approval}/grant`,
      {},
      { 'x-winnow-user': 'bob', 'x-winnow-roles': 'operator' },
    );
    // One grant, two servers, the same moment: one call runs.
    const both = await Promise.all([one, other].map((server) => server.ask(`POST ${session}/call`, { tool: 'burn' })));
    expect(both.filter(({ ok }) => ok)).toMatchObject([{ output: 'burnt' }]);
    const turns = await Promise.all([one, other].map((server) => server.ask(`POST ${session}/turns`, {})));
    expect(Math.max(...turns.map(({ turn }) => turn))).toBe(3);
    await one.ask('POST /v1/private-tools', { tool: { name: 'letter', toolType: 'skill', instructions: 'Write.' } });
    await one.stop();
    await other.done;

    const third = await open();
    expect(await third.ask(`GET ${session}`)).toMatchObject({ turn: 3, enabled: [{ name: 'burn' }] });
    expect((await third.ask('GET /v1/private-tools')).tools).toMatchObject([{ name: 'my__letter' }]);
    await third.ask(`POST ${session}/enable`, { names: ['my__letter'] });
    expect(await third.ask(`POST ${session}/call`, { tool: 'my__letter' })).toMatchObject({
      ok: true,
      output: 'Write.',
    });
    const { entries } = await third.ask(`GET /v1/audit?session=${id}&event=call&outcome=allowed`, undefined, {});
    expect(entries.map(({ tool }: { tool: string }) => tool)).toEqual(['my__letter', 'burn']);
    const { total } = await third.ask('GET /v1/telemetry', undefined, {});
    expect(total).toMatchObject({ calls: 2, errors: 0 });
    await third.stop();
  });
});
