/**
 * Runs real coding agents, Mastra, LangChain and other runtimes against the server, without a network where that can
 * be, and ends as Node's test runner ends; with `slow`, those tests in which people take seven minutes.
 *
 * They are large, and nothing else needs them: `test/agents` has packages of its own, which are installed on the first
 * run and whenever its lock file has changed.
 */
import { spawnSync } from "node:child_process";
import { copyFileSync, existsSync, globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const FOLDER = join(ROOT, "test", "agents");
const LOCK = join(FOLDER, "package-lock.json");
const INSTALLED_FROM = join(FOLDER, "node_modules", ".installed-from");
const IS_SLOW = process.argv[2] === "slow";
const TEST_TIMEOUT_MS = IS_SLOW ? 600_000 : 300_000;
/** The number of test files at once. Slow tests mostly wait and need no processor. */
const AT_ONCE = IS_SLOW ? 3 : 1;

if (!existsSync(INSTALLED_FROM) || readFileSync(INSTALLED_FROM, "utf8") !== readFileSync(LOCK, "utf8")) {
  console.error("Installing the agents, about 2 GB ...");
  // Not `npm ci`: an agent's programs for other systems are missing in some registries, and so in the lock file.
  run("npm", ["install", "--no-save", "--no-audit", "--no-fund"], FOLDER);
  copyFileSync(LOCK, INSTALLED_FROM);
}
run(process.execPath, [join(ROOT, "node_modules", "typescript", "bin", "tsc"), "-p", FOLDER]);
const files = globSync(`test/agents/${IS_SLOW ? "slow/" : ""}*.test.ts`, { cwd: ROOT }).sort();
const test = ["--test", `--test-concurrency=${AT_ONCE}`, `--test-timeout=${TEST_TIMEOUT_MS}`, ...files];
const [program, ...args] = [...offline(), process.execPath, ...test];
run(program, args);

/**
 * Returns how to start a program in a network namespace that has nothing but loopback, so that no agent can reach what
 * it should not need; nothing where this machine has none.
 */
function offline() {
  const user = process.getuid?.() === 0 ? [] : ["--user", "--map-root-user"];
  const start = ["unshare", ...user, "--net", "--", "sh", "-c", 'ip link set lo up && exec "$@"', "sh"];
  const { status } = spawnSync(start[0], [...start.slice(1), "true"], { stdio: "ignore" });
  if (status === 0) return start;
  console.error("The agents are not kept from the network: no network namespace can be made here.");
  return [];
}

/** Runs a command to its end, and ends as it did when it failed. */
function run(command, args, cwd = ROOT) {
  const { status, error } = spawnSync(command, args, { cwd, stdio: "inherit", shell: process.platform === "win32" });
  if (error) console.error(error.message);
  if (status !== 0) process.exit(status ?? 1);
}
