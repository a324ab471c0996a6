import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Failure, Harness, HarnessOptions, HarnessReport } from "./harness.ts";
import { environmentWith } from "./plant-environment.ts";
import type { Plant } from "./plant-bug.ts";
import { PLANTS } from "./plant-list.ts";
import { runInProcess } from "./prove-process.ts";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
/** How long a harness may look for a planted bug. The races that tell most of them come before the box of that one. */
const BOX_MS: Readonly<Record<Plant["harness"], number>> = {
  // One bug takes ten seconds on average, at random. The first catch ends the search, so that a long time limit costs
  // nothing.
  sim: 150_000,
  kill: 120_000,
  outcomes: 90_000,
  standstill: 60_000,
  model: 60_000,
  race: 15_000,
  unseen: 20_000,
  commands: 60_000,
  freeze: 60_000,
  promote: 60_000,
  // The whole of it: what it finds only afterwards would be missed else.
  run: 120_000,
  reach: 60_000,
  clock: 90_000,
  sign: 60_000,
  consent: 180_000,
};
/** A harness that has not come back after this hangs. */
const WITHIN_MS = 240_000;

/**
 * Every planted bug makes its harness fail, and for its own reason: that is what makes the other reports worth reading
 * (spec/invariants 5). `--seed 3` plants only the third of the list.
 */
export const plant: Harness = {
  name: "plant",
  async run(options: HarnessOptions): Promise<HarnessReport> {
    const wanted = PLANTS.filter((one, i) =>
      options.seed === undefined ? one.fast === true || options.longHours !== undefined : i + 1 === options.seed,
    );
    const failures: Failure[] = [];
    for (const one of wanted) {
      const started = performance.now();
      const { caught, says } = await plantOne(one);
      const seconds = ((performance.now() - started) / 1000).toFixed(1);
      if (options.trace) console.error(`plant: ${one.bug} (${one.harness}, ${seconds} s)\n  ${says}`);
      if (caught) continue;
      const repeat = `npm run prove -- plant --seed ${PLANTS.indexOf(one) + 1} --trace`;
      failures.push({ says: `${one.bug} (${one.file}, for ${one.harness}): ${says}`, repeat });
    }
    if (wanted.length === 0)
      failures.push({ says: "there is no such bug in the list", repeat: "npm run prove -- plant" });
    return { figures: { planted: wanted.length, caught: wanted.length - failures.length }, failures };
  },
};

/** Plants one bug, and returns the report on it. */
async function plantOne({ file, find, put, harness, says }: Plant): Promise<{ caught: boolean; says: string }> {
  const path = join(ROOT, file);
  const missed = (why: string) => ({ caught: false, says: why });
  const times = readFileSync(path, "utf8").split(find).length - 1;
  if (times !== 1) return missed(`its text stands ${times} times in the file`);

  const directory = mkdtempSync(join(tmpdir(), "parley-plant-"));
  const mark = join(directory, "planted");
  try {
    const ended = await runInProcess(
      harness,
      { trace: false, boxMs: BOX_MS[harness], stopAtFirstFailure: true },
      { env: environmentWith({ path, find, put, mark }), output: "keep", withinMs: WITHIN_MS },
    );
    if (!existsSync(mark)) return missed("the file it stands in was never loaded");
    if (ended.report === null) return missed(ended.why);
    const said = ended.report.failures.map((failure) => failure.says);
    if (said.length === 0) return missed("nothing was noticed");
    const right = said.find((one) => says.test(one));
    return right === undefined ? missed(`only this was noticed: ${said[0]}`) : { caught: true, says: right };
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}
