import type { Queryable, Tx } from "../../core/store/db.ts";
import { rowsOf } from "../../core/store/rows.ts";
import { empty, join, sql } from "../../core/store/sql.ts";

/** A task that another task waits for, or was built on. */
export interface Dependency {
  id: string;
  dependsOn: string;
  /** The commit of it that the task's newest attempt began with. */
  usedCommit: string | null;
}

const dependencyRows = rowsOf<Dependency>()({
  id: "id",
  dependsOn: "depends_on",
  usedCommit: "used_commit",
});

/** A task depends on these from now on, and on nothing else. */
export async function replaceDependencies(tx: Tx, repo: string, id: string, on: readonly string[]): Promise<void> {
  await tx.all(sql`DELETE FROM task_dependencies WHERE repo = ${repo} AND id = ${id}`);
  for (const [place, dependsOn] of on.entries()) {
    await tx.all(
      sql`INSERT INTO task_dependencies (repo, id, depends_on, place) VALUES (${repo}, ${id}, ${dependsOn}, ${place})`,
    );
  }
}

/** Returns what tasks of a repository depend on, each task's in the order they were named; of all, or of these. */
export async function listDependencies(on: Queryable, repo: string, ids?: readonly string[]): Promise<Dependency[]> {
  if (ids?.length === 0) return [];
  return dependencyRows.all(
    on,
    sql`SELECT id, depends_on, used_commit FROM task_dependencies WHERE repo = ${repo}
      ${ids ? sql`AND id IN (${join([...ids])})` : empty} ORDER BY id, place`,
  );
}

/** Returns which tasks depend on one. */
export async function listDependants(on: Queryable, repo: string, dependsOn: string): Promise<Dependency[]> {
  return dependencyRows.all(
    on,
    sql`SELECT id, depends_on, used_commit FROM task_dependencies WHERE repo = ${repo} AND depends_on = ${dependsOn} ORDER BY id`,
  );
}

/** An attempt began with this commit of a dependency; with none, where it is null. */
export async function noteUsedCommit(
  tx: Tx,
  { repo, id }: { repo: string; id: string },
  dependsOn: string,
  commit: string | null,
): Promise<void> {
  await tx.all(
    sql`UPDATE task_dependencies SET used_commit = ${commit} WHERE repo = ${repo} AND id = ${id} AND depends_on = ${dependsOn}`,
  );
}
