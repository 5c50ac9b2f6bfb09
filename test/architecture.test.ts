/** The table of imports: which room of `src` knows which. What is not in the table is not allowed. */
import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { findCycles, packagesLoadedWith, readSources, type SourceFile, toSourceFile } from './support/source-files.js';

/** What every room may know. */
const GROUND = [
  'core/errors.ts',
  'core/parse.ts',
  'core/promises.ts',
  'core/secret-forms.ts',
  'core/slips.ts',
  'core/version.ts',
];

const CATALOG_AND_CONTRACTS = ['core/catalog/', ...GROUND, 'core/request.ts', 'core/result.ts', 'core/trace.ts'];
const MODEL_SEAM = ['core/model/model.ts', 'core/model/structured.ts', 'core/model/tool-tokens.ts'];
const PUBLIC = [
  'core/catalog/',
  'core/config/',
  ...GROUND,
  'core/logging/',
  'core/model/',
  'core/planner.ts',
  'core/request.ts',
  'core/result.ts',
];

/** A room (file or folder) -> the files and folders it may import, besides itself. The longest room that fits counts. */
const ROOMS: Readonly<Record<string, readonly string[]>> = {
  'core/errors.ts': [],
  'core/result.ts': [],
  'core/guess-language.ts': [],
  'core/nearest-name.ts': ['core/slips.ts'],
  'core/promises.ts': [],
  'core/secret-forms.ts': [],
  'core/slips.ts': [],
  'core/version.ts': [],
  'core/parse.ts': ['core/errors.ts', 'core/nearest-name.ts'],
  'core/request.ts': GROUND,
  'core/trace.ts': ['core/errors.ts', 'core/result.ts'],
  'core/config/': [...GROUND, 'core/prompts/prompts.ts'],
  'core/prompts/': ['core/errors.ts'],
  'store/': ['core/errors.ts'],
  'core/catalog/': GROUND,
  'core/catalog/schema/': ['core/catalog/tool.ts'],
  'core/search/': ['core/catalog/', ...GROUND],
  'core/logging/': [...GROUND, 'core/model/model.ts', 'core/model/watch-reader.ts', 'core/model/wrap-model.ts'],
  'core/model/': ['core/catalog/tool.ts', 'core/errors.ts', 'core/prompts/prompt-template.ts'],
  'core/model/embedded/': [
    'core/catalog/schema/',
    'core/catalog/tool.ts',
    'core/errors.ts',
    'core/model/model.ts',
    'core/promises.ts',
  ],
  'core/model/openai/': [
    'core/catalog/schema/',
    'core/catalog/tool.ts',
    ...GROUND,
    'core/model/count-tokens.ts',
    'core/model/model.ts',
  ],
  'core/model/store/': ['core/config/environment.ts', ...GROUND],
  'core/selection/': [
    ...CATALOG_AND_CONTRACTS,
    ...MODEL_SEAM,
    'core/config/options.ts',
    'core/guess-language.ts',
    'core/nearest-name.ts',
    'core/prompts/prompt-template.ts',
    'core/search/',
  ],
  'core/selection/producers/': ['core/catalog/', 'core/request.ts', 'core/search/words.ts'],
  'core/planning/': [
    ...CATALOG_AND_CONTRACTS,
    ...MODEL_SEAM,
    'core/guess-language.ts',
    'core/prompts/prompt-template.ts',
  ],
  'core/turn.ts': [
    ...CATALOG_AND_CONTRACTS,
    'core/config/options.ts',
    'core/model/model.ts',
    'core/selection/budget.ts',
    'core/selection/user-part.ts',
  ],
  'core/planner.ts': [
    ...CATALOG_AND_CONTRACTS,
    'core/config/options.ts',
    'core/logging/spans.ts',
    'core/model/model.ts',
    'core/planning/',
    'core/prompts/',
    'core/selection/',
    'core/turn.ts',
  ],
  'routing/': [
    ...CATALOG_AND_CONTRACTS,
    ...MODEL_SEAM,
    'core/guess-language.ts',
    'core/logging/',
    'core/prompts/',
    'core/search/',
    'core/selection/producers/',
    'store/',
  ],
  'execution/': [...CATALOG_AND_CONTRACTS, 'core/config/environment.ts', 'core/planning/', 'routing/', 'store/'],
  'evaluation/': [
    ...CATALOG_AND_CONTRACTS,
    'core/config/options.ts',
    'core/model/model.ts',
    'core/model/watch-reader.ts',
    'core/model/wrap-model.ts',
    'core/planner.ts',
    'core/planning/references.ts',
    'core/planning/today.ts',
    'core/prompts/prompts.ts',
    'core/selection/budget.ts',
  ],
  'evaluation/tune/': [
    ...CATALOG_AND_CONTRACTS,
    ...MODEL_SEAM,
    'core/config/options.ts',
    'evaluation/',
    'core/model/wrap-model.ts',
    'core/prompts/',
    'core/selection/ladder.ts',
    'core/selection/user-part.ts',
  ],
  'index.ts': [...PUBLIC, 'routing/', 'execution/', 'store/'],
  'server/': [...PUBLIC, 'routing/', 'execution/', 'store/'],
  'mcp/': [...PUBLIC, 'routing/', 'server/problem.ts', 'server/public-answer.ts'],
  'langchain/': [
    ...PUBLIC,
    'core/planning/fitted.ts',
    'core/planning/plan-penalties.ts',
    'core/planning/required-at.ts',
    'core/planning/plan-schema.ts',
    'core/planning/render-type.ts',
    'core/planning/without-nulls.ts',
    'core/prompts/',
    'routing/',
  ],
  'cli/': [...PUBLIC, 'evaluation/', 'execution/', 'mcp/', 'core/planning/fitted.ts', 'routing/', 'server/', 'store/'],
};

