/** The pages that people read, and the code in them. */
import { readFileSync } from 'node:fs';

export const PAGES = [
  ...['README.md', 'CONTRIBUTING.md', 'SECURITY.md', 'test/bench/FIGURES.md'],
  ...['core', 'agents', 'adapters', 'adapters/console', 'eval'].map((zone) => `src/${zone}/README.md`),
];

export interface Snippet {
  /** Page, and its number among those of its language, from 1. */
  readonly name: string;
  readonly language: string;
  readonly text: string;
}

export function snippetsOf(page: string): Snippet[] {
  const counts = new Map<string, number>();
  const blocks = readFileSync(page, 'utf8').matchAll(/^```(\w*)\n(.*?)^```$/gmsu);
  return [...blocks].map(([, language = '', text = '']) => {
    const count = (counts.get(language) ?? 0) + 1;
    counts.set(language, count);
    return { name: `${page} ${count}`, language, text };
  });
}
