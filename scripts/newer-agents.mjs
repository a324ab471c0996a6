/**
 * Says which packages of test/agents have a newer release on the npm registry than the tested one:
 * `node scripts/newer-agents.mjs`. Ends with 1 where there is one, and with 2 where the registry did not answer for all.
 */
import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { promisify } from "node:util";

const TESTED = new URL("../test/agents/package.json", import.meta.url);
const { devDependencies } = JSON.parse(readFileSync(TESTED, "utf8"));

const releases = await Promise.all(
  Object.entries(devDependencies).map(async ([name, tested]) => {
    try {
      const { stdout } = await promisify(execFile)("npm", ["view", name, "version"], {
        shell: process.platform === "win32",
      });
      return { name, tested, newest: stdout.trim() };
    } catch {
      return { name, tested, newest: null };
    }
  }),
);
for (const { name, tested, newest } of releases) {
  if (newest === null) console.error(`${name}: the registry did not answer`);
  else if (newest !== tested) console.log(`${name}: ${newest} is released, ${tested} is tested`);
}
if (releases.some(({ newest }) => newest === null)) process.exitCode = 2;
else if (releases.some(({ tested, newest }) => newest !== tested)) process.exitCode = 1;
else console.log(`All ${releases.length} tested packages are the newest.`);
