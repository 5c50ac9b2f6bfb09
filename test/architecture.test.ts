/** The table of zones: which part of `src` knows which. What is not in the table is not allowed. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { findCycles, packagesLoadedWith, readSources, type SourceFile, toSourceFile } from './support/source-files.js';

/** A zone -> what it may import, besides itself. Imports point one way; the longest zone that fits counts. */
const ZONES: Readonly<Record<string, readonly string[]>> = {
  'core/': [],
  'agents/': ['core/'],
  'agents/store/': ['core/', 'agents/contracts.ts', 'agents/records.ts', 'agents/adaptation/entry.ts'],
  'adapters/http/': ['core/', 'agents/'],
  'adapters/mcp/': [
    ...['core/', 'agents/'],
    ...['adapters/http/problem.ts', 'adapters/http/public-answer.ts', 'adapters/http/auth/page-guard.ts'],
  ],
  'adapters/langchain/': ['core/', 'agents/'],
  'adapters/console/': ['page/', 'adapters/http/page-routes.ts'],
  'page/': ['core/errors.ts'],
  'eval/': ['core/', 'page/', 'agents/store/sql/sqlite.ts'],
  'cli/': ['core/', 'agents/', 'adapters/', 'eval/'],
  'index.ts': ['core/', 'agents/'],
};

/** Each outside library has one room; everything else sees our small interface. */
const LIBRARIES: Readonly<Record<string, readonly string[]>> = {
  '@fastify/cors': ['adapters/http/auth/'],
  '@fastify/swagger': ['adapters/http/'],
  '@fastify/swagger-ui': ['adapters/http/'],
  '@microsoft/recognizers-text-suite': ['core/planning/'],
  '@langchain/core': ['adapters/langchain/'],
  '@langchain/langgraph': ['adapters/langchain/'],
  '@modelcontextprotocol/client': ['core/catalog/sources/', 'agents/sandbox/executors/'],
  '@modelcontextprotocol/core': ['adapters/mcp/'],
  '@modelcontextprotocol/node': ['adapters/mcp/'],
  '@modelcontextprotocol/server': ['adapters/mcp/'],
  '@opentelemetry/api': ['core/spans.ts', 'cli/tracing.ts'],
  '@opentelemetry/exporter-trace-otlp-http': ['cli/tracing.ts'],
  '@opentelemetry/resources': ['cli/tracing.ts'],
  '@opentelemetry/sdk-trace-node': ['cli/tracing.ts'],
  ajv: ['core/catalog/'],
  'ajv-formats': ['core/catalog/'],
  bullmq: ['eval/queue/'],
  'chrono-node': ['core/planning/', 'eval/values.ts'],
  commander: ['cli/'],
  diff: ['eval/tune/'],
  'fast-deep-equal': ['core/catalog/schema/'],
  'fastest-levenshtein': ['core/nearest-name.ts'],
  fastify: ['adapters/http/'],
  ioredis: ['agents/rates/', 'eval/queue/'],
  langchain: ['adapters/langchain/'],
  jose: ['adapters/http/auth/'],
  'jsonc-parser': ['core/catalog/sources/'],
  kysely: ['agents/store/', 'eval/run-store.ts'],
  libsql: ['agents/store/'],
  minisearch: ['core/search/'],
  'node-llama-cpp': ['core/model/embedded/'],
  'p-queue': ['core/catalog/sources/', 'agents/'],
  'p-retry': ['agents/'],
  pg: ['agents/store/'],
  picocolors: ['cli/'],
  pino: ['agents/logging/'],
  'prom-client': ['agents/telemetry/'],
  'rate-limiter-flexible': ['agents/rates/'],
  stemmer: ['core/catalog/', 'core/search/'],
  re2js: ['core/catalog/schema/safe-pattern.ts'],
  tinyld: ['core/language.ts'],
  undici: ['core/model/', 'core/catalog/sources/bound-body.ts'],
  yaml: ['cli/commands/', 'core/catalog/sources/'],
  zod: [''],
};

const isIn = (path: string, place: string) => (place.endsWith('.ts') ? path === place : path.startsWith(place));

function roomOf(path: string): string | undefined {
  const rooms = Object.keys(ZONES).filter((room) => isIn(path, room));
  return rooms.sort((one, other) => other.length - one.length)[0];
}

