/** What a program can import, by entry of the package. Each function says how it is called. */
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';

const { name: packageName, exports } = JSON.parse(readFileSync('package.json', 'utf8'));

const ENTRIES: Readonly<Record<string, readonly string[]>> = {
  '.': [
    ...['ERROR_TABLE', 'WinnowError', 'createCatalog', 'createLocalModels', 'createModel', 'createOpenAIModel'],
    ...['createPlanner', 'loadCatalog', 'requestSchema', 'resultSchema'],
  ],
  './agents': [
    ...[
      'createAgents',
      'createCallLog',
      'createDiscovery',
      'createFunctionExecutor',
      'createGatedRunner',
      'createKeptPlans',
      'toArazzo',
      'toMermaid',
      'createHttpExecutor',
    ],
    ...['createMcpExecutor', 'createPolicy', 'createPrivateTools', 'createReplanner', 'createRerank', 'createRouter'],
    ...['createSandbox', 'createSkillExecutor', 'createToolRunner', 'createWorkerExecutor', 'fixedPolicy'],
    ...['openPolicyFile', 'openRates', 'openStore', 'reportTelemetry', 'resumePlan', 'runPlan', 'withCallLog'],
  ],
  './eval': ['createCaseRunner', 'createSuitePlanners', 'createTally', 'parseCase'],
  './langchain': [
    ...['createChatModel', 'createMetaTools', 'createRoutingMiddleware', 'createToolSelector', 'toolsFromLangChain'],
  ],
  './mcp': ['createMcpEndpoint', 'resolveMcpOptions', 'serveStdio'],
};

const sourceOf = (entry: string) => exports[entry].default.replace('./dist/', 'src/').replace(/\.js$/u, '.ts');

/** Name -> the file that it comes from. */
function exportedBy(entry: string): [string, string][] {
  const path = sourceOf(entry);
  const statements = readFileSync(path, 'utf8').matchAll(/^export \{([^}]*)\} from '([^']+)'/gmu);
  return [...statements].flatMap(([, names = '', file = '']) =>
    names
      .split(',')
      .map((name) => name.trim())
      .filter((name) => name !== '' && !name.startsWith('type '))
      .map((name): [string, string] => [name, join(dirname(path), file).replace(/\.js$/u, '.ts')]),
  );
}

const functions = Object.keys(ENTRIES).flatMap((entry) =>
  exportedBy(entry)
    .map(([name, file]) => [name, readFileSync(file, 'utf8'), entry] as const)
    .filter(([name, text]) => new RegExp(`^export (?:async )?function ${name}\\b`, 'mu').test(text)),
);

describe('the entries of the package', () => {
  it('are these, and each has a file', () => {
    expect(Object.keys(exports).sort()).toEqual([...Object.keys(ENTRIES), './package.json'].sort());
    expect(Object.keys(ENTRIES).filter((entry) => !existsSync(sourceOf(entry)))).toEqual([]);
  });

  it.each(Object.entries(ENTRIES))('%s exports these values', (entry, names) => {
    expect(
      exportedBy(entry)
        .map(([name]) => name)
        .sort(),
    ).toEqual([...names].sort());
  });

  it('are named in the first line of their files', () => {
    const named = Object.keys(ENTRIES).map((entry) => `${packageName}${entry.slice(1)}`);
    const lines = Object.keys(ENTRIES).map((entry) => readFileSync(sourceOf(entry), 'utf8').split('\n')[0]);
    expect(lines).toEqual(named.map((name) => expect.stringContaining(`\`${name}\``)));
  });
});

it.each(functions)('%s has an example', (name, text) => {
  const before = text.slice(0, text.search(new RegExp(`^export (?:async )?function ${name}\\b`, 'mu')));
  const comment = /\/\*\*(?:(?!\*\/)[\s\S])*\*\/\s*$/u.exec(before)?.[0] ?? '';
  expect(comment).toContain('@example');
  expect(comment.split('@example')[1]).toContain(`${name}(`);
});
