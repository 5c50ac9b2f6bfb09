/** The catalogue of a server with all that depends on its sources: executors of the tools, and synonyms. */

import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { isDeepStrictEqual } from 'node:util';
import type { UserTokens } from '../agents/connections/user-tokens.js';
import type { WriteAudit } from '../agents/ledger.js';
import { createLiveCatalog } from '../agents/live-catalog.js';
import type { Logger } from '../agents/logging/logger.js';
import type { PolicySource } from '../agents/policy/policy-file.js';
import { type Executor, runnerOf } from '../agents/sandbox/executors/executor.js';
import {
  createFunctionExecutor,
  createSkillExecutor,
  type ToolFunction,
} from '../agents/sandbox/executors/functions.js';
import { createHttpExecutor } from '../agents/sandbox/executors/http/http.js';
import { createMcpExecutor } from '../agents/sandbox/executors/mcp.js';
import { createWorkerExecutor } from '../agents/sandbox/executors/workers.js';
import { loadSourceSynonyms } from '../agents/search/source-synonyms.js';
import type { Catalog } from '../core/catalog/catalog.js';
import { loadCatalog } from '../core/catalog/load.js';
import { detectSource } from '../core/catalog/sources/formats.js';
import { loadMcpConfig } from '../core/catalog/sources/mcp-config.js';
import type { McpServer } from '../core/catalog/sources/mcp-server.js';
import type { ReadContext } from '../core/catalog/sources/source.js';
import { messageOf, toWinnowError, WinnowError } from '../core/errors.js';
import type { ConfigFile } from './config-file.js';
import { requireKey } from './connections-setup.js';
import { createLiveExecutors } from './live-executors.js';
import { sourceOptions } from './load-tools.js';
import type { Setup } from './set-up.js';

interface CatalogSetup extends Pick<Setup, 'loaded' | 'sources' | 'isStrict' | 'config' | 'logger'> {
  audit: WriteAudit;
  policy: PolicySource;
  /** Undefined: there is no key for them. */
  userTokens: UserTokens | undefined;
}

/**
 * @returns `runnable`: how many tools can be run; `synonyms` and `servers`: the current ones
 * @throws WinnowError `invalid_option`, `source_failed`
 */
export async function openCatalog(setup: CatalogSetup) {
  const { config, sources, loaded, isStrict, logger, audit, policy, userTokens } = setup;
  const open = () => openExecutors({ config, sources, catalog: live.current().catalog, logger, userTokens });
  const tokensOf = userTokens?.ofOperator;
  const live = createLiveCatalog({
    first: loaded,
    load: (previous) =>
      loadCatalog({
        ...sourceOptions(config),
        sources,
        strict: isStrict,
        previous,
        keepFailed: true,
        logger,
        tokensOf,
      }),
    policy: policy.current,
    audit,
  });
  const readSynonyms = () =>
    loadSourceSynonyms({
      sources,
      file: config.synonyms,
      onFailure: (source, { message }) => logger.warn({ source }, message),
    });
  let synonyms = await readSynonyms();
  // The first reading came before the store, and so without tokens.
  if (userTokens && loaded.failures.some(({ isUnconnected }) => isUnconnected)) await live.reload();
  let { executors: first, runnable, servers, fingerprint } = await open();
  requireKey(servers, userTokens);
  const executors = createLiveExecutors(first);

  /** Follows a new catalogue; what fails to open again keeps its old state. */
  async function follow(): Promise<void> {
    try {
      const next = await open();
      if (next.fingerprint === fingerprint) return;
      ({ servers, fingerprint } = next);
      executors.replace(next.executors);
    } catch (error) {
      logger.error({ code: toWinnowError(error).code }, `tools run as before: ${toWinnowError(error).message}`);
    }
  }

  return {
    executors,
    runnable,
    synonyms: () => synonyms,
    servers: () => servers,
    live: {
      current: live.current,
      async reload() {
        const report = await live.reload();
        await follow();
        synonyms = await readSynonyms().catch(() => synonyms);
        const { kept, failed, warnings, ...counts } = report;
        for (const { source, reason } of kept) logger.error({ source }, `its tools stay as they were: ${reason}`);
        logger.info({ ...counts, failed: failed.length, warnings: warnings.length }, 'the catalogue was read anew');
        return report;
      },
    },
  };
}

export interface ExecutorParts {
  config: ConfigFile;
  /** Sources of the catalogue. */
  sources: readonly string[];
  catalog: Catalog;
  logger: Pick<Logger, 'warn'>;
  userTokens?: UserTokens | undefined;
}

/**
 * @returns the executors, how many tools of the catalogue they can run, their MCP servers, and a fingerprint of these and of the
 * worker module's tools
 * @throws WinnowError `invalid_option`, `source_failed`
 */
