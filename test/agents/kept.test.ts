/** Rules and tools that are kept in the store, merged with those of the catalogue. */
import { describe, expect, it } from 'vitest';
import { createKeptRules, type KeptRules, MAX_KEPT_RULES } from '../../src/agents/kept-rules.js';
import { createLiveCatalog } from '../../src/agents/live-catalog.js';
import { createPolicy, type PolicyInput } from '../../src/agents/policy/policy.js';
import { openStore } from '../../src/agents/store/open-store.js';
import type { Documents } from '../../src/agents/store/sql/keyed-records.js';
import { type Catalog, createCatalog } from '../../src/core/catalog/catalog.js';
import { type LoadedCatalog, loadCatalog } from '../../src/core/catalog/load.js';
import type { Rule } from '../../src/core/catalog/rule.js';
import type { EntryIssue } from '../../src/core/catalog/tool.js';
import { WinnowError } from '../../src/core/errors.js';
import { createPlanner } from '../../src/core/planner.js';
import { makeTool, namesOf, naming, TOOLS } from '../core/selection/setup.js';
import { createTool } from '../support/create-tool.js';
import { holdFirstList } from '../support/hold-first-list.js';
import { createScriptedModel } from '../support/scripted-model.js';
import { auditIn } from './store/records.js';

describe('rules that are kept', () => {
  const OWN: Rule = { name: 'mail-first', when: { intent: 'office' }, first: ['read_mail'] };
  const COFFEE = { name: 'coffee', when: { message: 'morning' }, include: ['brew_coffee'] };
  const LAWN = { name: 'a lawn', when: { message: 'morning' }, first: ['water_garden'] };

  async function together({
    rules = [OWN],
    tools = TOOLS,
  }: {
    rules?: readonly Rule[];
    tools?: Catalog['tools'];
  } = {}) {
    const whole = await openStore();
    const { rules: store } = whole;
    const issues: EntryIssue[] = [];
    let catalog = createCatalog(tools, { rules });
    const make = (more: { store?: Documents } = {}) =>
      createKeptRules({
        base: () => catalog,
        store,
        onIssue: (issue) => issues.push(issue),
        clock: () => new Date('2026-11-22T10:00:00Z'),
        ...more,
      });
    const reload = (next: Catalog) => {
      catalog = next;
    };
    return { store, issues, audit: () => auditIn(whole), reload, catalog, make, kept: make(), other: make() };
  }

  const inForce = (kept: KeptRules) => kept.inForce().map(({ name }) => name);
  const keepBy = (store: Documents, name: string, content: unknown) =>
    store.put({ owner: 'operators', name, content, updatedAt: '2026-01-01T00:00:00.000Z' });

  describe('a kept rule', () => {
    it('is in force after those of the catalogue as soon as it is put, and gone when it is removed', async () => {
      const { kept, catalog } = await together();
      expect(kept.inForce()).toBe(catalog.rules);
      const put = await kept.put(COFFEE);
      expect(put).toEqual({ ...COFFEE, from: 'kept', updatedAt: '2026-11-22T10:00:00.000Z', unknownTools: [] });
      await kept.put(LAWN);
      expect(inForce(kept)).toEqual(['mail-first', 'a lawn', 'coffee']);
      expect(kept.list()).toMatchObject({
        rules: [{ ...OWN, from: 'catalog' }, { name: 'a lawn' }, put],
        leftOut: [],
      });
      await kept.put({ ...COFFEE, include: ['play_song'] });
      expect(kept.inForce().at(-1)).toMatchObject({ name: 'coffee', include: ['play_song'] });
      await kept.remove('coffee');
      await kept.remove('a lawn');
      expect(kept.inForce()).toBe(catalog.rules);
    });

    it('reaches another process when it reads the store anew, and the same ones again are the same list', async () => {
      const { kept, other } = await together();
      await kept.put(COFFEE);
      expect(inForce(other)).toEqual(['mail-first']);
      await other.refresh();
      expect(inForce(other)).toEqual(['mail-first', 'coffee']);
      const before = other.inForce();
      await other.refresh();
      expect(other.inForce()).toBe(before);
      await kept.remove('coffee');
      await other.refresh();
      expect(inForce(other)).toEqual(['mail-first']);
    });

    it('is not taken away again by a reading that was begun before it was put', async () => {
      const { store, make } = await together();
      const { held, release } = holdFirstList(store);
      const slow = make({ store: held });
      const early = slow.refresh();
      await slow.put(COFFEE);
      release();
      await early;
      expect(inForce(slow)).toEqual(['mail-first', 'coffee']);
    });

    it('is in the audit, with who put and who removed it', async () => {
      const { kept, audit } = await together();
      await kept.put(COFFEE, { by: 'olga' });
      await kept.remove('coffee', 'olga');
      expect(await audit()).toEqual([
        { event: 'rule_put', outcome: 'allowed', user: 'olga', reason: JSON.stringify(COFFEE) },
        { event: 'rule_removed', outcome: 'allowed', user: 'olga', reason: '{"name":"coffee"}' },
      ]);
    });

    it.each<[string, unknown, string]>([
      ['that is no object', null, 'rule: '],
      ['without a name', { ...COFFEE, name: undefined }, 'name: '],
      ['of a name too long for an address', { ...COFFEE, name: 'x'.repeat(101) }, 'name: '],
      ['of a name with a line break', { ...COFFEE, name: 'a\nb' }, 'name: no control character'],
      ['of a name that no address can hold', { ...COFFEE, name: '..' }, 'name: not . or ..'],
      ['without a condition', { ...COFFEE, when: {} }, 'when: a rule needs at least one condition'],
      ['with a broken pattern', { ...COFFEE, when: { message: '(' } }, 'when.message: not a regular expression'],
      ['that adds nothing', { name: 'r', when: COFFEE.when }, 'rule: a rule needs first, last or include'],
      ['with a field that is none', { ...COFFEE, before: ['x'] }, 'rule: Unrecognized key "before"'],
      [
        'of the name of a rule of the catalogue',
        { ...COFFEE, name: OWN.name },
        'name: the catalogue itself holds a rule "mail-first"',
      ],
    ])('%s is refused with its field', async (_, rule, issue) => {
      const { kept, store, audit } = await together();
      await expect(kept.put(rule)).rejects.toMatchObject({
        code: 'invalid_request',
        message: expect.stringMatching(/^The rule is not usable: /u),
        issues: expect.arrayContaining([expect.stringContaining(issue)]),
      });
      expect([await store.list(), await audit()]).toEqual([[], []]);
    });

    it('has the name of its address, or says none', async () => {
      const { kept } = await together();
      const { name: _, ...nameless } = COFFEE;
      expect(await kept.put(nameless, { name: 'coffee' })).toMatchObject(COFFEE);
      await kept.put(COFFEE, { name: 'coffee' });
      await expect(kept.put(COFFEE, { name: 'tea' })).rejects.toThrow(
        'name: the rule says "coffee", its address "tea"',
      );
    });

    it('that is not there, or comes with the catalogue, can not be removed', async () => {
      const { kept } = await together();
      await expect(kept.remove('nothing')).rejects.toMatchObject({
        code: 'not_found',
        message: 'No rule "nothing" is kept.',
      });
      await expect(kept.remove(OWN.name)).rejects.toMatchObject({
        code: 'not_found',
        message: expect.stringContaining('It comes with the catalogue'),
      });
    });

    it('is one of a bounded number, also where many are put at once', async () => {
      const { kept, store } = await together();
      for (let place = 0; place < MAX_KEPT_RULES - 1; place++) await keepBy(store, `r${place}`, COFFEE);
      const put = await Promise.allSettled(['a', 'b', 'c'].map((name) => kept.put({ ...LAWN, name })));
      expect(put.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected', 'rejected']);
      await expect(kept.put(LAWN)).rejects.toThrow(`name: ${MAX_KEPT_RULES} rules are kept`);
      await kept.put({ ...LAWN, name: 'r0' });
      expect(kept.inForce()).toHaveLength(MAX_KEPT_RULES + 1);
    });
  });

  describe('a kept rule that is not usable any more', () => {
    it('is left out, is told of once, and does the others no harm', async () => {
      const { kept, store, issues } = await together();
      await keepBy(store, 'old', { ...COFFEE, weight: 3 });
      await keepBy(store, 'text', 'a rule');
      await keepBy(store, 'coffee', COFFEE);
      await kept.refresh();
      expect(issues).toHaveLength(2);
      await kept.refresh();
      await kept.put(LAWN);
      expect(inForce(kept)).toEqual(['mail-first', 'a lawn', 'coffee']);
      expect(kept.list().leftOut).toEqual([
        { name: 'old', reason: expect.stringContaining('"weight"') },
        { name: 'text', reason: expect.stringContaining('when: ') },
      ]);
      expect(issues).toMatchObject([
        { entry: 'kept rule', name: 'old', message: expect.stringMatching(/^left out: .*weight/u) },
        { entry: 'kept rule', name: 'text', message: expect.stringMatching(/^left out: when/u) },
      ]);
      await kept.remove('old');
      expect(kept.list().leftOut).toMatchObject([{ name: 'text' }]);
    });

    it('steps back where the catalogue gets a rule of its name, and is there again when that is gone', async () => {
      const { kept, reload, issues, catalog } = await together();
      await kept.put(COFFEE);
      const theirs = { ...COFFEE, include: ['play_song'] };
      reload(createCatalog(TOOLS, { rules: [theirs] }));
      expect(kept.inForce()).toEqual([theirs]);
      expect(kept.list().leftOut).toEqual([
        { name: 'coffee', reason: 'name: the catalogue holds a rule of this name' },
      ]);
      expect(issues).toMatchObject([{ entry: 'kept rule', name: 'coffee' }]);
      reload(catalog);
      expect(inForce(kept)).toEqual(['mail-first', 'coffee']);
    });
  });

  describe('a rule that names tools which are not there', () => {
    const rule = { name: 'notes', when: { message: 'x' }, first: ['letter', 'read_mail'], last: ['letter', 'diary'] };

    it('is taken, as from a catalogue file, and the names are told: in the answer, in the list, and once to the log', async () => {
      const { kept, issues } = await together({ rules: [{ ...OWN, first: ['gone'] }] });
      expect(await kept.put(rule)).toMatchObject({ unknownTools: ['letter', 'diary'] });
      await kept.refresh();
      expect(kept.list().rules.map(({ unknownTools }) => unknownTools)).toEqual([['gone'], ['letter', 'diary']]);
      expect(issues.map(({ name, message }) => `${name}: ${message}`)).toEqual([
        'notes: no tool of the system is named "letter"',
        'notes: no tool of the system is named "diary"',
      ]);
    });

    it("says the same of a user's own tool as of none, so that nobody learns of it", async () => {
      const diary = createTool('diary', {}, undefined, { scope: { user: 'bob' } });
      const [without, withIt] = [await together(), await together({ tools: [...TOOLS, diary] })];
      expect(await withIt.kept.put(rule)).toEqual(await without.kept.put(rule));
      expect(withIt.kept.list()).toEqual(without.kept.list());
      expect(withIt.issues).toEqual(without.issues);
    });

    it('adds the others, and to a user a tool of their own of that name', async () => {
      const letter = makeTool('letter', { scope: { user: 'ann' } });
      const { kept, catalog } = await together({ tools: [...TOOLS, letter] });
      await kept.put(rule);
      const planner = createPlanner({
        catalog,
        rules: kept.inForce,
        model: createScriptedModel({ answers: () => naming('play_song') }),
        options: { passthroughTools: 0, fillTokens: 0 },
      });
      expect(namesOf(await planner.select({ message: 'x', user: 'bob' }))).toEqual(['read_mail', 'play_song']);
      expect(namesOf(await planner.select({ message: 'x', user: 'ann' }))).toEqual([
        'letter',
        'read_mail',
        'play_song',
      ]);
    });
  });
});

describe('the catalogue of now', () => {
  const loadTools = (names: readonly string[], previous?: LoadedCatalog) =>
    loadCatalog({
      sources: [{ kind: 'tools', name: 'tools', tools: names.map((name) => createTool(name)) }],
      previous,
    });

  async function together(load: (previous: LoadedCatalog) => Promise<LoadedCatalog>, policy: PolicyInput = {}) {
    const audit: object[] = [];
    const live = createLiveCatalog({
      first: await loadTools(['a', 'b']),
      load,
      policy: () => createPolicy(policy),
      audit: async (entry) => void audit.push(entry),
    });
    const names = () => live.current().catalog.tools.map(({ name }) => name);
    return { live, names, audit };
  }

  describe('a catalogue that is read anew', () => {
    it('tells what has changed, and keeps unchanged tools the same objects', async () => {
      const { live, names, audit } = await together((previous) => loadTools(['b', 'c'], previous));
      const [, before] = live.current().catalog.tools;
      expect(await live.reload()).toEqual({
        tools: 2,
        added: 1,
        changed: 0,
        removed: 1,
        kept: [],
        failed: [],
        warnings: [],
      });
      expect(names()).toEqual(['b', 'c']);
      expect(live.current().catalog.tools[0]).toBe(before);
      expect(audit).toEqual([
        { event: 'catalog_reloaded', outcome: 'allowed', reason: '1 tools added, 0 changed, 1 removed.' },
      ]);
    });

    it('stays as it was where it can not be read', async () => {
      const { live, names, audit } = await together(async () => {
        throw new WinnowError('source_failed', 'The source is away.', { issues: ['it is away'] });
      });
      const reload = await live.reload();
      expect(reload).toMatchObject({ tools: 2, added: 0, kept: [{ reason: 'The source is away.' }] });
      expect(names()).toEqual(['a', 'b']);
      expect(audit).toMatchObject([{ event: 'catalog_kept', outcome: 'failed', reason: 'The source is away.' }]);
    });

    const about = (decision: 'allow' | 'deny' | 'needs_approval', tool = 'a') => ({
      rules: [{ name: 'r', decision, match: { tool } }],
    });
    it.each<[string, PolicyInput, boolean]>([
      ['a rule that denies', about('deny'), true],
      ['a rule that asks', about('needs_approval'), true],
      ['a precondition', { preconditions: [{ match: { tool: 'a' }, requires: ['b called'] }] }, true],
      ['a higher risk', { argumentRisks: [{ match: { tool: 'a', arguments: { x: 1 } }, risk: 'high' }] }, true],
      ['a lower risk', { argumentRisks: [{ match: { tool: 'a' }, risk: 'low' }] }, false],
      ['a rule that allows', about('allow'), false],
      ['a rule that was about none before', about('deny', 'z'), false],
      ['a rule that is still about another', about('deny', '?'), false],
    ])('stays as it was, or not, where it would leave without a tool %s', async (_, policy, isKept) => {
      const { live, names, audit } = await together((previous) => loadTools(['b', 'c'], previous), policy);
      const { kept, warnings } = await live.reload();
      expect(names()).toEqual(isKept ? ['a', 'b'] : ['b', 'c']);
      expect(audit).toMatchObject([{ event: isKept ? 'catalog_kept' : 'catalog_reloaded' }]);
      expect(kept).toHaveLength(isKept ? 1 : 0);
      if (isKept) expect([kept[0]?.reason, ...warnings].join()).toMatch(/would be about no tool any more.*about a/u);
    });

    it('tells sources that stay as they were from those that never gave anything, and the changes of the others', async () => {
      const error = new WinnowError('source_failed', 'It is away.');
      const [flaky, dead] = [
        { source: 'flaky', error },
        { source: 'dead', error },
      ];
      const away = (source: string) => [{ source, reason: 'It is away.' }];
      const { live, audit } = await together(async (previous) => ({
        ...(await loadTools(['a', 'b', 'c'], previous)),
        failures: [flaky, dead],
        kept: [flaky],
      }));
      expect(await live.reload()).toMatchObject({ added: 1, kept: away('flaky'), failed: away('dead') });
      expect(audit).toMatchObject([
        { event: 'catalog_kept', reason: 'It is away. 1 tools added, 0 changed, 0 removed.' },
      ]);
    });

    it('is read once at a time, and those who ask meanwhile get what is read after they asked', async () => {
      let reads = 0;
      let running = 0;
      const { live, names } = await together(async (previous) => {
        expect(++running).toBe(1);
        const tools = [`read_${++reads}`];
        await new Promise(setImmediate);
        running -= 1;
        return loadTools(tools, previous);
      });
      const first = live.reload();
      await new Promise(setImmediate);
      await Promise.all([first, live.reload(), live.reload()]);
      expect([reads, names()]).toEqual([2, ['read_2']]);
    });
  });
});
