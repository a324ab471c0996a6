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
const WARM_ROUNDS = 4;

/** Processor time of each round, in ms for a prompt. */
export interface Compared {
  revision: string;
  prompts: number;
  ours: number[];
  theirs: number[];
}

/**
 * Starts a server of another commit and one of this tree, sends both the same prompts in turns, and returns what each
 * round cost each of them. The other tree has the packages of this one.
 */
export async function compareWith(
  revision: string,
  prompts: number,
  { policy, ask }: { policy: string; ask: (url: string) => Promise<unknown> },
): Promise<Compared> {
  const folder = mkdtempSync(join(tmpdir(), "parley-bench-against-"));
  const tree = join(folder, "tree");
  const git = (...words: string[]) => execFileSync("git", words, { cwd: ROOT, stdio: "ignore" });
  const started: Started[] = [];
  const start = async (root: string, name: string): Promise<Started> => {
    const dataDir = join(folder, name);
    mkdirSync(dataDir, { mode: 0o700 });
    writeFileSync(join(dataDir, "policy.yaml"), policy);
    const server = await startParley({ dataDir, root });
    started.push(server);
    return server;
  };
  git("worktree", "add", "--detach", tree, revision);
  try {
    for (const path of ["node_modules", join("web", "dist")]) symlinkSync(join(ROOT, path), join(tree, path));
    const [other, own] = [await start(tree, "theirs"), await start(ROOT, "ours")];
    const each = Math.ceil(prompts / ROUNDS);
    const cost = async ({ url, cpuMs }: Started): Promise<number> => {
      const before = cpuMs();
      for (let n = 0; n < each; n += 1) await ask(url);
      return (cpuMs() - before) / each;
    };
    const [ours, theirs]: [number[], number[]] = [[], []];
    // The first rounds compile.
    for (let round = -WARM_ROUNDS; round < ROUNDS; round += 1) {
      const [theirMs, ourMs] = [await cost(other), await cost(own)];
      if (round < 0) continue;
      theirs.push(theirMs);
      ours.push(ourMs);
    }
    return { revision, prompts: each * ROUNDS, ours, theirs };
  } finally {
    for (const server of started) await server.stop();
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
