/**
 * Makes a checkout ready to run: the packages of the lock file are installed, the command `parley` is linked, the web
 * app and the program of hooks are built from their present sources. With `--run`, the packages for tests and other development may be missing.
 *
 * Plain JavaScript without dependencies, because it runs before there are any, on whatever Node the machine has.
 * Silent when there is nothing to do. If two run at once, one works and the other waits for it.
 */
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const at = (...parts) => join(ROOT, ...parts);

const LOCK = at(".setup.lock");
const LOCK_IS_STALE_AFTER_MS = 30 * 60_000;
const COMMAND = at("node_modules", ".bin", "parley");
const COMMAND_TARGET = join("..", "..", "bin", "parley.mjs");
const BUILT_FROM = at("web", "dist", ".built-from");
const HOOK = join("bin", "hook", "parley.cjs");
const HOOK_BUILT_FROM = at("bin", "hook", ".built-from");
const FOLDERS = ["", "adapters", "scripts/node", "sdk", "web"];
const KINDS = ["dependencies", "devDependencies", "optionalDependencies"];
const NETWORK_ERRORS = /ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ENETUNREACH|EHOSTUNREACH|ENOTCACHED/;

const RUNS_ONLY = process.argv.includes("--run");

/** The steps in order; each looks at the checkout itself, so that a half-done one is seen and done again. */
const STEPS = [
  { says: "Installing the packages of package-lock.json", isDone: () => isInstalled(!RUNS_ONLY), run: install },
  { says: "Adding the optional packages that npm left out", isDone: hasOptional, run: addOptional },
  { says: "Linking the command parley", isDone: isLinked, run: link },
  { says: "Building the web app", isDone: isBuilt, run: build },
  { says: "Building the program of hooks", isDone: isHookBuilt, run: buildHook },
];

const KINDS_INSTALLED = [RUNS_ONLY ? "--omit=dev" : "--include=dev"];
const QUIETLY = ["--no-audit", "--no-fund"];

/** A sentence for the person who typed the command. Any other thrown error is a mistake in this file. */
class SetupError extends Error {}

try {
  if (Number.parseInt(process.versions.node, 10) < 20) {
    throw new SetupError(`Parley is installed with Node 20 or newer, and this is ${process.version}.`);
  }
  if (!STEPS.every((step) => step.isDone())) runSteps();
} catch (error) {
  if (!(error instanceof SetupError)) throw error;
  console.error(error.message);
  process.exitCode = 1;
}

function runSteps() {
  lock();
  try {
    for (const step of STEPS) {
      if (step.isDone()) continue;
      console.error(`${step.says} ...`);
      step.run();
    }
  } finally {
    rmSync(LOCK, { force: true });
  }
}

// Packages

/**
 * npm writes down at the end of an installation what it installed; that is compared with what the lock file asks, the
 * packages that only development needs among it or not.
 */
function isInstalled(withDevelopment) {
  const wanted = readJson(at("package-lock.json")).packages;
  const installed = readJson(at("node_modules", ".package-lock.json"))?.packages;
  if (!installed) return false;

  const isThere = ([path, { version, integrity, optional, dev }]) =>
    !path.startsWith("node_modules/") ||
    (optional && !installed[path]) ||
    (dev && !withDevelopment) ||
    (installed[path]?.version === version && installed[path]?.integrity === integrity);
  const isUnchanged = (folder) => {
    const asked = readJson(at(folder, "package.json"));
    const locked = wanted[folder] ?? {};
    return KINDS.every((kind) => sameEntries(asked[kind] ?? {}, locked[kind] ?? {}));
  };
  return Object.entries(wanted).every(isThere) && FOLDERS.every(isUnchanged) && hasNode();
}

function sameEntries(one, other) {
  const text = (entries) => JSON.stringify(Object.entries(entries).sort());
  return text(one) === text(other);
}

/**
 * Parley runs on Node 24: the one among the packages, which is exactly what the lock file names, or else the machine's
 * own. npm takes no package whose integrity is another, and leaves an optional one out without a word.
 */
