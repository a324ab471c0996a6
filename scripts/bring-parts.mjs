/**
 * Brings what tests need beyond npm's packages (test/support/parts.ts): on Debian and its relatives root has it installed, and
 * everybody else gets it under `.tools/`, where nothing else of the machine is changed.
 */
import { spawnSync } from "node:child_process";
import { chmodSync, globSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { missingParts, TOOLS } from "../test/support/parts.ts";

const INSTALL = ["apt-get", "install", "--yes", "--no-install-recommends"];
const PATIENCE = ["-o", "Acquire::Retries=1", "-o", "Acquire::http::Timeout=15", "-o", "Acquire::https::Timeout=15"];
const APT = join(TOOLS, "apt");
const FILES = join(TOOLS, "files");
/** apt-get keeps its lists and archives in a folder of ours, since the machine's belong to root. */
const OWN = ["-o", `Dir::State::lists=${APT}/lists`, "-o", `Dir::Cache=${APT}/cache`, "-o", "Debug::NoLocking=1"];

/** Brings what is absent and can be brought, saying so on stderr; returns what is missing then. */
export async function bringParts() {
  const missing = await missingParts();
  const isRoot = process.getuid?.() === 0;
  const absent = missing.filter(({ isAbsent, part }) => isAbsent && (isRoot || part.worksAnywhere));
  if (absent.length === 0 || !hasApt()) return missing;

  const isInstalled = ({ isOnlyUnpacked }) => isRoot && !isOnlyUnpacked;
  const parts = absent.map(({ part }) => part);
  const installed = packagesOf(parts.filter(isInstalled));
  const unpacked = parts.filter((part) => !isInstalled(part));
  tryTo("Installing", installed, () => install(installed));
  tryTo("Fetching into .tools", packagesOf(unpacked), () => unpack(unpacked, packagesOf(unpacked)));
  return missingParts();
}

/** Two parts may come from one package. */
const packagesOf = (parts) => [...new Set(parts.flatMap(({ debian }) => debian))];

function tryTo(what, packages, bring) {
  if (packages.length === 0) return;
  console.error(`${what} ${packages.join(", ")} ...`);
  try {
    bring();
  } catch (error) {
    console.error(`That failed: ${error.message}`);
  }
}

/** One line: what is missing, what is therefore not tested, and the one command that brings it. */
export function sayMissing(missing) {
  const each = missing.map(({ part, why }) => `${part.name} for ${part.purpose} (${why})`);
  return `Missing: ${each.join("; ")}. ${howToBring(missing)}`;
}

function howToBring(missing) {
  const packages = missing.filter(({ isAbsent }) => isAbsent).flatMap(({ part }) => part.debian);
  const needsRoot = missing.some(({ part }) => part.name === "root");
  if (hasApt()) {
    if (needsRoot) return "This brings what can be installed, and tests all of it: sudo npm test";
    if (packages.length > 0) return `This brings it: sudo ${INSTALL.join(" ")} ${packages.join(" ")}`;
  } else if (packages.length > 0) {
    return "Install it with this system's packages, and run npm test again.";
  }
  return needsRoot ? "This tests it: sudo npm test" : "Nothing that npm test could install would change that.";
}

function hasApt() {
  return ["apt-get", "dpkg-deb"].every((program) => spawnSync(program, ["--version"]).status === 0);
}

function install(packages) {
  // Somebody else may be installing something just now.
  const wait = ["-o", "DPkg::Lock::Timeout=300"];
  run("apt-get", [...PATIENCE, ...wait, "update"]);
  const [program, ...args] = INSTALL;
  run(program, [...PATIENCE, ...wait, ...args, ...packages]);
}

/** The packages and whatever they need that this machine has not are unpacked side by side under `.tools/files`. */
function unpack(parts, packages) {
  for (const folder of ["lists/partial", "cache/archives/partial"]) mkdirSync(join(APT, folder), { recursive: true });
  mkdirSync(FILES, { recursive: true });
  run("apt-get", [...OWN, ...PATIENCE, "update"]);
  const plan = run("apt-get", [...OWN, "--simulate", "install", "--no-install-recommends", ...packages]);
  const needed = [...plan.matchAll(/^Inst (\S+)/gm)].map(([, name]) => name);
  run("apt-get", [...OWN, ...PATIENCE, "download", ...needed], APT);
  for (const archive of globSync(join(APT, "*.deb"))) run("dpkg-deb", ["--extract", archive, FILES]);
  rmSync(APT, { recursive: true });

  mkdirSync(join(TOOLS, "bin"), { recursive: true });
  const libraries = globSync(["lib/*-linux-gnu*", "usr/lib/*-linux-gnu*"], { cwd: FILES });
  const folders = libraries.map((folder) => join(FILES, folder)).join(":");
  for (const { program } of parts) {
    const [file] = globSync(`{usr/bin,usr/sbin,bin,sbin}/${program}`, { cwd: FILES });
    if (!file) continue;
    const starter = join(TOOLS, "bin", program);
    writeFileSync(starter, `#!/bin/sh\nLD_LIBRARY_PATH='${folders}' exec '${join(FILES, file)}' "$@"\n`);
    chmodSync(starter, 0o755);
  }
}

/** Runs a program to its end and returns its output. */
function run(program, args, cwd) {
  const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive", LC_ALL: "C" };
  const { status, stdout, stderr } = spawnSync(program, args, { cwd, env, encoding: "utf8", maxBuffer: 64 * 2 ** 20 });
  if (status === 0) return stdout;
  throw new Error(stderr?.match(/^E: .*/m)?.[0].slice(3) ?? `${program} ended with ${status}.`);
}
