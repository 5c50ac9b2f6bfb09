/** What every store promises; run against each of them. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { MOST_UNUSED } from '../../../src/agents/store/sql/approvals.js';
import type { Store } from '../../../src/agents/store/sql/sql-store.js';
import {
  type ApprovalRecord,
  type AuditRecord,
  type PlanRunRecord,
  PRUNED_KINDS,
  type PrunedKind,
  type ToAudit,
  type WeightRecord,
} from '../../../src/agents/store/store.js';
import { watchWork } from '../../support/watch-work.js';
import { approval, at, session } from './records.js';

const GRANT = {
  state: 'granted',
  grant: 'once',
  decidedBy: 'bob',
  decidedAt: at(1),
  expiresAt: at(20),
  reason: 'fine',
} as const;

const enabling = (tool: string, untilTurn: number, more: { once?: boolean; via?: string } = {}) => ({
  tool,
  untilTurn,
  once: false,
  via: 'asked',
  ...more,
});

export function describeStore(name: string, open: () => Promise<Store>): void {
  describe(`the store ${name}`, () => {
    let store: Store;
    beforeAll(async () => {
      store = await open();
    }, 30_000);
    afterAll(() => store.close());

    const enable = (id: string, enablements: ReturnType<typeof enabling>[], limit = 9) =>
      store.sessions.enable(id, { enablements, limit, at: at(1) });
    const enabledIn = async (id: string) => (await store.sessions.enablements(id)).map(({ tool }) => tool);

    describe('sessions', () => {
      it('are given back as they were made, and none is made up', async () => {
        const whole = session('whole', {
          user: 'ann',
          roles: ['dev', 'ops'],
          project: '项目',
          riskCeiling: 'medium',
          turn: 3,
        });
        await store.sessions.create(whole);
        await store.sessions.create(session('bare'));
        expect(await store.sessions.get('whole')).toEqual(whole);
        expect(await store.sessions.get('bare')).toEqual(session('bare'));
        expect(await store.sessions.get('none')).toBeUndefined();
      });

      it('are listed newest first, by user, up to a limit', async () => {
        for (const [index, id] of ['l1', 'l2', 'l3'].entries())
          await store.sessions.create(session(id, { user: 'lister', createdAt: at(index) }));
        const ids = async (limit: number) =>
          (await store.sessions.list({ user: 'lister', limit })).map((found) => found.id);
        expect(await ids(9)).toEqual(['l3', 'l2', 'l1']);
        expect(await ids(2)).toEqual(['l3', 'l2']);
        expect((await store.sessions.list({ limit: 100 })).length).toBeGreaterThan(3);
      });

      it('lose no turn when many begin at once', async () => {
        await store.sessions.create(session('turns'));
        const turns = await Promise.all(Array.from({ length: 20 }, () => store.sessions.beginTurn('turns', at(1))));
        expect(turns.map((begun) => begun?.turn).sort((a = 0, b = 0) => a - b)).toEqual(
          Array.from({ length: 20 }, (_, index) => index + 2),
        );
        expect(await store.sessions.get('turns')).toMatchObject({ turn: 21, activeAt: at(1) });
      });

      it('end once, with what was enabled and what was asked for in them', async () => {
        await store.sessions.create(session('ending'));
        await enable('ending', [enabling('read', 3)]);
        await store.approvals.request(approval('of-ending', { session: 'ending' }));
        expect(await store.sessions.end('ending', at(2))).toEqual({
          ended: [expect.objectContaining({ tool: 'read' })],
          approvals: [expect.objectContaining({ id: 'of-ending', state: 'expired' })],
        });
        expect(await store.sessions.end('ending', at(3))).toBeUndefined();
        expect(await store.sessions.beginTurn('ending', at(3))).toBeUndefined();
        expect(await enable('ending', [enabling('read', 3)])).toBeUndefined();
        expect(await store.sessions.countCall('ending', 'read')).toBe(false);
        expect(await store.sessions.get('ending')).toMatchObject({ endedAt: at(2) });
        expect(await store.approvals.get('of-ending')).toMatchObject({ state: 'expired' });
        expect(await store.approvals.use('of-ending', at(3))).toBe(false);
      });

      it('are removed when they were idle, with all that belongs to them but the audit', async () => {
        await store.sessions.create(session('idle', { activeAt: '2025-01-01T00:00:00.000Z' }));
        await store.sessions.create(session('woken', { activeAt: '2025-01-01T00:00:00.000Z' }));
        await store.sessions.touch('woken', at(0));
        await store.journal.append({
          audit: [{ at: at(0), event: 'call', outcome: 'allowed', session: 'idle' }],
          calls: [{ session: 'idle', tool: 'read', turn: 1, at: at(0), values: {} }],
        });
        await enable('idle', [enabling('read', 3)]);
        await store.sessions.touch('idle', '2025-01-01T00:00:00.000Z');
        expect(await store.sessions.removeIdle('2025-06-01T00:00:00.000Z')).toEqual([
          {
            session: session('idle', { activeAt: '2025-01-01T00:00:00.000Z' }),
            ended: [{ tool: 'read', via: 'asked', untilTurn: 3, once: false, calls: 0 }],
            approvals: [],
          },
        ]);
        expect(await store.sessions.get('idle')).toBeUndefined();
        expect(await store.sessions.get('woken')).toBeDefined();
        expect(await store.journal.calls('idle', ['read'])).toEqual([]);
        expect(await store.journal.audit({ session: 'idle', limit: 9 })).toHaveLength(1);
      });
    });

    describe('enablements', () => {
      it('hold until their last turn is over', async () => {
        await store.sessions.create(session('e1'));
        await enable('e1', [enabling('short', 1), enabling('long', 2)]);
        expect(await enabledIn('e1')).toEqual(['long', 'short']);
        expect((await store.sessions.beginTurn('e1', at(1)))?.ended).toEqual([
          { tool: 'short', via: 'asked', untilTurn: 1, once: false, calls: 0 },
        ]);
        expect(await enabledIn('e1')).toEqual(['long']);
        expect(await store.sessions.countCall('e1', 'short')).toBe(false);
        expect(await store.sessions.countCall('e1', 'long')).toBe(true);
      });

      it('are prolonged and never shortened, and keep their count', async () => {
        await store.sessions.create(session('e2'));
        await enable('e2', [enabling('read', 3, { via: 'related' })]);
        await store.sessions.countCall('e2', 'read');
        await enable('e2', [enabling('read', 2, { once: true })]);
        expect(await store.sessions.enablements('e2')).toEqual([
          { tool: 'read', via: 'asked', untilTurn: 3, once: false, calls: 1 },
        ]);
        await enable('e2', [enabling('read', 7, { via: 'producer' })]);
        expect(await store.sessions.enablements('e2')).toMatchObject([{ untilTurn: 7, via: 'asked' }]);
      });

      it('for one call hold for exactly one, also when two come at once', async () => {
        await store.sessions.create(session('e3'));
        await enable('e3', [enabling('read', 1, { once: true })]);
        const counted = await Promise.all([1, 2, 3].map(() => store.sessions.countCall('e3', 'read')));
        expect(counted.filter(Boolean)).toHaveLength(1);
        await enable('e3', [enabling('read', 1, { once: true })]);
        expect(await store.sessions.countCall('e3', 'read')).toBe(true);
        await store.sessions.uncountCall('e3', 'read');
        expect(await store.sessions.countCall('e3', 'read')).toBe(true);
      });

      it('stay within the limit, also when many come at once', async () => {
        await store.sessions.create(session('e4'));
        expect(await enable('e4', [enabling('a', 1), enabling('b', 1), enabling('c', 1)], 2)).toEqual({
          overLimit: ['c'],
        });
        expect(await enable('e4', [enabling('b', 5), enabling('d', 1)], 2)).toEqual({ overLimit: ['d'] });
        await store.sessions.create(session('e5'));
        await Promise.all(['a', 'b', 'c', 'd', 'e'].map((tool) => enable('e5', [enabling(tool, 1)], 3)));
        expect(await enabledIn('e5')).toHaveLength(3);
      });

      it('can be taken away', async () => {
        await store.sessions.create(session('e6'));
        await enable('e6', [enabling('a', 1), enabling('b', 1)]);
        expect(await store.sessions.disable('e6', ['b', 'z'])).toMatchObject([{ tool: 'b' }]);
        expect(await store.sessions.disable('e6', [])).toEqual([]);
        expect(await enabledIn('e6')).toEqual(['a']);
      });
    });

    describe('approvals', () => {
      it('are asked for once: the open one is given back', async () => {
        await store.sessions.create(session('a1'));
        const first = approval('a1-first', { session: 'a1' });
        expect(await store.approvals.request(first)).toEqual(first);
        expect(await store.approvals.request(approval('a1-again', { session: 'a1' }))).toEqual(first);
        expect(await store.approvals.get('a1-first')).toEqual(first);
        expect(await store.approvals.get('a1-again')).toBeUndefined();
      });

      it('are asked for once also when many ask at the same moment', async () => {
        await store.sessions.create(session('a2'));
        const ids = await Promise.all(
          [1, 2, 3, 4, 5].map(async (n) => (await store.approvals.request(approval(`a2-${n}`, { session: 'a2' })))?.id),
        );
        expect(new Set(ids).size).toBe(1);
        expect(await store.approvals.ids({ session: 'a2', limit: 9 })).toHaveLength(1);
      });

      it('show where the arguments come from, which is no part of what binds', async () => {
        await store.sessions.create(session('a8'));
        const told = approval('a8-told', {
          session: 'a8',
          sources: { to: { source: 'step', references: ['${s1.to}'] } },
        });
        expect(await store.approvals.request(told)).toEqual(told);
        expect(await store.approvals.request(approval('a8-bare', { session: 'a8' }))).toEqual(told);
        expect(await store.approvals.get('a8-told')).toEqual(told);
        expect(await store.approvals.ids({ session: 'a8', limit: 9 })).toEqual(['a8-told']);
      });

      it.each<[string, Partial<ApprovalRecord>]>([
        ['arguments', { argumentsHash: 'other' }],
        ['tools', { tool: 'other' }],
        ['policies', { policyVersion: 'other' }],
        ['times: the first is over', { requestedAt: at(15), expiresAt: at(30) }],
      ])('are others for other %s', async (what, more) => {
        const own = `a3-${what}`;
        await store.sessions.create(session(own));
        await store.approvals.request(approval(`${own}-1`, { session: own }));
        const second = approval(`${own}-2`, { session: own, ...more });
        expect(await store.approvals.request(second)).toEqual(second);
      });

      it('are decided once', async () => {
        await store.approvals.request(approval('a4', { session: 'a4' }));
        const decided = await Promise.all([1, 2, 3].map(() => store.approvals.decide('a4', GRANT)));
        expect(decided.filter(Boolean)).toHaveLength(1);
        expect(await store.approvals.decide('a4', { ...GRANT, state: 'refused' })).toBe(false);
        expect(await store.approvals.get('a4')).toEqual({ ...approval('a4', { session: 'a4' }), ...GRANT });
      });

      it('change together with what the audit says of it, or not at all', async () => {
        const change = approval('a9', { session: 'a9', expiresAt: at(3) });
        const toAudit: ToAudit = ({ session, state }) => [
          { at: at(1), event: 'call', outcome: 'allowed', session, reason: state },
        ];
        const broken = () => {
          throw new Error('no words');
        };
        await expect(store.approvals.request(change, undefined, broken)).rejects.toThrow('no words');
        expect(await store.approvals.get('a9')).toBeUndefined();
        await store.approvals.request(change, undefined, toAudit);
        await store.approvals.request({ ...change, id: 'again' }, undefined, toAudit);
        await expect(store.approvals.decide('a9', GRANT, broken)).rejects.toThrow('no words');
        await store.approvals.decide('a9', { ...GRANT, expiresAt: at(3) }, toAudit);
        await expect(store.approvals.expire(at(3), broken)).rejects.toThrow('no words');
        await store.approvals.expire(at(3), (one) => (one.id === 'a9' ? toAudit(one) : []));
        const written = await store.journal.audit({ session: 'a9', limit: 9 });
        expect(written.map(({ reason }) => reason)).toEqual(['expired', 'granted', 'pending']);
      });

      it('are used once, also when many use them at the same moment', async () => {
        await store.approvals.request(approval('a5', { session: 'a5' }));
        expect(await store.approvals.use('a5', at(2))).toBe(false);
        await store.approvals.decide('a5', GRANT);
        const used = await Promise.all(Array.from({ length: 10 }, () => store.approvals.use('a5', at(2))));
        expect(used.filter(Boolean)).toHaveLength(1);
        expect(await store.approvals.get('a5')).toMatchObject({ state: 'used', usedAt: at(2) });
        await store.approvals.giveBack('a5');
        expect(await store.approvals.get('a5')).not.toHaveProperty('usedAt');
        expect([await store.approvals.use('a5', at(2)), await store.approvals.use('a5', at(2))]).toEqual([true, false]);
      });

      it('for the session are used again and again, until they expire', async () => {
        await store.approvals.request(approval('a6', { session: 'a6' }));
        await store.approvals.decide('a6', { ...GRANT, grant: 'session' });
        expect(await store.approvals.use('a6', at(2))).toBe(true);
        expect(await store.approvals.use('a6', at(3))).toBe(true);
        expect(await store.approvals.use('a6', at(20))).toBe(false);
      });

      it('are found newest first, and behind another, also of the same instant', async () => {
        for (const [id, minute] of [
          ['behind-3', 2],
          ['behind-1', 1],
          ['behind-2', 1],
          ['behind-4', 1],
        ] as const)
          await store.approvals.request(approval(id, { session: 'pages', tool: id, requestedAt: at(minute) }));
        const ids = (after?: string) => store.approvals.ids({ session: 'pages', after, limit: 2 });
        expect(await Promise.all([ids(), ids('behind-1'), ids('behind-2'), ids('behind-4'), ids('none')])).toEqual([
          ...[['behind-3', 'behind-1'], ['behind-2', 'behind-4'], ['behind-4'], [], []],
        ]);
      });

      it('cannot be decided or used when their time is over, and are then marked', async () => {
        await store.approvals.request(approval('a7', { session: 'a7' }));
        expect(await store.approvals.decide('a7', { ...GRANT, decidedAt: at(15) })).toBe(false);
        expect((await store.approvals.expire(at(14))).map(({ id }) => id)).not.toContain('a7');
        expect((await store.approvals.expire(at(15))).map(({ id }) => id)).toContain('a7');
        expect(await store.approvals.get('a7')).toMatchObject({ state: 'expired' });
        expect(await store.approvals.ids({ session: 'a7', state: 'expired', limit: 9 })).toHaveLength(1);
        expect(await store.approvals.ids({ session: 'a7', state: 'pending', limit: 9 })).toEqual([]);
      });
    });

    describe('approvals that end without a call', () => {
      it('are the latest thousand of a user; older ones are removed', async () => {
        const asks = (id: string) =>
          store.approvals.request(approval(id, { session: 'unused', user: 'cy', tool: id, expiresAt: at(1) }));
        for (let n = 0; n < MOST_UNUSED + 2; n++) await asks(`unused-${n}`);
        await store.approvals.expire(at(1));
        await asks('unused-last');
        expect(await store.approvals.ids({ user: 'cy', state: 'expired', limit: 2_000 })).toHaveLength(MOST_UNUSED);
        expect(await store.approvals.get('unused-last')).toMatchObject({ state: 'pending' });
      });
    });

    describe('approvals with other arguments than asked for', () => {
      const EDIT = { granted: { arguments: { to: 'edited', deep: ['中文', null] }, argumentsHash: 'edited' } };

      it('keep both, are decided once, and are found by both hashes until they are used', async () => {
        await store.sessions.create(session('g1'));
        await store.approvals.request(approval('g1', { session: 'g1' }));
        expect(await store.approvals.decide('g1', { ...GRANT, ...EDIT })).toBe(true);
        expect(await store.approvals.decide('g1', GRANT)).toBe(false);
        const kept = { ...approval('g1', { session: 'g1' }), ...GRANT, ...EDIT };
        expect(await store.approvals.get('g1')).toEqual(kept);
        expect(await store.approvals.ids({ session: 'g1', limit: 9 })).toEqual(['g1']);
        const ask = (id: string, argumentsHash: string) =>
          store.approvals.request(approval(id, { session: 'g1', argumentsHash }));
        expect(await ask('g1-asked', 'hash')).toEqual(kept);
        expect(await ask('g1-edited', 'edited')).toEqual(kept);
        expect(await ask('g1-other', 'other')).toMatchObject({ id: 'g1-other' });
        await store.approvals.use('g1', at(2));
        expect(await ask('g1-again', 'edited')).toMatchObject({ id: 'g1-again' });
        expect(await ask('g1-anew', 'hash')).toMatchObject({ id: 'g1-anew' });
      });

      it('are found as the last one of their tool and user that was granted, by when it was', async () => {
        const asked = (id: string, second: number) =>
          approval(id, { session: id, user: 'last', requestedAt: at(second) });
        for (const [place, id] of ['l1', 'l2', 'l3', 'l4'].entries()) await store.approvals.request(asked(id, place));
        await store.approvals.decide('l2', GRANT);
        await store.approvals.decide('l1', { ...GRANT, decidedAt: at(3) });
        await store.approvals.decide('l3', { ...GRANT, state: 'refused', decidedAt: at(4) });
        await store.approvals.use('l1', at(5));
        expect(await store.approvals.lastGranted(asked('l4', 3))).toMatchObject({ id: 'l1', state: 'used' });
        expect(await store.approvals.lastGranted({ ...asked('l4', 3), user: 'nobody' })).toBeUndefined();
      });

      it('are lasting where they were granted without', async () => {
        await store.approvals.request(approval('g2', { session: 'g2' }));
        await store.approvals.decide('g2', GRANT);
        expect(await store.approvals.get('g2')).not.toHaveProperty('granted');
      });

      it.each([
        ['a newer one that waits', { requestedAt: at(1) }, undefined],
        ['a newer one that was refused', { requestedAt: at(1) }, { ...GRANT, state: 'refused' as const }],
        [
          'a newer one that was granted with others',
          { requestedAt: at(1) },
          { ...GRANT, granted: { ...EDIT.granted, argumentsHash: 'x' } },
        ],
      ])('come before %s', async (what, more, decision) => {
        const own = `g3-${what}`;
        await store.sessions.create(session(own));
        const ask = (id: string, argumentsHash: string, rest: Partial<ApprovalRecord> = {}) =>
          store.approvals.request(approval(`${own}-${id}`, { session: own, argumentsHash, ...rest }));
        await ask('asked', 'hash');
        await ask('rival', 'edited', more);
        if (decision) await store.approvals.decide(`${own}-rival`, decision);
        await store.approvals.decide(`${own}-asked`, { ...GRANT, ...EDIT });
        expect(await ask('call', 'edited')).toMatchObject({ id: `${own}-asked` });
      });

      it('do not stand in for those of another session, tool or policy', async () => {
        await store.sessions.create(session('g4'));
        await store.sessions.create(session('g5'));
        await store.approvals.request(approval('g4', { session: 'g4' }));
        await store.approvals.decide('g4', { ...GRANT, ...EDIT });
        const others: Partial<ApprovalRecord>[] = [{ session: 'g5' }, { tool: 'other' }, { policyVersion: 'other' }];
        for (const [place, more] of others.entries()) {
          const asked = approval(`g4-${place}`, { session: 'g4', argumentsHash: 'edited', ...more });
          expect(await store.approvals.request(asked)).toEqual(asked);
        }
      });
    });

    describe('the journal', () => {
      it('gives the audit newest first, by what is asked', async () => {
        const entry = (tool: string, minute: number): AuditRecord => ({
          at: at(minute),
          event: 'call',
          outcome: tool === 'x' ? 'denied' : 'allowed',
          session: 'j1',
          tool,
          turn: 2,
        });
        await store.journal.append({ audit: [entry('x', 1), entry('y', 2)] });
        const sources = { to: { source: 'unknown' } } as const;
        await store.journal.append({ audit: [{ ...entry('z', 3), sources }] });
        const tools = async (query: object) =>
          (await store.journal.audit({ session: 'j1', limit: 9, ...query })).map(({ tool }) => tool);
        expect(await tools({})).toEqual(['z', 'y', 'x']);
        expect(await tools({ limit: 1 })).toEqual(['z']);
        expect(await tools({ outcome: 'denied' })).toEqual(['x']);
        expect(await tools({ since: at(2) })).toEqual(['z', 'y']);
        expect(await tools({ tool: 'y' })).toEqual(['y']);
        const [newest] = await store.journal.audit({ session: 'j1', limit: 1 });
        expect(newest).toEqual({ id: expect.any(String), ...entry('z', 3), sources });
        const [, older] = await store.journal.audit({ session: 'j1', limit: 2 });
        expect(older).toEqual({ id: expect.any(String), ...entry('y', 2) });
      });

      it('gives others a turn after each entry of the audit', async () => {
        const entry = { at: at(1), event: 'call', outcome: 'allowed', session: 'j2' } as const;
        await store.journal.append({ audit: Array.from({ length: 40 }, () => entry) });
        const { result, turns } = await watchWork(() => store.journal.audit({ session: 'j2', limit: 30 }));
        expect(result).toHaveLength(30);
        expect(turns).toBeGreaterThanOrEqual(30);
      });

      it('gives telemetry oldest first, and goes on from a place', async () => {
        const event = (tool: string, minute: number) => ({
          at: at(minute),
          type: 'call',
          session: 't1',
          project: 'p',
          tool,
          content: { tool, ok: true },
        });
        await store.journal.append({ telemetry: [event('a', 1), event('b', 2), event('c', 3)] });
        const first = await store.journal.telemetry({ session: 't1', limit: 2 });
        expect(first).toEqual([
          { place: expect.any(Number), ...event('a', 1) },
          { place: expect.any(Number), ...event('b', 2) },
        ]);
        const rest = await store.journal.telemetry({ session: 't1', after: first[1]?.place, limit: 2 });
        expect(rest.map(({ tool }) => tool)).toEqual(['c']);
        const middle = await store.journal.telemetry({ session: 't1', since: at(2), until: at(3), limit: 9 });
        expect(middle.map(({ tool }) => tool)).toEqual(['b']);
        expect(await store.journal.telemetry({ session: 't1', user: 'ann', limit: 9 })).toEqual([]);
      });

      it('gives the calls of a session and of some tools, newest first', async () => {
        const call = (tool: string, uri: string) => ({
          session: 'c1',
          tool,
          turn: 1,
          at: at(1),
          values: { uri: [uri], __proto__x: [] },
        });
        await store.journal.append({ calls: [call('open', '1'), call('open', '2'), call('close', '3')] });
        expect(await store.journal.calls('c1', ['open', 'none'])).toEqual([call('open', '2'), call('open', '1')]);
        expect(await store.journal.calls('c2', ['open'])).toEqual([]);
        await store.journal.append({ calls: [{ ...call('open', '1'), turn: 9 }] });
        expect(await store.journal.calls('c1', ['open'])).toMatchObject([{ turn: 9 }, call('open', '2')]);
      });

      it('takes nothing, too', async () => {
        await expect(store.journal.append({})).resolves.toBeUndefined();
      });
    });

    describe('documents', () => {
      const document = (owner: string, name: string, content: unknown) => ({
        owner,
        name,
        content,
        updatedAt: at(0),
      });

      it('bring the audit entry of a change with it, and none where nothing changed', async () => {
        const about = (reason: string) =>
          ({ event: 'plan_kept', outcome: 'allowed', user: 'auditor', reason, at: at(1) }) as const;
        const kept = { owner: 'auditor', name: 'a', content: 1, updatedAt: at(1) };
        await store.plans.put(kept, about('put'));
        await store.plans.replace({ ...kept, content: 2 }, undefined, about('not replaced'));
        await store.plans.replace({ ...kept, content: 2 }, kept, about('replaced'));
        await store.plans.remove('auditor', 'a', about('removed'));
        await store.plans.remove('auditor', 'a', about('not removed'));
        const entries = await store.journal.audit({ user: 'auditor', limit: 9 });
        expect(entries.map(({ reason }) => reason)).toEqual(['removed', 'replaced', 'put']);
      });

      it('are kept by owner and name, each kind apart', async () => {
        await store.privateTools.put(document('bob', 'mail', { risk: 'low' }));
        await store.privateTools.put(document('ann', 'Mail', 1));
        await store.privateTools.put(document('ann', 'diary', null));
        await store.privateTools.put(document('ann', 'diary', ['two']));
        await store.rules.put(document('ann', 'diary', 'a rule'));
        expect((await store.privateTools.list()).map(({ owner, name }) => `${owner}/${name}`)).toEqual([
          'ann/Mail',
          'ann/diary',
          'bob/mail',
        ]);
        expect(await store.privateTools.get('ann', 'diary')).toEqual(document('ann', 'diary', ['two']));
        expect(await store.privateTools.list('bob')).toHaveLength(1);
        expect(await store.privateTools.remove('ann', 'diary')).toBe(true);
        expect(await store.privateTools.remove('ann', 'diary')).toBe(false);
      });

      it('are read again only where they have changed, at the same instant, too, and one in a turn', async () => {
        const names = Array.from({ length: 40 }, (_, place) => `big-${place + 10}`);
        const put = (name: string, content: unknown) => store.snapshots.put(document('reader', name, content));
        for (const name of names) await put(name, 'x'.repeat(10_000));
        const first = await watchWork(() => store.snapshots.list('reader'));
        expect(first.turns).toBeGreaterThanOrEqual(names.length);
        const before = first.result;
        const again = await watchWork(() => store.snapshots.list('reader', before));
        expect(again.result).toBe(before);
        await put('big-20', 'new');
        await store.snapshots.replace(document('reader', 'big-30', 'newer'), before[20]);
        await store.snapshots.remove('reader', 'big-49');
        const changed = await watchWork(() => store.snapshots.list('reader', before));
        expect(again.parsed + changed.parsed).toBeLessThan(1_000);
        const kept = before.filter((_, place) => ![10, 20, 39].includes(place));
        expect(changed.result).toHaveLength(39);
        expect(changed.result.filter((one) => before.includes(one))).toEqual(kept);
        expect([changed.result[10], changed.result[20]]).toMatchObject([{ content: 'new' }, { content: 'newer' }]);
      });

      it('have summaries, which are read without their contents', async () => {
        const content = 'x'.repeat(10_000);
        await store.plans.put({ ...document('lister', 'b', content), summary: { goal: 'b' } });
        await store.plans.replace({ ...document('lister', 'a', content), summary: { goal: 'a' } }, undefined);
        await store.plans.put(document('lister', 'c', content));
        const { result, parsed } = await watchWork(() => store.plans.summaries('lister'));
        expect(result).toMatchObject([
          { name: 'a', summary: { goal: 'a' } },
          { summary: { goal: 'b' } },
          { name: 'c' },
        ]);
        expect(parsed).toBeLessThan(100);
        await store.plans.put(document('lister', 'b', content));
        expect((await store.plans.summaries('lister'))[1]).not.toHaveProperty('summary');
      });

      it('are replaced by one of those who change what they have read', async () => {
        const first = document('ann', 'morning', { steps: [1, { b: 2, a: 'é' }] });
        expect(await store.plans.replace(first, undefined)).toBe(true);
        expect(await store.plans.replace(document('ann', 'morning', 'x'), undefined)).toBe(false);
        const before = await store.plans.get('ann', 'morning');
        const changes = ['a', 'b', 'c'].map((content) => document('ann', 'morning', content));
        const done = await Promise.all(changes.map((change) => store.plans.replace(change, before)));
        expect(done.filter((isDone) => isDone)).toHaveLength(1);
        expect(await store.plans.get('ann', 'morning')).toEqual(changes[done.indexOf(true)]);
        expect(await store.plans.replace(first, document('bob', 'morning', null))).toBe(false);
        expect(await store.rules.get('ann', 'diary')).toMatchObject({ content: 'a rule' });
      });
    });

    describe('weights', () => {
      const weight = (key: string, more: Partial<WeightRecord> = {}): WeightRecord => ({
        level: 'person',
        subject: 'ann',
        kind: 'weight',
        key,
        value: 0.25,
        evidence: 3,
        state: 'proposed',
        details: { tool: key, users: 1, queries: ['x'] },
        updatedAt: at(0),
        ...more,
      });

      it('are one for each level, subject, kind and key, and are replaced', async () => {
        await store.weights.put([weight('b'), weight('a'), weight('a', { subject: 'bob' })]);
        await store.weights.put([weight('a', { value: -1.5, state: 'active' })]);
        expect(await store.weights.list({ subject: 'ann' })).toEqual([
          weight('a', { value: -1.5, state: 'active' }),
          weight('b'),
        ]);
        expect(await store.weights.list()).toHaveLength(3);
        expect(await store.weights.list({ state: 'active', key: 'a' })).toHaveLength(1);
      });

      it('can be removed by what they are about', async () => {
        await store.weights.put([weight('x', { level: 'project', subject: 'p' })]);
        expect(await store.weights.remove({ level: 'project', subject: 'p' })).toBe(1);
        expect(await store.weights.list({ level: 'project' })).toEqual([]);
      });
    });

    describe('plan runs', () => {
      const run = (id: string, more: Partial<PlanRunRecord> = {}): PlanRunRecord => ({
        id,
        plan: { steps: [{ id: 's1' }] },
        state: 'running',
        steps: {},
        createdAt: at(0),
        updatedAt: at(0),
        ...more,
      });

      /** Makes a run, and takes its lease. */
      const take = async (record: PlanRunRecord) => {
        const own = { id: record.id, owner: `one of ${record.id}` };
        await store.planRuns.create(record);
        await store.planRuns.claim(own, { at: at(0), until: at(5) });
        return own;
      };

      it('keep the plan, and what is known of each step, also when steps end at once', async () => {
        const own = await take(run('r1', { user: 'ann', session: 's', steps: { s0: { state: 'done' } } }));
        await Promise.all(
          ['s1', 's2', 's3'].map((id) => store.planRuns.setStep(own, { id, state: { state: 'done', id }, at: at(2) })),
        );
        expect(await store.planRuns.setStep(own, { id: 's1', state: { state: 'failed' }, at: at(3) })).toBe(true);
        expect(await store.planRuns.setState(own, { state: 'failed', at: at(4) })).toBe(true);
        expect(await store.planRuns.get('r1')).toEqual(
          run('r1', {
            user: 'ann',
            session: 's',
            state: 'failed',
            updatedAt: at(4),
            leaseUntil: at(5),
            steps: {
              s0: { state: 'done' },
              s1: { state: 'failed' },
              s2: { state: 'done', id: 's2' },
              s3: { state: 'done', id: 's3' },
            },
          }),
        );
        expect(await store.planRuns.get('none')).toBeUndefined();
      });

      it('are listed newest first, and take a new plan', async () => {
        await store.planRuns.create(run('r2', { user: 'lister', session: 's2', createdAt: at(1) }));
        const own = await take(run('r3', { user: 'lister', createdAt: at(2), steps: { s1: 1 } }));
        const changed = { state: 'done', plan: ['new'], summary: { goal: '新' }, at: at(3) };
        await store.planRuns.setState(own, changed);
        expect(await store.planRuns.list({ user: 'lister', limit: 9 })).toEqual([
          {
            ...{ id: 'r3', user: 'lister', state: 'done', summary: { goal: '新' } },
            ...{ createdAt: at(2), updatedAt: at(3), leaseUntil: at(5) },
          },
          { id: 'r2', user: 'lister', session: 's2', state: 'running', createdAt: at(1), updatedAt: at(0) },
        ]);
        expect(await store.planRuns.get('r3')).toMatchObject({ plan: ['new'], steps: { s1: 1 } });
        const listed = async (more: object) =>
          (await store.planRuns.list({ user: 'lister', limit: 9, ...more })).map(({ id }) => id);
        expect(await listed({ state: 'running' })).toEqual(['r2']);
        expect(await listed({ since: at(2) })).toEqual(['r3']);
        expect(await listed({ session: 's2' })).toEqual(['r2']);
        expect(await listed({ limit: 1 })).toEqual(['r3']);
        const [first] = await store.planRuns.list({ user: 'lister', limit: 1 });
        expect(first).not.toHaveProperty('steps');
      });

      it('belong to one process at a time', async () => {
        await store.planRuns.create(run('r4'));
        const claim = (owner: string, minute: number) =>
          store.planRuns.claim({ id: 'r4', owner }, { at: at(minute), until: at(minute + 5) });
        const renew = (owner: string, minute: number) => store.planRuns.renew({ id: 'r4', owner }, at(minute + 5));
        const won = await Promise.all(['one', 'two', 'three'].map((owner) => claim(owner, 0)));
        expect(won.filter(Boolean)).toHaveLength(1);
        const owner = ['one', 'two', 'three'][won.indexOf(true)] ?? '';
        expect([await claim('four', 4), await renew('four', 4)]).toEqual([false, false]);
        expect(await renew(owner, 4)).toBe(true);
        expect(await claim('four', 9)).toBe(true);
        expect(await store.planRuns.get('r4')).toMatchObject({ leaseUntil: at(14) });
        expect([await claim(owner, 10), await renew(owner, 10)]).toEqual([false, false]);
        const none = { id: 'none', owner: 'one' };
        expect(await store.planRuns.claim(none, { at: at(0), until: at(1) })).toBe(false);
        expect(await store.planRuns.renew(none, at(1))).toBe(false);
      });

      it('change by the process that took them last alone, also when its lease is over', async () => {
        const own = await take(run('r5'));
        const other = { id: 'r5', owner: 'other' };
        const step = (state: string) => ({ id: 's1', state, at: at(6) });
        expect(await store.planRuns.setStep(own, step('own'))).toBe(true);
        expect(await store.planRuns.setStep(other, step('other'))).toBe(false);
        expect(await store.planRuns.claim(other, { at: at(6), until: at(6) })).toBe(true);
        expect(await store.planRuns.setStep(own, { ...step('late'), at: at(7) })).toBe(false);
        expect(await store.planRuns.setState(own, { state: 'failed', plan: ['late'], at: at(7) })).toBe(false);
        expect(await store.planRuns.renew(own, at(20))).toBe(false);
        expect(await store.planRuns.setState(other, { state: 'done', at: at(8) })).toBe(true);
        expect(await store.planRuns.get('r5')).toEqual(
          run('r5', { state: 'done', updatedAt: at(8), leaseUntil: at(6), steps: { s1: 'own' } }),
        );
      });

      it('are taken while they change by who then sees the change, or nothing of it', async () => {
        for (const place of [1, 2, 3, 4, 5]) {
          const own = await take(run(`race-${place}`));
          const other = { ...own, owner: 'other' };
          const look = async () => {
            await store.planRuns.claim(other, { at: at(9), until: at(15) });
            return (await store.planRuns.get(own.id))?.steps;
          };
          const [isKept, seen] = await Promise.all([
            store.planRuns.setStep(own, { id: 's1', state: 'running', at: at(9) }),
            look(),
          ]);
          expect(seen).toEqual(isKept ? { s1: 'running' } : {});
        }
      });
    });

    describe('what one user may have', () => {
      it('open sessions', async () => {
        const open = (id: string) => store.sessions.create(session(id, { user: 'many' }), 2);
        const opened = [];
        for (const id of ['q1', 'q2', 'q3']) opened.push(await open(id));
        expect(opened).toEqual([true, true, false]);
        expect(await store.sessions.get('q3')).toBeUndefined();
        expect(await store.sessions.create(session('q4', { user: 'few' }), 2)).toBe(true);
        await store.sessions.end('q1', at(1));
        expect(await open('q5')).toBe(true);
      });

      it('bytes of runs, with all that they have come to hold, until retention removes them', async () => {
        const other = await open();
        const make = async (id: string, user: string | undefined, state = 'done') => {
          const plan = { text: 'x'.repeat(1_000) };
          const run = { id, user, plan, state, steps: {}, createdAt: at(0), updatedAt: at(0) };
          return other.planRuns.create(run, 5_000);
        };
        const own = { id: 'b1', owner: 'one' };
        expect(await make('b1', 'holder')).toBe(true);
        const empty = await other.planRuns.bytesOf('holder');
        await other.planRuns.claim(own, { at: at(0), until: at(5) });
        for (const state of ['é'.repeat(1_000), 'é'.repeat(200)])
          await other.planRuns.setStep(own, { id: 's1', state, at: at(0) });
        expect(await other.planRuns.bytesOf('holder')).toBe(empty + 402);
        await other.planRuns.setState(own, { state: 'done', plan: { text: 'é'.repeat(1_500) }, at: at(0) });
        expect(await other.planRuns.bytesOf('holder')).toBe(empty + 402 + 2_000);
        expect([await make('b2', 'holder'), await make('b3', 'other'), await make('b4', undefined)]).toEqual([
          ...[false, true, true],
        ]);
        expect(await other.planRuns.get('b2')).toBeUndefined();
        await other.planRuns.setStep(own, { id: 's2', state: 'x', at: at(9) });
        expect(await make('b2', 'holder')).toBe(false);
        await other.prune('runs', at(10));
        expect(await other.planRuns.bytesOf('holder')).toBe(0);
        const many = await Promise.all(['b5', 'b6', 'b7', 'b8', 'b9'].map((id) => make(id, 'holder')));
        expect(many.filter(Boolean)).toHaveLength(3);
        await other.close();
      });

      it('documents of a kind, as who writes one decides on all that are there, also when many come at once', async () => {
        const other = await open();
        const put = (name: string, owner = 'keeper') => {
          const document = { owner, name, content: 'é', updatedAt: at(0) };
          return other.rules.put(document, undefined, (own) => {
            if (own.length >= 2 && !own.some((one) => one.name === name)) throw new Error(JSON.stringify(own));
          });
        };
        const outcomes = await Promise.allSettled(['d1', 'd2', 'd3', 'd4'].map((name) => put(name)));
        expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(2);
        expect(await other.rules.list('keeper')).toHaveLength(2);
        await expect(put('d5')).rejects.toThrow('"bytes":4}');
        await put('d5', 'other');
        await other.close();
      });

      it('pending approvals; one that is there is found all the same', async () => {
        const request = (id: string, more: Partial<ApprovalRecord> = {}) =>
          store.approvals.request(approval(id, { session: 'q', user: 'asker', tool: id, ...more }), 2);
        const first = await request('p1');
        expect(await request('p2')).toBeDefined();
        expect(await request('p3')).toBeUndefined();
        expect(await store.approvals.get('p3')).toBeUndefined();
        expect(await request('p1-again', { tool: 'p1' })).toEqual(first);
        expect(await request('p4', { user: 'other' })).toBeDefined();
        await store.approvals.decide('p1', GRANT);
        expect(await request('p5')).toBeDefined();
        expect(await request('p6', { requestedAt: at(16), expiresAt: at(30) })).toBeDefined();
      });
    });

    describe('answers under keys', () => {
      const claimed = { owner: 'ann', key: 'k', requestHash: 'h', createdAt: at(0), until: at(1) };

      it('are claimed by one of many at once, kept, and forgotten', async () => {
        const claims = await Promise.all([1, 2, 3].map(() => store.answers.claim(claimed, 9_999)));
        expect(claims.filter((one) => one === 'taken')).toHaveLength(1);
        await store.answers.setUntil(claimed, at(5));
        expect(await store.answers.claim(claimed, 9_999)).toEqual({ ...claimed, until: at(5) });
        await store.answers.keep(claimed, null);
        expect(await store.answers.claim(claimed, 9_999)).toEqual({ ...claimed, until: at(5), content: null });
        await store.answers.keep(claimed, { deep: ['中文'] });
        expect(await store.answers.claim(claimed, 9_999)).toMatchObject({ content: { deep: ['中文'] } });
        await store.answers.forget(claimed);
        expect(await store.answers.claim(claimed, 9_999)).toBe('taken');
        expect(await store.answers.claim({ ...claimed, owner: '' }, 9_999)).toBe('taken');
      });

      it('have a limit for each owner', async () => {
        const claim = (owner: string, key: string) => store.answers.claim({ ...claimed, owner, key }, 1_500);
        await claim('big', '1');
        await store.answers.keep({ owner: 'big', key: '1' }, 'x'.repeat(1_000));
        expect([await claim('big', '2'), await claim('other', '2')]).toEqual(['full', 'taken']);
        expect(await claim('big', '1')).toMatchObject({ key: '1' });
      });
    });

    describe('what is old', () => {
      it('goes by its kind, and what is younger stays', async () => {
        const other = await open();
        const audit = (minute: number): AuditRecord => ({
          at: at(minute),
          event: 'call',
          outcome: 'allowed',
          tool: `t${minute}`,
        });
        const event = (minute: number) => ({ at: at(minute), type: 'call', session: 'old', content: {} });
        await other.journal.append({ audit: [audit(1), audit(5)], telemetry: [event(1), event(5)] });
        await other.approvals.request(approval('over', { session: 'old', expiresAt: at(4) }));
        await other.approvals.request(approval('lasts', { session: 'old', tool: 'x', expiresAt: at(9) }));
        const run = { plan: {}, state: 'done', steps: { s1: 1 }, createdAt: at(0), updatedAt: at(0) };
        await other.planRuns.create({ id: 'idle', ...run });
        await other.planRuns.create({ id: 'busy', ...run });
        const own = { id: 'busy', owner: 'one' };
        await other.planRuns.claim(own, { at: at(0), until: at(1) });
        await other.planRuns.setStep(own, { id: 's1', state: 2, at: at(5) });

        const answer = { owner: 'ann', requestHash: 'h', createdAt: at(0) };
        await other.answers.claim({ ...answer, key: 'over', until: at(1) }, 9_999);
        await other.answers.claim({ ...answer, key: 'runs', until: at(9) }, 9_999);

        const removed = async (kind: PrunedKind) => [await other.prune(kind, at(5)), await other.prune(kind, at(5))];
        for (const kind of PRUNED_KINDS) expect([kind, ...(await removed(kind))]).toEqual([kind, 1, 0]);

        expect((await other.journal.audit({ limit: 9 })).map(({ tool }) => tool)).toEqual(['t5']);
        expect(await other.journal.telemetry({ limit: 9 })).toMatchObject([{ at: at(5) }]);
        expect(await other.approvals.ids({ limit: 9 })).toEqual(['lasts']);
        expect((await other.planRuns.list({ limit: 9 })).map(({ id }) => id)).toEqual(['busy']);
        expect(await other.planRuns.get('busy')).toMatchObject({ steps: { s1: 2 } });
        expect(await other.answers.claim({ ...answer, key: 'over', until: at(9) }, 9_999)).toBe('taken');
        expect(await other.answers.claim({ ...answer, key: 'runs', until: at(9) }, 9_999)).toMatchObject({
          key: 'runs',
        });
        await other.planRuns.create({ id: 'idle', ...run, steps: {} });
        expect(await other.planRuns.get('idle')).toMatchObject({ steps: {} });
        await other.close();
      });
    });

    it('takes a trial of writing, again and again', async () => {
      await store.probe();
      await expect(store.probe()).resolves.toBeUndefined();
    });

    it('may be closed twice', async () => {
      const other = await open();
      await other.close();
      await expect(other.close()).resolves.toBeUndefined();
    });
  });
}
