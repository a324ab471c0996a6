/**
 * Builds @parley/sdk as it is published: `sdk/dist` holds ES modules, which Node also hands to `require`, their
 * types, and a package.json of its own; another folder is named as its one argument. In this checkout the sources are
 * used as they are.
 */
import { spawnSync } from "node:child_process";
import { cpSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { minifySync } from "vite";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const SDK = join(ROOT, "sdk");
const DIST = resolve(process.argv[2] ?? join(SDK, "dist"));
const TSC = createRequire(import.meta.url).resolve("typescript/bin/tsc");

rmSync(DIST, { recursive: true, force: true });
emit("esm", ["--declaration", "false", "--removeComments"]);
emit("types", ["--emitDeclarationOnly"]);
for (const inner of ["http", "sse"]) dropComments(join(DIST, "types", `${inner}.d.ts`));
for (const name of readdirSync(join(DIST, "esm"))) minify(join(DIST, "esm", name));
writeJson(join(DIST, "esm", "package.json"), { type: "module" });
// A compiler that believes CommonJS cannot load ES modules refuses their types as well; these serve both, because the
// package has named exports only.
writeJson(join(DIST, "types", "package.json"), { type: "commonjs" });

const { exports, ...manifest } = JSON.parse(readFileSync(join(SDK, "package.json"), "utf8"));
writeJson(join(DIST, "package.json"), {
  ...manifest,
  private: undefined,
  engines: { node: ">=22.12" },
  sideEffects: false,
  files: ["esm", "types"],
  exports: Object.fromEntries(
    Object.entries(exports).map(([path, source]) => {
      const file = source.replace("./src/", "").replace(/\.ts$/, "");
      return [path, { types: `./types/${file}.d.ts`, default: `./esm/${file}.js` }];
    }),
  ),
});
cpSync(join(SDK, "README.md"), join(DIST, "README.md"));

function emit(folder, flags) {
  const options = ["-p", SDK, "--outDir", join(DIST, folder), "--module", "esnext", "--moduleResolution", "bundler"];
  const built = spawnSync(process.execPath, [TSC, ...options, ...flags], { stdio: ["ignore", "inherit", "inherit"] });
  if (built.status !== 0) process.exit(1);
}

/** Makes a module as small as it goes; the types keep the names and the words. */
function minify(path) {
  const { code } = minifySync(path, readFileSync(path, "utf8"), { module: true });
  writeFileSync(path, code);
}

/** What no importer can name needs no explanation. */
function dropComments(path) {
  writeFileSync(path, readFileSync(path, "utf8").replaceAll(/^\s*\/\*\*[\s\S]*?\*\/\n/gm, ""));
}

function writeJson(path, value) {
  writeFileSync(path, `${JSON.stringify(value, null, 2)}\n`);
}
