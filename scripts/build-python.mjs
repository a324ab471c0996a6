/**
 * Builds the Python package `parley-sdk` as it is published, a wheel and its sources, in `dist`, or in the folder that is
 * named as the one argument. It is imported as `parley`. With `--tools`, only what builds it is made ready.
 */
import { spawnSync } from "node:child_process";
import { appendFileSync, cpSync, existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { publishedMetadata } from "./published-metadata.mjs";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
/** Python's own build tools, which stay here once they were fetched. */
const TOOLS = join(ROOT, "node_modules", ".cache", "python-build");
const PYTHON = join(TOOLS, "bin", "python");
const BUILD = ["build==1.6.1", "setuptools==84.0.0"];
const FETCHING = ["--quiet", "--disable-pip-version-check", "--retries", "1", "--timeout", "15"];
const OPTIONS = process.argv.slice(2);

try {
  if (!hasTools()) fetchTools();
  if (!OPTIONS.includes("--tools")) build();
} catch (error) {
  console.error(error.message);
  process.exitCode = 1;
}

/** Builds a copy, because a build leaves files beside what it builds. */
function build() {
  const copy = mkdtempSync(join(tmpdir(), "parley-python-"));
  try {
    const isSource = (path) => !/__pycache__|\.egg-info|[\\/](tests|dist)$/.test(path);
    cpSync(join(ROOT, "sdk-python"), copy, { recursive: true, filter: isSource });
    cpSync(join(ROOT, "LICENSE"), join(copy, "LICENSE"));
    appendFileSync(join(copy, "pyproject.toml"), urlsTable());
    run(PYTHON, ["-m", "build", "--no-isolation", "--outdir", resolve(OPTIONS[0] ?? join(ROOT, "dist")), copy]);
  } finally {
    rmSync(copy, { recursive: true, force: true });
  }
}

/** Returns where the sources are to be found, as pyproject.toml says it; nothing where that is not known. */
function urlsTable() {
  const { repository, homepage, bugs } = publishedMetadata();
  const places = { Homepage: homepage, Repository: repository?.url.replace(/^git\+/, ""), Issues: bugs?.url };
  const lines = Object.entries(places).flatMap(([name, url]) => (url ? [`${name} = ${JSON.stringify(url)}`] : []));
  return lines.length === 0 ? "" : `\n[project.urls]\n${lines.join("\n")}\n`;
}

function hasTools() {
  if (!existsSync(PYTHON)) return false;
  const { stdout } = spawnSync(PYTHON, ["-m", "pip", "freeze", "--all"], { encoding: "utf8" });
  return BUILD.every((wanted) => stdout.split("\n").includes(wanted));
}

function fetchTools() {
  rmSync(TOOLS, { recursive: true, force: true });
  run("python3", ["-m", "venv", TOOLS]);
  run(PYTHON, ["-m", "pip", "install", ...FETCHING, ...BUILD]);
}

/** Runs a program. Its output is shown only if it fails. */
function run(program, args) {
  const { status, error, stdout, stderr } = spawnSync(program, args, { encoding: "utf8" });
  if (error) throw new Error(`${program} could not be started (${error.code}); the Python package is built with it.`);
  if (status !== 0)
    throw new Error(`${stdout}${stderr}\n${program} ${args.join(" ")} failed; the reason stands above.`);
}
