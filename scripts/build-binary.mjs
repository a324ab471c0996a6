/**
 * Makes the single executable `dist/parley`, or the file that is named as the one argument: this Node with the package
 * `@parley/parley` inside, which runs on machines that have no Node.
 */
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, relative, resolve, sep } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { inject } from "postject";
import { makeServerPackage } from "./server-package.mjs";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const MAIN = join(ROOT, "scripts", "binary-main.cjs");
/** Node looks for these two words in its own executable. */
const BLOB = "NODE_SEA_BLOB";
const FUSE = "NODE_SEA_FUSE_fce680ab2cc467b6e072b8b5df1996b2";

if (process.platform === "linux") {
  await buildBinary(resolve(process.argv[2] ?? join(ROOT, "dist", "parley")));
} else {
  console.error("The single executable is made on Linux only: elsewhere nobody has tried it.");
  process.exitCode = 1;
}

async function buildBinary(to) {
  const work = mkdtempSync(join(tmpdir(), "parley-binary-"));
  try {
    const folder = join(work, "package");
    await makeServerPackage(folder);
    copyFileSync(licenceOfNode(), join(folder, "NODE-LICENSE"));
    const blob = makeBlob(folder, work);
    mkdirSync(dirname(to), { recursive: true });
    rmSync(to, { force: true });
    copyFileSync(process.execPath, to);
    chmodSync(to, 0o755);
    await inject(to, BLOB, blob, { sentinelFuse: FUSE });
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

/** Returns the script that runs first and the files of the package, as Node wants them in its executable. */
function makeBlob(folder, work) {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((one) => one.isFile());
  const paths = files.map(({ parentPath, name }) => join(parentPath, name)).sort();
  const assets = Object.fromEntries(
    paths.map((path, i) => [relative(folder, path).replaceAll(sep, "/"), compressed(path, join(work, `asset-${i}`))]),
  );
  assets["name"] = join(work, "name");
  writeFileSync(assets["name"], nameOf(folder, paths));
  const output = join(work, "blob");
  // The loader that the first script takes is one of the experimental parts of Node.
  const execArgv = ["--disable-warning=ExperimentalWarning"];
  const config = { main: MAIN, output, disableExperimentalSEAWarning: true, execArgv, assets };
  writeFileSync(join(work, "config.json"), JSON.stringify(config));
  const options = ["--experimental-sea-config", join(work, "config.json")];
  const { status, stderr } = spawnSync(process.execPath, options, { encoding: "utf8" });
  if (status !== 0) throw new Error(`Node could not put the files together: ${stderr}`);
  return readFileSync(output);
}

/** Node reads all of its files at each start, also of one that unpacks none: they are as small as they can be. */
function compressed(path, to) {
  writeFileSync(to, gzipSync(readFileSync(path)));
  return to;
}

/** Two executables with the same name for their files have the same files. */
function nameOf(folder, paths) {
  const { version } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  const hash = createHash("sha256");
  for (const path of paths)
    hash
      .update(`${relative(folder, path)}\0`)
      .update(readFileSync(path))
      .update("\0");
  return `${version}-${hash.digest("hex").slice(0, 16)}`;
}

/** Node is inside, and its licence goes along. */
function licenceOfNode() {
  const path = join(dirname(dirname(process.execPath)), "LICENSE");
  if (!existsSync(path)) throw new Error(`Node's licence goes into the executable, and is not at ${path}.`);
  return path;
}
