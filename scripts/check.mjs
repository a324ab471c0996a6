/**
 * `npm run check`: each look at the sources, with its seconds; all of them, whichever fail. Lint takes as long as the
 * others together, so that two run at a time.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { addResults, beginResult } from "./test-results.mjs";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const inPackage = (path) => fileURLToPath(new URL(`../node_modules/${path}`, import.meta.url));

/** ESLint with types needs more memory than Node gives by itself. */
const CHECKS = [
  ["lint", "--max-old-space-size=8192", inPackage("eslint/bin/eslint.js"), "."],
  ["format", inPackage("prettier/bin/prettier.cjs"), "--check", "--log-level=warn", "."],
  ["budget", fileURLToPath(new URL("budget.mjs", import.meta.url))],
  ["types", inPackage("typescript/bin/tsc"), "--noEmit"],
  ["types of the web app", inPackage("typescript/bin/tsc"), "--noEmit", "-p", "web"],
  [
    "imports",
    inPackage("dependency-cruiser/bin/dependency-cruiser.mjs"),
    "--config",
    ".dependency-cruiser.js",
    "src",
    "sdk/src",
    "adapters/src",
    "web/src",
  ],
];
const AT_ONCE = 2;

const result = beginResult("npm run check");
const waiting = [...CHECKS];
const steps = [];
await Promise.all(Array.from({ length: AT_ONCE }, takeTurns));
const passed = steps.every((step) => step.passed);
addResults(result.end({ passed, steps }));
process.exitCode = passed ? 0 : 1;

async function takeTurns() {
  for (let next = waiting.shift(); next; next = waiting.shift()) {
    const [name, ...args] = next;
    const startMs = performance.now();
    const child = spawn(process.execPath, args, { cwd: ROOT, stdio: ["ignore", "pipe", "pipe"] });
    let output = "";
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding("utf8").on("data", (text) => (output += text));
    }
    const [code] = await once(child, "close");
    const seconds = Math.round((performance.now() - startMs) / 100) / 10;
    if (code !== 0) console.log(output.trim());
    console.log(`${code === 0 ? "holds " : "FAILED"}  ${name}  ${seconds} s`);
    steps.push({ name, seconds, passed: code === 0 });
  }
}
