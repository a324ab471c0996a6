#!/usr/bin/env node
/** The command `parley`: runs the program on Node 24, which a checkout brings along if the machine's own is older. */
import { spawn } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import module from "node:module";
import { fileURLToPath } from "node:url";

const NEEDED = 24;
const bundledNode = fileURLToPath(new URL("../node_modules/.bin/node", import.meta.url));
/** The program of hooks, which starts in a fraction of the time; scripts/setup.mjs builds it. */
const hookProgram = fileURLToPath(new URL("./hook/parley.cjs", import.meta.url));
const argv = process.argv.slice(2);

if (Number.parseInt(process.versions.node, 10) >= NEEDED) {
  const hook = argv[0] === "hook" && existsSync(hookProgram) ? loadHook() : undefined;
  if (hook?.isHook(argv)) await hook.decideHook(argv);
  else if (argv[0] === "--version" || argv[0] === "-v") printVersion();
  else await runProgram();
} else if (existsSync(bundledNode)) {
  runOnBundledNode();
} else {
  console.error(
    `Parley needs Node ${NEEDED} or newer, and this is ${process.version}: run \`npm start\` once, which installs it.`,
  );
  // Agents let a tool run after another failure of its hook.
  process.exitCode = argv[0] === "hook" ? 2 : 1;
}

/** A program of hooks that is empty or cut lets no tool run; the commands around it go on. */
function loadHook() {
  try {
    const hook = module.createRequire(import.meta.url)(hookProgram);
    if (hook.isHook && hook.decideHook) return hook;
  } catch {
    // It does not parse, or ends before its end.
  }
  const isCommand = argv.length < 2 || ["install", "uninstall", "-h", "--help"].some((word) => argv.includes(word));
  return { isHook: () => !isCommand, decideHook: blockBroken };
}

function blockBroken() {
  const folder = fileURLToPath(new URL("..", import.meta.url));
  console.error(
    `Parley denied it: its program of hooks, ${hookProgram}, is empty or cut: run \`npm run setup\` in ${folder}.`,
  );
  process.exitCode = 2;
}

/** For this one line nothing else is loaded. */
function printVersion() {
  console.log(JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8")).version);
}

async function runProgram() {
  // The cache is enabled as in src/lib/compile-cache.ts, before the first file of TypeScript is loaded.
  module.enableCompileCache(fileURLToPath(new URL("../node_modules/.cache/parley", import.meta.url)));
  await import("../src/main.ts");
}

function runOnBundledNode() {
  const child = spawn(bundledNode, process.argv.slice(1), { stdio: "inherit" });
  const isAtTerminal = [process.stdin, process.stdout, process.stderr].some((stream) => stream.isTTY);
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) {
    // A terminal gives Ctrl-C to both processes, and twice is another word than once.
    process.on(signal, () => (signal === "SIGINT" && isAtTerminal ? undefined : child.kill(signal)));
  }
  child.on("exit", (code, signal) => {
    if (!signal) process.exit(code);
    process.removeAllListeners(signal);
    process.kill(process.pid, signal);
  });
}
