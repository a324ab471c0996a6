import { join, resolve } from "node:path";

type Environment = Readonly<Record<string, string | undefined>>;

/** Returns the data directory that a flag or the environment names, else the usual one; null where there is no home. */
export function dataDirOf(env: Environment, flag?: string): string | null {
  const named = flag ?? (env["PARLEY_DATA_DIR"] || usualDataDir(env));
  return named === null ? null : expandHome(named, env);
}

/** Returns where data stands when nothing names a place; null where there is no home. */
export function usualDataDir(env: Environment): string | null {
  const home = env["HOME"] || env["USERPROFILE"];
  const data = env["XDG_DATA_HOME"] || (home && join(home, ".local", "share"));
  return data ? join(data, "parley") : null;
}

/** Returns the whole path of one that may begin with `~`. */
export function expandHome(path: string, env: Environment): string {
  const home = env["HOME"] || env["USERPROFILE"];
  return resolve(home && (path === "~" || path.startsWith("~/")) ? join(home, path.slice(1)) : path);
}
