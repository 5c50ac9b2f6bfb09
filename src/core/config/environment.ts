/** The one file that reads `process.env`: text in, typed values out. An empty variable counts as not set. */

export interface Environment {
  /** `WINNOW_CACHE`: Winnow's own cache folder. */
  readonly cacheFolder: string | undefined;
  /** `XDG_CACHE_HOME`: the folder in which every program has its cache. */
  readonly cacheHome: string | undefined;
  /** `WINNOW_BASE_URL`: an OpenAI-compatible endpoint. */
  readonly baseUrl: string | undefined;
  /** `WINNOW_MODEL`: the model's name there, or in the local store. */
  readonly model: string | undefined;
  /** `WINNOW_MODEL_FILE`: a GGUF file. */
  readonly modelFile: string | undefined;
  /** `WINNOW_CONFIG`: a configuration file. */
  readonly config: string | undefined;
  /** `WINNOW_STORE`: a file, or the URL of a PostgreSQL database, which may hold a password. */
  readonly store: string | undefined;
  /** `WINNOW_LOG_LEVEL` */
  readonly logLevel: string | undefined;
}

export function readEnvironment(env: NodeJS.ProcessEnv = process.env): Environment {
  return {
    cacheFolder: text(env.WINNOW_CACHE),
    cacheHome: text(env.XDG_CACHE_HOME),
    baseUrl: text(env.WINNOW_BASE_URL),
    model: text(env.WINNOW_MODEL),
    modelFile: text(env.WINNOW_MODEL_FILE),
    config: text(env.WINNOW_CONFIG),
    store: text(env.WINNOW_STORE),
    logLevel: text(env.WINNOW_LOG_LEVEL),
  };
}

/** The value of a variable that the user named, for example by `--api-key-env`. */
export function readVariable(name: string, env: NodeJS.ProcessEnv = process.env): string | undefined {
  return text(env[name]);
}

function text(value: string | undefined): string | undefined {
  return value?.trim() || undefined;
}