function hasNode() {
  const path = `node_modules/node-${process.platform === "win32" ? "win" : process.platform}-${process.arch}`;
  const wanted = readJson(at("package-lock.json")).packages[path];
  const installed = readJson(at("node_modules", ".package-lock.json"))?.packages[path];
  if (!installed) return Number.parseInt(process.versions.node, 10) >= 24;
  return installed.version === wanted?.version && installed.integrity === wanted?.integrity && existsSync(at(path));
}

/**
 * Without a network the packages come from npm's cache, if it holds them: asked for all of them, npm would take
 * minutes to find out that it can reach none.
 */
function fromWhere() {
  const patience = ["--fetch-retries=1", "--fetch-retry-mintimeout=1000", "--fetch-timeout=15000"];
  return NETWORK_ERRORS.test(npm("ping", ...patience).output) ? ["--offline"] : [];
}

function install() {
  const from = fromWhere();
  // A server may be running from what is there, so that is added to, and not removed first.
  const isToAdd = !RUNS_ONLY && isInstalled(false);
  const { status, output } = isToAdd ? add(from) : npm("ci", ...KINDS_INSTALLED, ...QUIETLY, ...from);
  if (status !== 0) throw new SetupError(whyInstallFailed(output));
  if (!hasNode()) {
    throw new SetupError(
      `Parley runs on Node 24, this is ${process.version}, and npm found no package of Node 24 for ` +
        `${process.platform} on ${process.arch} that is the one package-lock.json names: install Node 24 yourself.`,
    );
  }
}

/**
 * npm leaves out, without a word, optional packages that are made for a newer Node than its own: also when somebody
 * ran it before this script.
 */
function hasOptional() {
  const { optionalDependencies = {} } = readJson(at("package.json"));
  const installed = readJson(at("node_modules", ".package-lock.json"))?.packages ?? {};
  return Object.keys(optionalDependencies).every((name) => installed[`node_modules/${name}`]);
}

/** npm under the Node that will run them adds them. Without a network the server runs, and says what it lacks. */
function addOptional() {
  const { output } = add(fromWhere());
  if (hasOptional()) return;
  console.error(`Some optional packages are missing; a server that needs one says so. ${whyInstallFailed(output)}`);
}

/** npm under the Node that will run them adds the packages that are missing. */
function add(from) {
  return runNpm([at("node_modules", ".bin")], ["install", "--no-save", ...KINDS_INSTALLED, ...QUIETLY, ...from]);
}

function whyInstallFailed(output) {
  const errors = output.match(/(?<=^npm (?:error|ERR!) ).*/gm) ?? [];
  const network = NETWORK_ERRORS.exec(errors.join("\n"));
  if (network) {
    return `The packages could not be fetched (${network[0]}): connect to the npm registry and run this again.`;
  }
  const reason =
    errors.find((line) => !/^(code|syscall|errno|path|dest)\b/.test(line)) ?? output.trim().split("\n").at(-1);
  return `The packages could not be installed: ${reason} (\`npm ci\` shows more.)`;
}

// Command

function isLinked() {
  if (process.platform === "win32") return true;
  try {
    return readlinkSync(COMMAND) === COMMAND_TARGET;
  } catch {
    return false;
  }
}

function link() {
  mkdirSync(dirname(COMMAND), { recursive: true });
  rmSync(COMMAND, { force: true });
  symlinkSync(COMMAND_TARGET, COMMAND);
}

// Web app

function isBuilt() {
  return existsSync(BUILT_FROM) && readFileSync(BUILT_FROM, "utf8") === webSources();
}

function build() {
  const sources = webSources();
  const { status, output } = npm("run", "build", "--workspace=web", "--silent");
  if (status !== 0) throw new SetupError(`${output.trim()}\nThe web app could not be built; the reason stands above.`);
  writeFileSync(BUILT_FROM, sources);
}

/** A digest of everything that the built web app depends on. */
function webSources() {
  return digestOf(["web", join("sdk", "src")]);
}

// Program of hooks

