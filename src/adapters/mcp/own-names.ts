/** Winnow's own tools under the names that the operator gave them, wherever a text names one. */
import type { OwnTool } from './own-tool.js';

export interface OwnNames {
  /** The tools under their new names, by these. */
  readonly tools: ReadonlyMap<string, OwnTool>;
  inText(text: string): string;
  /** What is said to do next, at any depth; nothing else of an answer is touched. */
  inNext<Content extends object>(content: Content): Content;
}

export function createOwnNames(tools: readonly OwnTool[], prefix: string): OwnNames {
  const names = tools.map(({ listed }) => listed.name);
  const pattern = new RegExp(`(?<![\\w-])(?:${names.join('|')})(?![\\w-])`, 'gu');
  const inText = (text: string) => text.replace(pattern, (name) => `${prefix}${name}`);
  const rename = ({ listed, ...tool }: OwnTool): OwnTool => {
    const { name, description = '' } = listed;
    return { ...tool, listed: { ...listed, name: `${prefix}${name}`, description: inText(description) } };
  };
  return {
    tools: new Map(tools.map(rename).map((tool) => [tool.listed.name, tool])),
    inText,
    inNext(content) {
      if (prefix === '') return content;
      const isNext = (key: string, value: unknown) => key === 'next' && typeof value === 'string';
      return JSON.parse(JSON.stringify(content), (key, value) => (isNext(key, value) ? inText(value) : value));
    },
  };
}