export async function openExecutors({ config, sources, catalog, logger, userTokens }: ExecutorParts) {
  const { toolsModule, workerModule } = config;
  requireModule('workerModule', workerModule);
  const functions = toolsModule === undefined ? {} : await loadFunctions(toolsModule);
  const names = new Set(catalog.tools.filter((tool) => runnerOf(tool) === 'function').map(({ name }) => name));
  for (const name of Object.keys(functions).filter((one) => !names.has(one)))
    logger.warn({ module: toolsModule, function: name }, 'the catalogue has no builtin tool of this name');
  const servers = await findServers(sources, sourceOptions(config));
  const threads = workerModule === undefined ? {} : inWorker(workerModule, catalog);
  const executors: Executor[] = [
    createFunctionExecutor(functions),
    createMcpExecutor(servers, {
      userTokens,
      idleMs: config.mcpIdleMs,
      onLastWords: (facts) => logger.warn(facts, 'the MCP server did not start: the end of its stderr'),
    }),
    openHttp(config, logger),
    createSkillExecutor(),
    // Last in order: the functions of its module are known only when one is called.
    ...(workerModule === undefined ? [] : [createWorkerExecutor(threads)]),
  ];
  const runnable = catalog.tools.filter((tool) => executors.some((executor) => executor.canRun(tool))).length;
  // Hashed, since server configurations hold keys.
  const fingerprint = createHash('sha256')
    .update(JSON.stringify([servers, threads]))
    .digest('hex');
  return { executors, runnable, servers, fingerprint };
}

/** @throws WinnowError `invalid_option` */
export function requireModule(place: string, path: string | undefined): void {
  if (path === undefined || existsSync(path)) return;
  throw new WinnowError('invalid_option', `${place}: there is no file ${path}. Correct the path, or leave it out.`);
}

/** Warns of missing keys now rather than at the first failing call. */
function openHttp({ http = {} }: ConfigFile, logger: Pick<Logger, 'warn'>): Executor {
  const { servers: _, ...options } = http;
  const executor = createHttpExecutor(options);
  for (const { origin, scheme, variable } of executor.unsetSecrets()) {
    const facts = { variable, api: origin, scheme };
    logger.warn(facts, `the variable ${variable} is not set: calls of ${origin} that need "${scheme}" fail`);
  }
  return executor;
}

/** Exported functions, and those of a default export, which may have any names. */
async function loadFunctions(path: string): Promise<Record<string, ToolFunction>> {
  const loaded: Record<string, unknown> = await importModule(path);
  const { default: listed, ...named } = loaded;
  const functions = Object.entries({ ...Object(listed), ...named }).filter(isNamedFunction);
  if (functions.length > 0) return Object.fromEntries(functions);
  throw new WinnowError(
    'invalid_option',
    `toolsModule: ${path} exports no function. Export one a tool, under the name of the tool.`,
  );
}

async function importModule(path: string): Promise<Record<string, unknown>> {
  try {
    return await import(pathToFileURL(resolve(path)).href);
  } catch (error) {
    const reason = messageOf(error);
    throw new WinnowError('invalid_option', `toolsModule: ${path} can't be loaded: ${reason}`, { cause: error });
  }
}

function isNamedFunction(entry: [string, unknown]): entry is [string, ToolFunction] {
  return typeof entry[1] === 'function';
}

function inWorker(path: string, { tools }: Catalog) {
  const module = pathToFileURL(resolve(path)).href;
  const builtin = tools.filter((tool) => runnerOf(tool) === 'function');
  return Object.fromEntries(builtin.map(({ name }) => [name, { module }]));
}

/** Servers by the names in the `metadata.mcp` of their tools. */
async function findServers(sources: readonly string[], context: ReadContext): Promise<Record<string, McpServer>> {
  const found = new Map<string, McpServer>();
  for (const source of sources) {
    for (const [name, server] of Object.entries(await serversOf(source, context))) {
      if (found.has(name) && !isDeepStrictEqual(found.get(name), server)) throw twoServers(name);
      found.set(name, server);
    }
  }
  return Object.fromEntries(found);
}

/** None for an unreadable source: loading the catalogue has already reported it. */
async function serversOf(source: string, context: ReadContext): Promise<Readonly<Record<string, McpServer>>> {
  try {
    const spec = await detectSource(source, context);
    if (spec.kind !== 'mcp') return {};
    return 'servers' in spec ? spec.servers : (await loadMcpConfig(spec.path, context)).servers;
  } catch (error) {
    if (error instanceof WinnowError && error.code === 'source_failed') return {};
    throw error;
  }
}

function twoServers(name: string): WinnowError {
  return new WinnowError(
    'invalid_option',
    `Two sources have an MCP server "${name}", and calls could reach the wrong one. Rename one of them.`,
  );
}