function isHookBuilt() {
  return (
    existsSync(at(HOOK)) &&
    existsSync(HOOK_BUILT_FROM) &&
    readFileSync(HOOK_BUILT_FROM, "utf8") === hookState(hookSources())
  );
}

function buildHook() {
  const sources = hookSources();
  const { status, output } = npm("run", "build:hook", "--silent");
  if (status !== 0) throw new SetupError(`${output.trim()}\nThe program of hooks could not be built.`);
  writeFileSync(HOOK_BUILT_FROM, hookState(sources));
}

/** The program itself counts too: one that was emptied or cut is built again. */
function hookState(sources) {
  return `${sources} ${digestOf([], [HOOK])}`;
}

function hookSources() {
  return digestOf(["src", join("sdk", "src")], ["scripts/bundle-hook.mjs"]);
}

/** Returns a digest of the installed packages and of these sources. */
function digestOf(folders, files = []) {
  const hash = createHash("sha256").update(readFileSync(at("package-lock.json")));
  const paths = [...folders.flatMap((folder) => filesIn(folder).sort()), ...files];
  for (const path of paths) hash.update(`\0${path}\0`).update(readFileSync(at(path)));
  return hash.digest("hex");
}

function filesIn(folder) {
  return readdirSync(at(folder), { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (!entry.isDirectory()) return [path];
    return entry.name === "node_modules" || path === join("web", "dist") ? [] : filesIn(path);
  });
}

// One at a time

/**
 * This process holds the lock file.
 *
 * A lock whose process is gone is taken away by renaming, which only one can do; who finds that the renamed lock was
 * a newer one puts it back.
 */
function lock() {
  let saysWaiting = true;
  for (;;) {
    try {
      writeFileSync(LOCK, String(process.pid), { flag: "wx" });
      return;
    } catch (error) {
      if (error.code !== "EEXIST") throw new SetupError(`This folder cannot be written: ${error.message}.`);
    }
    const holder = lockHolder(LOCK);
    if (holder === undefined) continue;
    if (isStale(holder)) {
      const taken = `${LOCK}.${process.pid}`;
      attempt(() => renameSync(LOCK, taken));
      if (lockHolder(taken)?.pid !== holder.pid) attempt(() => linkSync(taken, LOCK));
      rmSync(taken, { force: true });
      continue;
    }
    if (saysWaiting) console.error(`Waiting for the setup that runs already (process ${holder.pid}) ...`);
    saysWaiting = false;
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 200);
  }
}

function lockHolder(path) {
  try {
    return { pid: Number(readFileSync(path, "utf8")), since: statSync(path).mtimeMs };
  } catch {
    return undefined;
  }
}

function isStale({ pid, since }) {
  if (Date.now() - since > LOCK_IS_STALE_AFTER_MS) return true;
  if (!pid) return Date.now() - since > 1000;
  try {
    process.kill(pid, 0);
    return false;
  } catch (error) {
    return error.code === "ESRCH";
  }
}

function attempt(action) {
  try {
    action();
  } catch {
    // Somebody else was faster, and the next round sees what they did.
  }
}

// The outside

/** Runs the machine's own npm under the machine's own Node: the one among the packages is about to be replaced. */
function npm(...args) {
  return runNpm([], args);
}

function runNpm(first, args) {
  const others = (process.env.PATH ?? "")
    .split(delimiter)
    .filter((folder) => !folder.endsWith(join("node_modules", ".bin")));
  const folders = [...first, ...others];
  const result = spawnSync("npm", args, {
    cwd: ROOT,
    encoding: "utf8",
    env: { ...process.env, PATH: folders.join(delimiter) },
    maxBuffer: 64 * 1024 * 1024,
    shell: process.platform === "win32",
  });
  if (result.error)
    throw new SetupError(`npm could not be started (${result.error.code}): install Node with npm first.`);
  return { status: result.status, output: `${result.stdout}${result.stderr}` };
}

function readJson(path) {
  return existsSync(path) ? JSON.parse(readFileSync(path, "utf8")) : undefined;
}
