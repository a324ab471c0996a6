import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { resolveBase } from "../../src/workshop/git/base.ts";
import { commitTree, snapshot } from "../../src/workshop/git/commit.ts";
import { publish } from "../../src/workshop/git/publish.ts";
import { refsOf } from "../../src/workshop/git/read.ts";
import { openRepository } from "../../src/workshop/git/repository.ts";
import { startCommit } from "../../src/workshop/git/start.ts";
import { makeTree } from "../../src/workshop/git/tree.ts";

/** A time so late that every lock of a killed git is old, and always the same, so that commits can be compared. */
const clock = {
  now: () => 4_000_000_000_000,
  monotonic: () => 0,
  uptime: () => 0,
  boot: null,
  sleep: () => Promise.resolve(),
};

export const STEPS = 6;

/** Takes the first steps of an attempt; the agent's own work is one of them. Returns what there is to see afterwards. */
export async function attempt(folder: string, steps = STEPS): Promise<unknown> {
  const signer = "Parley <parley@localhost>";
  const repo = await openRepository({
    name: "shop",
    path: join(folder, "user"),
    storeDir: join(folder, "data/store.git"),
    branchPrefix: "aa/",
    committer: signer,
    author: signer,
    clock,
  });
  const input = { slug: "card", n: 1, dir: join(folder, "attempts/card/tree"), indexFile: join(folder, "card.index") };
  if (steps < 1) return null;
  const base = await resolveBase(repo, "HEAD");
  if (steps < 2) return null;
  const begun = await startCommit(repo, { base, dependencies: [], forTask: "card" });
  const start = begun.kind === "start" ? begun.commit : "";
  if (steps < 3) return null;
  await makeTree(repo, { dir: input.dir, slug: input.slug, start, include: null });
  writeFileSync(join(input.dir, "work.txt"), "done\n");
  if (steps < 4) return null;
  assert.match((await snapshot(repo, { ...input, start })) ?? "", /^[0-9a-f]{40}$/);
  if (steps < 5) return null;
  const { commit } = await commitTree(repo, { ...input, start, message: "work\n" });
  if (steps < 6) return null;
  const published = await publish(repo, { slug: "card", n: 1, commit, last: null });
  return { published, refs: await refsOf(repo) };
}

if (import.meta.main) await attempt(process.argv[2] ?? "");
