import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { findKeySlips } from '../../../src/core/catalog/key-slips.js';
import { toolEntrySchema } from '../../../src/core/catalog/tool.js';

const KNOWN = Object.keys(toolEntrySchema.shape);
const meantBy = (key: string) => findKeySlips({ [key]: 'x' }, KNOWN).map(({ meant }) => meant);

describe('a slip in a key', () => {
  it.each([
    ['descripton', 'description'],
    ['Description', 'description'],
    ['discriptoin', 'description'],
    ['input_schema', 'inputSchema'],
    ['output-schema', 'outputSchema'],
    ['inputschema', 'inputSchema'],
    ['tool_type', 'toolType'],
    ['keyword', 'keywords'],
    ['alias', 'aliases'],
    ['nmae', 'name'],
    ['titl', 'title'],
    ['always_load', 'alwaysLoad'],
  ])('is seen: %s', (key, meant) => {
    expect(meantBy(key)).toEqual([meant]);
  });

  it.each([
    ...['id', 'type', 'tags', 'version', 'icons', 'parameters', 'args', 'strict', 'execution', 'license', 'tooltip'],
    ...['_meta', '_description', 'names', 'scopes', 'servers', 'disk', 'subtitle', 'unavailable', 'conditions', ''],
  ])('is not taken for a key of its own: "%s"', (key) => {
    expect(meantBy(key)).toEqual([]);
  });

  it('is none where the known key is there, too', () => {
    expect(findKeySlips({ inputSchema: {}, input_schema: {} }, KNOWN)).toEqual([]);
  });

  it.each([null, 'name', ['nmae'], undefined])('is not looked for in what is no record: %j', (value) => {
    expect(findKeySlips(value, KNOWN)).toEqual([]);
  });

  it('is in no entry of the catalogues that come with the package', () => {
    for (const name of ['assistant', 'coding-agent', 'hydrology']) {
      const { tools } = JSON.parse(readFileSync(`fixtures/catalogs/${name}.json`, 'utf8'));
      expect(tools.flatMap((entry: unknown) => findKeySlips(entry, KNOWN))).toEqual([]);
    }
  });
});
