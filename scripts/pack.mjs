/**
 * Packs what is published to npm, in `dist`, or in the folder that is named as the one argument: `@parley/parley`, which
 * is the server and its command line with the web app, `@parley/sdk` and `@parley/adapters`.
 */
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { makeServerPackage } from "./server-package.mjs";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const DIST = resolve(process.argv[2] ?? join(ROOT, "dist"));

const work = mkdtempSync(join(tmpdir(), "parley-pack-"));
try {
  mkdirSync(DIST, { recursive: true });
  await makeServerPackage(join(work, "parley"));
  pack(join(work, "parley"));
  for (const name of ["sdk", "adapters"]) {
    run(process.execPath, [join(ROOT, "scripts", `build-${name}.mjs`), join(work, name)]);
    pack(join(work, name));
  }
} finally {
  rmSync(work, { recursive: true, force: true });
}

function pack(folder) {
  run("npm", ["pack", folder, "--pack-destination", DIST, "--ignore-scripts", "--loglevel", "error"]);
}

function run(program, args, options = {}) {
  const { status, error } = spawnSync(program, args, { stdio: ["ignore", "inherit", "inherit"], ...options });
  if (error) throw new Error(`${program} could not be started (${error.code}), and packing needs it.`);
  if (status !== 0) throw new Error(`${program} ${args.join(" ")} ended with exit code ${status}.`);
}
