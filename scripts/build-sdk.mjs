/** Builds @parley/sdk as it is published, in `sdk/dist`, or in the folder that is named as its one argument. */
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { minifySync } from "vite";
import { buildPackage } from "./build-package.mjs";

const SDK = fileURLToPath(new URL("../sdk", import.meta.url));
const DIST = resolve(process.argv[2] ?? join(SDK, "dist"));

buildPackage(SDK, DIST);
for (const name of readdirSync(join(DIST, "esm"))) if (name.endsWith(".js")) minify(join(DIST, "esm", name));

/** Makes a module as small as it goes; the types keep the names and the words. */
function minify(path) {
  const { code } = minifySync(path, readFileSync(path, "utf8"), { module: true });
  writeFileSync(path, code);
}
