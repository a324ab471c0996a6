/**
 * `npm run ci` says whether the last commit would be taken: it clones it into a temporary folder, runs `.ci/run` there, and
 * adds the result to this checkout's file. `.ci/run` is this program with `--here`: each step in order, until one fails.
 *
 * Plain JavaScript without dependencies, because it runs before anything is installed.
 */
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { addResults, beginResult, readResults } from "./test-results.mjs";

const ROOT = fileURLToPath(new URL("..", import.meta.url));

/** The steps that must pass before a change is accepted. The step that fails soonest comes first. */
const STEPS = [
  ["test"],
  ["run", "check"],
  ["run", "test:large", "--", "--all"],
  ["run", "test:steady", "--", "--changed", "--minutes", "2"],
  ["run", "prove", "--", "--quick"],
];

process.exitCode = process.argv.includes("--here") ? await runSteps() : await runInClone();

/** Runs the steps in this checkout, and prints the minutes of each. */
async function runSteps() {
  const result = beginResult(".ci/run");
  const steps = [];
  for (const args of STEPS) {
    const command = ["npm", ...args].join(" ");
    console.log(`\n══ ${command}`);
    const startMs = performance.now();
    const code = await run("npm", args, ROOT);
    const minutes = Math.round((performance.now() - startMs) / 600) / 100;
    steps.push({ command, minutes, passed: code === 0 });
    console.log(`══ ${command}: ${code === 0 ? "passed" : `failed (exit ${code})`} in ${minutes} min`);
    if (code !== 0) break;
  }
  const passed = steps.every((step) => step.passed);
  const whole = result.end({ passed, steps });
  addResults(whole);
  for (const step of steps) console.log(`${step.passed ? "passed" : "FAILED"}  ${step.minutes} min  ${step.command}`);
  console.log(`${steps.filter((step) => step.passed).length} passed, ${passed ? 0 : 1} failed in ${whole.minutes} min`);
  return passed ? 0 : 1;
}

/** Runs `.ci/run` on the last commit in a clone of its own, and takes over what that wrote of its results. */
async function runInClone() {
  const dirty = spawnSync("git", ["status", "--porcelain"], { cwd: ROOT, encoding: "utf8" }).stdout;
  if (dirty !== "") console.error("There are changes that are not committed; the last commit is what runs.");
  const folder = mkdtempSync(join(tmpdir(), "parley-ci-"));
  const clone = join(folder, "parley");
  process.on("exit", () => rmSync(folder, { recursive: true, force: true }));
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => process.exit(130));
  const cloned = await run("git", ["clone", "--quiet", ROOT, clone], folder);
  if (cloned !== 0) return cloned;
  const code = await run("bash", [".ci/run"], clone, { ...process.env, CI: "true" });
  const results = readResults(clone);
  addResults(...results);
  if (code === 0) console.log(`This commit passes: ${results[0]?.commit}`);
  return code;
}

/** Runs a program to its end with this one's output, and returns its exit code. */
async function run(program, args, cwd, env = process.env) {
  const child = spawn(program, args, { cwd, env, stdio: ["ignore", "inherit", "inherit"] });
  const [code] = await once(child, "close");
  return code ?? 1;
}