/** Each outside library has one room; everything else sees our small interface. */
const LIBRARIES: Readonly<Record<string, readonly string[]>> = {
  '@eslint-community/regexpp': ['core/model/embedded/'],
  '@langchain/core': ['core/model/openai/', 'langchain/'],
  '@langchain/langgraph': ['langchain/'],
  '@langchain/openai': ['core/model/openai/'],
  '@modelcontextprotocol/sdk': ['core/catalog/sources/', 'mcp/'],
  '@opentelemetry/api': ['core/logging/'],
  ajv: ['core/catalog/'],
  'ajv-draft-04': ['core/catalog/'],
  'ajv-formats': ['core/catalog/'],
  bullmq: ['evaluation/queue/'],
  'cli-progress': ['cli/'],
  commander: ['cli/'],
  'csv-stringify': ['evaluation/'],
  diff: ['evaluation/tune/'],
  'env-paths': ['core/model/store/'],
  'fast-xml-parser': ['evaluation/'],
  fastify: ['server/'],
  ioredis: ['evaluation/queue/'],
  langchain: ['langchain/'],
  kysely: ['store/'],
  libsql: ['store/'],
  'node-llama-cpp': ['core/model/embedded/'],
  'p-queue': ['core/catalog/sources/', 'execution/'],
  'p-retry': ['execution/', 'core/model/store/'],
  pg: ['store/'],
  picocolors: ['cli/'],
  pino: ['core/logging/'],
  'prom-client': ['routing/telemetry/'],
  undici: ['core/model/openai/'],
  yaml: ['core/catalog/sources/', 'core/config/', 'routing/policy/'],
  yauzl: ['core/model/store/'],
  'yocto-spinner': ['cli/'],
  zod: [''],
};

const isIn = (path: string, place: string) => (place.endsWith('.ts') ? path === place : path.startsWith(place));

function roomOf(path: string): string | undefined {
  const rooms = Object.keys(ROOMS).filter((room) => isIn(path, room));
  return rooms.sort((one, other) => other.length - one.length)[0];
}

function findForbiddenImports(files: readonly SourceFile[]): string[] {
  return files.flatMap(({ path, imports }) => {
    const room = roomOf(path);
    if (room === undefined) return [`${path} is in no room of the table`];
    const allowed = [room, ...(ROOMS[room] ?? [])];
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
    const paths = new Set(sources.map(({ path }) => path));
    expect(
      sources.flatMap(({ path, imports }) => imports.filter((one) => !paths.has(one)).map((one) => `${path}: ${one}`)),
    ).toEqual([]);
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
    expect(findInCode(sources, /\bprocess\s*\.\s*env\b/u, { but: ['core/config/environment.ts'] })).toEqual([]);
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
    ['a named import', "import { a } from '../planner.js';", 'core/search/x.ts imports core/planner.ts'],
    ['an import of a type', "import type { A } from '../planner.js';", 'core/search/x.ts imports core/planner.ts'],
    [
      'an import over several lines',
      "import {\n  a,\n  type B,\n} from '../planner.js';",
      'core/search/x.ts imports core/planner.ts',
    ],
    [
      'an export of what another file has',
      "export * from '../planner.js';",
      'core/search/x.ts imports core/planner.ts',
    ],
    ['an import for its effects', "import '../planner.js';", 'core/search/x.ts imports core/planner.ts'],
    [
      'an import when it is needed',
      "const a = await import('../planner.js');",
      'core/search/x.ts imports core/planner.ts',
    ],
    ['a package', "import { ChatOpenAI } from '@langchain/openai/chat';", 'core/search/x.ts imports @langchain/openai'],
    ['a package that nobody knows', "import x from 'left-pad';", 'core/search/x.ts imports left-pad'],
  ])('sees %s', (_, text, issue) => {
    expect(find('core/search/x.ts', text)).toEqual([issue]);
  });

  it.each([
    ['one in a comment', "// import { a } from '../planner.js';\n/*\nimport '../planner.js';\n*/"],
    ['one in a text', "const words = ['from', '../planner.js'];"],
    [
      'what the table allows',
      "import { a } from '../catalog/tool.js';\nimport { z } from 'zod';\nimport { b } from 'node:fs';",
    ],
  ])('leaves %s alone', (_, text) => {
    expect(find('core/search/x.ts', text)).toEqual([]);
  });

  it('knows every folder', () => {
    expect(find('elsewhere/x.ts', '')).toEqual(['elsewhere/x.ts is in no room of the table']);
    expect(find('other.ts', '')).toEqual(['other.ts is in no room of the table']);
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
