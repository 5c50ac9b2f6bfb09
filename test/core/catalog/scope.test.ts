import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createCatalog } from '../../../src/core/catalog/catalog.js';
import { createScope, type ScopeRequest } from '../../../src/core/catalog/scope.js';
import { createTool } from '../../support/create-tool.js';

const make = (name: string, more: Parameters<typeof createTool>[3] = {}) => createTool(name, {}, undefined, more);
const TOOLS = [
  make('read', { origin: 'one' }),
  make('write', { origin: 'two' }),
  make('mail', { description: 'of all', origin: 'one' }),
  make('mail', { description: 'of ann', scope: { user: 'ann' }, origin: 'ann' }),
  make('diary', { scope: { user: 'bob' }, origin: 'bob' }),
  make('broken', { available: false }),
];
const catalog = createCatalog(TOOLS);
const viewOf = createScope(catalog);
const namesOf = (request: ScopeRequest) => viewOf(request).tools.map(({ name }) => name);

describe('a view', () => {
  it.each<[string, ScopeRequest, string[]]>([
    ['a caller without a user: system tools', {}, ['read', 'write', 'mail']],
    ['a user without tools of their own: system tools', { user: 'eve' }, ['read', 'write', 'mail']],
    ['a user: their own as well', { user: 'bob' }, ['read', 'write', 'mail', 'diary']],
    ['the allowed', { allow: ['write', 'read'] }, ['read', 'write']],
    ['no more than is there', { allow: ['write', 'nothing'] }, ['write']],
    ['nothing where nothing is allowed', { allow: [] }, []],
    ['all but the denied', { deny: ['write'] }, ['read', 'mail']],
    ['not what is allowed and denied', { allow: ['read', 'write'], deny: ['write'] }, ['read']],
    ['those of some origins', { origin: ['two'] }, ['write']],
    ['those of an origin that are allowed', { origin: ['one'], allow: ['mail', 'write'] }, ['mail']],
    ["not another's, though it is allowed by name", { user: 'ann', allow: ['diary'] }, []],
    ["not another's, though its origin is asked for", { user: 'ann', origin: ['bob'] }, []],
    ['not what is out of service, though it is allowed', { allow: ['broken'] }, []],
    ['not by a user name that is none', { user: 'system' }, ['read', 'write', 'mail']],
    ['not by a name that every object has', { user: '__proto__' }, ['read', 'write', 'mail']],
  ])('shows %s', (_, request, names) => {
    expect(namesOf(request)).toEqual(names);
  });

  it("has the user's own tool in place of the system's of that name, at its own place", () => {
    const view = viewOf({ user: 'ann' });
    expect(view.tools.map(({ name, description }) => `${name} ${description}`)).toEqual([
      'read ',
      'write ',
      'mail of ann',
    ]);
    expect(view.byName.get('mail')?.description).toBe('of ann');
    expect(viewOf({ user: 'bob' }).byName.get('mail')?.description).toBe('of all');
  });

  it("does not bring the system's tool back where the user's own is out of service or denied", () => {
    const own = make('mail', { scope: { user: 'ann' }, available: false });
    const view = createScope(createCatalog([make('mail'), own]))({ user: 'ann' });
    expect(view.tools).toEqual([]);
    expect(namesOf({ user: 'ann', deny: ['mail'] })).toEqual(['read', 'write']);
  });

  it('finds by name exactly what it lists', () => {
    const lists = fc.array(fc.constantFrom('read', 'write', 'mail', 'diary', 'broken', 'other'));
    const request = fc.record(
      {
        user: fc.constantFrom('ann', 'bob', 'eve'),
        allow: lists,
        deny: lists,
        origin: fc.array(fc.constantFrom('one', 'two', 'ann', 'bob')),
      },
      { requiredKeys: [] },
    );
    fc.assert(
      fc.property(request, (asked) => {
        const { tools, byName } = viewOf(asked);
        expect([...byName.values()]).toEqual(tools);
        for (const tool of tools) {
          expect(tool.available).toBe(true);
          expect(tool.scope === 'system' || tool.scope.user === asked.user).toBe(true);
          expect(asked.deny ?? []).not.toContain(tool.name);
          if (asked.allow) expect(asked.allow).toContain(tool.name);
          if (asked.origin) expect(asked.origin).toContain(tool.origin);
        }
      }),
    );
  });
});

describe('views are kept', () => {
  it.each<[string, ScopeRequest, ScopeRequest]>([
    ['of equal requests', { user: 'ann' }, { user: 'ann' }],
    ['of users without tools of their own', { user: 'eve' }, {}],
    ['of lists in another order', { allow: ['read', 'mail'] }, { allow: ['mail', 'read'] }],
    ['that came to the same by other lists', { deny: ['write'] }, { origin: ['one'] }],
  ])('%s: they are one object, so that prompts made from it can be kept', (_, one, other) => {
    expect(viewOf(one)).toBe(viewOf(other));
  });

  it('apart where they differ', () => {
    expect(viewOf({ user: 'ann' })).not.toBe(viewOf({}));
    expect(viewOf({ user: 'ann' }).fingerprint).not.toBe(viewOf({}).fingerprint);
    expect(viewOf({ allow: ['read'] })).not.toBe(viewOf({ deny: ['read'] }));
  });

  it('within bounds: after many others an old one is made anew, and is right', () => {
    const scope = createScope(catalog);
    const first = scope({ deny: ['read'] });
    for (let index = 0; index < 200; index++) scope({ deny: [`none ${index}`, 'write'] });
    expect(scope({ deny: ['read'] })).toEqual(first);
  });
});

describe('a filter', () => {
  it('takes tools away on top of the lists, and is told who asks', () => {
    const asked: ScopeRequest[] = [];
    const scope = createScope(catalog, (tool, request) => {
      asked.push(request);
      return request.user !== 'ann' || tool.name !== 'write';
    });
    expect(scope({ user: 'ann' }).tools.map(({ name }) => name)).toEqual(['read', 'mail']);
    expect(scope({}).tools.map(({ name }) => name)).toEqual(['read', 'write', 'mail']);
    expect(asked[0]).toEqual({ user: 'ann' });
  });

  it('is asked each time, since a policy may have changed', () => {
    let isOpen = true;
    const scope = createScope(catalog, () => isOpen);
    expect(scope({}).tools).toHaveLength(3);
    isOpen = false;
    expect(scope({}).tools).toHaveLength(0);
  });

  it("is never asked about another's tools", () => {
    const names: string[] = [];
    createScope(catalog, (tool) => names.push(tool.name) > 0)({ user: 'ann' });
    expect(names).not.toContain('diary');
  });
});
