/** The README does not drift from the code. */
import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';

const readme = readFileSync('README.md', 'utf8');

describe('the README', () => {
  it('shows the library example that the type check compiles', () => {
    const example = readFileSync('test/example/plan-a-request.ts', 'utf8').replace('../../src/index.js', 'winnow');
    expect(readme).toContain(example.trim());
  });

  it('links only to files that exist', () => {
    const links = [...readme.matchAll(/\]\(((?!https?:)[^)#]+)\)/gu)].map((match) => match[1] ?? '');
    expect(links.length).toBeGreaterThan(5);
    expect(links.filter((link) => !existsSync(link))).toEqual([]);
  });

  it('names only npm scripts that exist', () => {
    const { scripts } = JSON.parse(readFileSync('package.json', 'utf8'));
    const named = [...readme.matchAll(/npm run ([\w:-]+)/gu)].map((match) => match[1] ?? '');
    expect(named.filter((name) => !(name in scripts))).toEqual([]);
  });
});
