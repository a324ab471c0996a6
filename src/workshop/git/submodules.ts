import { shown } from "./listing.ts";
import type { Repository } from "./repository.ts";
import { git } from "./run.ts";

const FILE = ".gitmodules";
/** An address that a helper program reads (`ext::sh -c ...`), one that git would take for an option, and a command. */
const RUNS = /^(?:[A-Za-z0-9][A-Za-z0-9+.-]*::|-|!)/;

/**
 * Returns a sentence for each entry of a commit's `.gitmodules` by which a git that updates submodules could be
 * made to run a program. Parley itself updates no submodule; a person who takes the work over may.
 */
export async function submoduleWarnings(
  repo: Repository,
  commit: string,
  changed: readonly string[],
): Promise<string[]> {
  if (!changed.includes(FILE)) return [];
  const call = { gitDir: repo.store, allow: [1, 128] };
  const isThere = (await git(["cat-file", "-e", `${commit}:${FILE}`], call)).code === 0;
  if (!isThere) return [];
  const args = ["config", `--blob=${commit}:${FILE}`, "-z", "--get-regexp", "^submodule\\..*\\.(url|update)$"];
  const { code, stdout, stderr } = await git(args, call);
  // Git says 1 also where it found none.
  if (code !== 0 && stderr !== "") return [`${FILE} cannot be read by git: look at it before you update submodules.`];
  return stdout
    .toString("latin1")
    .split("\0")
    .flatMap((entry) => {
      const [key = "", ...rest] = entry.split("\n");
      const value = rest.join("\n");
      if (!RUNS.test(value)) return [];
      const [, name = "", what = ""] = /^submodule\.(.*)\.(url|update)$/s.exec(key) ?? [];
      const why = `which can make git run a program: look at it before you update submodules.`;
      return [`${FILE} has the ${what} ${shown(value)} for the submodule ${shown(name)}, ${why}`];
    });
}
