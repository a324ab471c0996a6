/** Builds @parley/sdk as it is published, in `sdk/dist`, or in the folder that is named as its one argument. */
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { minifySync } from "vite";
import { buildPackage } from "./build-package.mjs";
import { wireTypes } from "./wire-types.mjs";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const SDK = join(ROOT, "sdk");
const DIST = resolve(process.argv[2] ?? join(SDK, "dist"));

const sources = mkdtempSync(join(tmpdir(), "parley-sdk-sources-"));
try {
  await copySources(join(sources, "sdk"));
  buildPackage(join(sources, "sdk"), DIST, {}, SDK);
} finally {
  rmSync(sources, { recursive: true, force: true });
}
for (const name of readdirSync(join(DIST, "esm"))) if (name.endsWith(".js")) minify(join(DIST, "esm", name));

/** Copies the sources, with the text of the types that come from the schemas of the server. */
async function copySources(to) {
  cpSync(SDK, to, { recursive: true, filter: (path) => path !== join(SDK, "dist") });
  cpSync(join(ROOT, "tsconfig.json"), join(to, "..", "tsconfig.json"));
  const module = join(to, "src", "wire-schemas.ts");
  const names = [...readFileSync(module, "utf8").matchAll(/\bas (\w+)/g)].map(([, name]) => name);
  writeFileSync(module, await wireTypes(names));
}

/** Makes a module as small as it goes; the types keep the names and the words. */
function minify(path) {
  const { code } = minifySync(path, readFileSync(path, "utf8"), { module: true });
  writeFileSync(path, code);
}