function findForbiddenImports(files: readonly SourceFile[]): string[] {
  return files.flatMap(({ path, imports }) => {
    const room = roomOf(path);
    if (room === undefined) return [`${path} is in no zone of the table`];
    const allowed = [room, ...(ZONES[room] ?? [])];
    return imports.filter((one) => !allowed.some((place) => isIn(one, place))).map((one) => `${path} imports ${one}`);
  });
}

function findForbiddenPackages(files: readonly SourceFile[]): string[] {
  return files.flatMap(({ path, packages }) =>
    packages
      .filter((name) => !(LIBRARIES[name] ?? []).some((place) => isIn(path, place)))
      .map((name) => `${path} imports ${name}`),
  );
}

function findInCode(
  files: readonly SourceFile[],
  form: RegExp,
  { but = [] }: { but?: readonly string[] } = {},
): string[] {
  return files.filter(({ path, code }) => form.test(code) && !but.includes(path)).map(({ path }) => path);
}

const ANY = /(?:[:<,|&(=[]\s*|\b(?:as|extends|satisfies|readonly)\s+)any\b(?!\s*[(:']|\s+\w)/u;
const sources = readSources();

describe('the rooms of src', () => {
  it('import only what the table allows', () => {
    expect(findForbiddenImports(sources)).toEqual([]);
  });

  it('keep each library where it belongs', () => {
    expect(findForbiddenPackages(sources)).toEqual([]);
  });

  it('hold no files that import each other in a circle', () => {
    expect(findCycles(sources)).toEqual([]);
  });

  it('import files that exist', () => {
    const missing = sources.flatMap(({ imports }) => imports).filter((one) => !existsSync(`src/${one}`));
    expect(missing).toEqual([]);
  });

  it('export what the benches take from the build', () => {
    const taken = readdirSync('test/bench', { recursive: true, encoding: 'utf8' }).flatMap((name) => {
      const text = name.endsWith('.mjs') ? readFileSync(`test/bench/${name}`, 'utf8') : '';
      return [...text.matchAll(/^import \{([^}]*)\} from '(?:\.\.\/)+dist\/([^']+)\.js';/gmu)].flatMap(
        ([, names = '', path]) =>
          names
            .split(',')
            .flatMap((one) => one.trim().split(' as ')[0] || [])
            .map((one) => ({ name, one, path })),
      );
    });
    const isExported = ({ one, path }: (typeof taken)[number]) => {
      const code = sources.find((file) => file.path === `${path}.ts`)?.code ?? '';
      return new RegExp(`^export [^=(\n]*\\b${one}\\b|^export \\{[^}]*\\b${one}\\b`, 'mu').test(code);
    };
    expect(taken.length).toBeGreaterThan(20);
    expect(taken.filter((one) => !isExported(one))).toEqual([]);
  });

  it('use packages that are declared', () => {
    const { dependencies, optionalDependencies, peerDependencies } = JSON.parse(readFileSync('package.json', 'utf8'));
    const declared = { ...dependencies, ...optionalDependencies, ...peerDependencies };
    expect(sources.flatMap(({ packages }) => packages).filter((name) => !(name in declared))).toEqual([]);
  });
});

describe('the command line', () => {
  it('loads with a command what it needs: flags, help and errors wait for no other library', () => {
    expect(packagesLoadedWith('cli/main.ts', sources)).toEqual(['commander', 'picocolors']);
  });
});

describe('the code of src', () => {
  it('reads the environment in one file', () => {
    expect(findInCode(sources, /\bprocess\s*\.\s*env\b/u, { but: ['core/environment.ts'] })).toEqual([]);
  });

  it('ends the process in one file', () => {
    expect(findInCode(sources, /\bprocess\s*\.\s*exit\b/u, { but: ['cli/main.ts'] })).toEqual([]);
  });

  it.each([
    ['exports nothing by default', /\bexport\s+default\b|\bas\s+default\b/u],
    ['has no any', ANY],
    ['turns no type into an unrelated one', /\bas\s+unknown\s+as\b/u],
    ['has no state at the top of a file', /^(?:export\s+)?(?:let|var)\s/mu],
    ['does not write to the console', /\bconsole\s*\./u],
  ])('%s', (_, form) => {
    expect(findInCode(sources, form)).toEqual([]);
  });

  it('tells the compiler to look away nowhere', () => {
    expect(
      sources.filter(({ text }) => /@ts-(?:ignore|nocheck|expect-error)/u.test(text)).map(({ path }) => path),
    ).toEqual([]);
  });

  it('has files of 300 lines at most', () => {
    expect(sources.filter(({ text }) => text.split('\n').length > 300).map(({ path }) => path)).toEqual([]);
  });
});

describe('the check itself', () => {
  const find = (path: string, text: string) => {
    const file = toSourceFile(path, text);
    return [...findForbiddenImports([file]), ...findForbiddenPackages([file])];
  };

  it.each([
    ['a named import', "import { a } from '../../agents/router.js';", 'core/search/x.ts imports agents/router.ts'],
    [
      'an import of a type',
      "import type { A } from '../../agents/router.js';",
      'core/search/x.ts imports agents/router.ts',
    ],
    [
      'an import over several lines',
      "import {\n  a,\n  type B,\n} from '../../agents/router.js';",
      'core/search/x.ts imports agents/router.ts',
    ],
    [
      'an export of what another file has',
      "export * from '../../agents/router.js';",
      'core/search/x.ts imports agents/router.ts',
    ],
    ['an import for its effects', "import '../../agents/router.js';", 'core/search/x.ts imports agents/router.ts'],
    [
      'an import when it is needed',
      "const a = await import('../../agents/router.js');",
      'core/search/x.ts imports agents/router.ts',
    ],
    ['a package', "import { ChatOpenAI } from '@langchain/openai/chat';", 'core/search/x.ts imports @langchain/openai'],
    ['a package that nobody knows', "import x from 'left-pad';", 'core/search/x.ts imports left-pad'],
  ])('sees %s', (_, text, issue) => {
    expect(find('core/search/x.ts', text)).toEqual([issue]);
  });

  it.each([
    ['one in a comment', "// import { a } from '../../agents/router.js';\n/*\nimport '../../agents/router.js';\n*/"],
    ['one in a text', "const words = ['from', '../../agents/router.js'];"],
    [
      'what the table allows',
      "import { a } from '../catalog/tool.js';\nimport { z } from 'zod';\nimport { b } from 'node:fs';",
    ],
  ])('leaves %s alone', (_, text) => {
    expect(find('core/search/x.ts', text)).toEqual([]);
  });

  it('knows every folder', () => {
    expect(find('elsewhere/x.ts', '')).toEqual(['elsewhere/x.ts is in no zone of the table']);
    expect(find('other.ts', '')).toEqual(['other.ts is in no zone of the table']);
  });

  it('sees what is loaded at once, by way of other files, and not what waits or is a type', () => {
    const files = [
      toSourceFile('a.ts', "import { b } from './b.js';\nconst c = await import('./c.js');"),
      toSourceFile('b.ts', "import type { C } from './c.js';\nexport * from './d.js';\nimport 'yaml';"),
      toSourceFile('c.ts', "import { z } from 'zod';"),
      toSourceFile('d.ts', "import ajv from 'ajv/dist/2020.js';\nimport './a.js';"),
    ];
    expect(packagesLoadedWith('a.ts', files)).toEqual(['ajv', 'yaml']);
    expect(packagesLoadedWith('c.ts', files)).toEqual(['zod']);
  });

  it('sees circles of any length', () => {
    const files = ['b', 'c', 'a'].map((next, place) => toSourceFile(`${'abc'[place]}.ts`, `import './${next}.js';`));
    expect(findCycles(files)).toEqual(['a.ts -> b.ts -> c.ts -> a.ts']);
    expect(findCycles(files.slice(0, 2))).toEqual([]);
  });

  it.each([
    'let x: any;',
    'const a = b as any;',
    'Array<any>',
    'Record<string, any>',
    'function f(a: any[]) {}',
    'type A = any | B',
  ])('sees the any in "%s"', (text) => {
    expect(ANY.test(toSourceFile('x.ts', text).code)).toBe(true);
  });

  it.each([
    "type A = B | 'any';",
    '// any: any',
    'const { any } = x;',
    'const a = { any: 1 };',
    'AbortSignal.any([a])',
  ])('sees none in "%s"', (text) => {
    expect(ANY.test(toSourceFile('x.ts', text).code)).toBe(false);
  });
});
