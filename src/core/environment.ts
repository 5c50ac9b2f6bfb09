/** The one file that reads `process.env`; an empty variable counts as not set. It reads the version of the package, too. */
import { readFileSync } from 'node:fs';

const VARIABLES = {
  cacheFolder: 'WINNOW_CACHE',
  cacheHome: 'XDG_CACHE_HOME',
  baseUrl: 'WINNOW_BASE_URL',
  model: 'WINNOW_MODEL',
  modelFile: 'WINNOW_MODEL_FILE',
  config: 'WINNOW_CONFIG',
  /** A file, or the URL of a PostgreSQL database, which may contain a password. */
  store: 'WINNOW_STORE',
  /** A URL, which may contain a password. */
  redis: 'WINNOW_REDIS',
  logLevel: 'WINNOW_LOG_LEVEL',
} as const;

export type Environment = { readonly [Name in keyof typeof VARIABLES]: string | undefined };

export function readEnvironment(env: NodeJS.ProcessEnv = process.env): Environment {
  const values = Object.entries(VARIABLES).map(([name, variable]) => [name, readVariable(variable, env)]);
  return Object.fromEntries(values) as Environment;
}

/** The value of any variable, for example the one that `model.apiKeyEnv` names. */
export function readVariable(name: string, env: NodeJS.ProcessEnv = process.env): string | undefined {
  return env[name]?.trim() || undefined;
}

export function readVersion(): string {
  const { version }: { version: string } = JSON.parse(
    readFileSync(new URL('../../package.json', import.meta.url), 'utf8'),
  );
  return version;
}
