import { readdir, readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import type { Logger } from "pino";
import { parseDocument } from "yaml";
import type { ForeignSchemas } from "../../lib/json/foreign-schema.ts";
import { checkRole, exampleProblems, roleName, type Role } from "./role.ts";

/** The roles on disk, as they stood when somebody last looked. */
export interface Roles {
  /** Returns a role by `role.x`, its highest version, or by `role.x@v2`, exactly that one. */
  find(roleId: string): Role | null;
  /** Every role in force, by id and version. */
  list(): readonly RoleOnDisk[];
  /** Files that cannot be used as they stand, and why; where there is a last good content, it is still in force. */
  problems(): readonly RoleProblem[];
  /** Looks for files that were added, changed or taken away, and returns whether there were any. */
  step(signal: AbortSignal): Promise<boolean>;
}

export interface RoleOnDisk {
  role: Role;
  file: string;
}

export interface RoleProblem {
  file: string;
  problems: readonly string[];
  /** Whether an earlier content of the file is still in force. */
  isStale: boolean;
}

/** The content of one file when it was last read. */
interface Seen {
  /** Differs when the file may have changed. */
  mark: string;
  good: Role | null;
  problems: readonly string[];
}

const MOST_BYTES = 131_072;
const ROLE_FILE = /\.ya?ml$/;
const MOST_ALIASES = 10;

/**
 * Returns the catalogue of the roles in `dirs`, which it has read once; the first folder wins for the same id and
 * version, and a folder that does not exist holds no roles. The caller runs `step` in a loop (spec/relay 10:
 * every 2 s).
 *
 * A file that was changed to something unusable keeps its last good content. A file that is gone takes its role along.
 */
export async function openRoles(options: {
  dirs: readonly (string | undefined)[];
  log: Pick<Logger, "info" | "warn">;
  schemas: Pick<ForeignSchemas, "validate">;
  /** The one of `dirs` whose examples are known to say what their schemas do, and are not compared at each start. */
  shipped?: string;
}): Promise<Roles> {
  const { log, schemas, shipped } = options;
  const dirs = [...new Set(options.dirs.filter((dir) => dir !== undefined))];
  const seen = new Map<string, Seen>();
  let inForce: readonly RoleOnDisk[] = [];

  async function look(signal: AbortSignal | null): Promise<boolean> {
    let isChanged = false;
    const present = new Set<string>();
    for (const dir of dirs) {
      for (const name of await roleFilesIn(dir)) {
        if (signal?.aborted) return isChanged;
        const file = join(dir, name);
        const mark = await markOf(file);
        if (mark === null) continue;
        present.add(file);
        const before = seen.get(file);
        if (before?.mark === mark) continue;
        isChanged = true;
        const judge = dir === shipped ? null : schemas;
        seen.set(file, await load({ file, name, judge }, mark, before?.good ?? null));
      }
    }
    for (const file of seen.keys()) {
      if (present.has(file)) continue;
      isChanged = true;
      seen.delete(file);
      if (signal) log.info({ file }, "a role's file is gone");
    }
    if (isChanged) inForce = arrange(seen, dirs);
    return isChanged;
  }

  async function load(source: Source, mark: string, good: Role | null): Promise<Seen> {
    const { file } = source;
    const read = await readRole(source);
    if ("role" in read) return { mark, good: read.role, problems: [] };
    log.warn({ file, problems: read.problems, kept: good !== null }, "a role's file cannot be used");
    return { mark, good, problems: read.problems };
  }

  await look(null);
  return {
    find: (roleId) => inForce.findLast(({ role }) => role.id === roleId || roleName(role) === roleId)?.role ?? null,
    list: () => inForce,
    problems: () =>
      [...seen]
        .filter(([, { problems }]) => problems.length > 0)
        .map(([file, { problems, good }]) => ({ file, problems, isStale: good !== null })),
    step: look,
  };
}

interface Source {
  file: string;
  name: string;
  /** Compares its examples; null where they are known to fit. */
  judge: Pick<ForeignSchemas, "validate"> | null;
}

async function readRole({ file, name, judge }: Source): Promise<{ role: Role } | { problems: readonly string[] }> {
  let value: unknown;
  try {
    const bytes = await readFile(file);
    if (bytes.length > MOST_BYTES) return { problems: [`the file may be at most ${MOST_BYTES} bytes long`] };
    const text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    const document = parseDocument(text, { schema: "core", prettyErrors: true });
    const [broken] = [...document.errors, ...document.warnings];
    if (broken) return { problems: [`it is not plain YAML: ${broken.message.split("\n")[0]}`] };
    value = document.toJS({ maxAliasCount: MOST_ALIASES });
  } catch (error) {
    return { problems: [`it cannot be read: ${error instanceof Error ? error.message : String(error)}`] };
  }
  const checked = checkRole(value, name);
  if ("problems" in checked || !judge) return checked;
  const problems = await exampleProblems(checked.role, judge);
  return problems.length > 0 ? { problems } : checked;
}

/** Returns the roles in force, ordered by id and version. */
function arrange(seen: ReadonlyMap<string, Seen>, dirs: readonly string[]): readonly RoleOnDisk[] {
  const byName = new Map<string, RoleOnDisk>();
  for (const dir of dirs) {
    for (const [file, { good }] of seen) {
      if (!good || join(dir, `${roleName(good)}.yaml`) !== file) continue;
      if (!byName.has(roleName(good))) byName.set(roleName(good), { role: good, file });
    }
  }
  return [...byName.values()].sort(
    ({ role: one }, { role: other }) =>
      (one.id < other.id ? -1 : one.id > other.id ? 1 : 0) || one.version - other.version,
  );
}

async function roleFilesIn(dir: string): Promise<readonly string[]> {
  try {
    return (await readdir(dir)).filter((name) => ROLE_FILE.test(name)).sort();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return [];
    throw error;
  }
}

/** Returns what differs when a file may have changed, or nothing where it is no file any more. */
async function markOf(file: string): Promise<string | null> {
  try {
    const { mtimeNs, ctimeNs, size, ino } = await stat(file, { bigint: true });
    return [mtimeNs, ctimeNs, size, ino].join(" ");
  } catch {
    return null;
  }
}
