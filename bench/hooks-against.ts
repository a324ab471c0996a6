/** The processor time that prompts by HTTP cost a server, beside the server of another commit. */
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { median } from "./load.ts";
import { type Started, startParley } from "./servers.ts";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const ROUNDS = 10;

/** Processor time of each round, in ms for a prompt. */
export interface Compared {
  revision: string;
  prompts: number;
  ours: number[];
  theirs: number[];
}

/**
 * Starts the server of another commit beside this one, sends both the same prompts in turns, and returns what each round
 * cost each of them. The other tree has the packages of this one.
 */
export async function compareWith(
  revision: string,
  prompts: number,
  { server, policy, ask }: { server: Started; policy: string; ask: (url: string) => Promise<unknown> },
): Promise<Compared> {
  const folder = mkdtempSync(join(tmpdir(), "parley-bench-against-"));
  const [tree, dataDir] = [join(folder, "tree"), join(folder, "data")];
  const git = (...words: string[]) => execFileSync("git", words, { cwd: ROOT, stdio: "ignore" });
  git("worktree", "add", "--detach", tree, revision);
  try {
    for (const path of ["node_modules", join("web", "dist")]) symlinkSync(join(ROOT, path), join(tree, path));
    mkdirSync(dataDir, { mode: 0o700 });
    writeFileSync(join(dataDir, "policy.yaml"), policy);
    const other = await startParley({ dataDir, root: tree });
    try {
      const each = Math.ceil(prompts / ROUNDS);
      const cost = async ({ url, cpuMs }: Started): Promise<number> => {
        const before = cpuMs();
        for (let n = 0; n < each; n += 1) await ask(url);
        return (cpuMs() - before) / each;
      };
      // The first rounds compile.
      for (const one of [server, other]) await cost(one);
      const [ours, theirs]: [number[], number[]] = [[], []];
      for (let round = 0; round < ROUNDS; round += 1) {
        theirs.push(await cost(other));
        ours.push(await cost(server));
      }
      return { revision, prompts: each * ROUNDS, ours, theirs };
    } finally {
      await other.stop();
    }
  } finally {
    git("worktree", "remove", "--force", tree);
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Returns the comparison as a table and a sentence. */
export function comparedText({ revision, prompts, ours, theirs }: Compared): string {
  const ratio = median(ours) / median(theirs);
  return `
Processor time of the server for a prompt by HTTP, ${prompts} prompts to each server in ${ours.length} turns:

| server | ms of processor time |
| --- | ---: |
| ${revision} | ${median(theirs).toFixed(2)} |
| this one | ${median(ours).toFixed(2)} |
| this one / ${revision} | ${ratio.toFixed(2)} |
`;
}
