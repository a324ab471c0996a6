import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { publishedMetadata } from "./published-metadata.mjs";

const LICENCE = fileURLToPath(new URL("../LICENSE", import.meta.url));
const TSC = createRequire(import.meta.url).resolve("typescript/bin/tsc");

/**
 * Builds a package as it is published: `to` holds its ES modules with their types, the same for programs that say
 * `require`, its README, its licence and a package.json of its own, with `more` in it. In this checkout the sources are
 * used as they are. Where `from` is a copy, `home` is the folder that it was copied from.
 */
export function buildPackage(from, to, more = {}, home = from) {
  rmSync(to, { recursive: true, force: true });
  emit(from, join(to, "esm"), ["--declaration", "false", "--removeComments"]);
  emit(from, join(to, "types"), ["--emitDeclarationOnly"]);
  writeJson(join(to, "esm", "package.json"), { type: "module" });
  writeJson(join(to, "types", "package.json"), { type: "module" });

  const { exports, ...manifest } = JSON.parse(readFileSync(join(from, "package.json"), "utf8"));
  const entries = Object.entries(exports).map(([path, source]) => [path, source.slice("./src/".length, -".ts".length)]);
  makeRequirable(to, entries);
  const [main] = entries.map(([, file]) => wayTo("cjs", file));
  writeJson(join(to, "package.json"), {
    ...manifest,
    ...publishedMetadata(home),
    private: undefined,
    engines: { node: ">=22.12" },
    sideEffects: false,
    main: main.default,
    types: main.types,
    files: ["cjs", "esm", "types"],
    ...more,
    exports: Object.fromEntries([
      ...entries.map(([path, file]) => [path, { import: wayTo("esm", file), require: wayTo("cjs", file) }]),
      ["./package.json", "./package.json"],
    ]),
  });
  cpSync(join(from, "README.md"), join(to, "README.md"));
  cpSync(LICENCE, join(to, "LICENSE"));
}

/**
 * Each entry of the package can be required: what CommonJS gets are the very ES modules, so that no class is there twice,
 * and the types once more, because a compiler that believes CommonJS cannot load ES modules refuses theirs.
 */
function makeRequirable(to, entries) {
  mkdirSync(join(to, "cjs"));
  writeJson(join(to, "cjs", "package.json"), { type: "commonjs" });
  for (const [, file] of entries) {
    writeFileSync(join(to, "cjs", `${file}.js`), `module.exports = require("../esm/${file}.js");\n`);
  }
  const isType = (path) => !path.endsWith(".json");
  cpSync(join(to, "types"), join(to, "cjs"), { recursive: true, filter: isType });
}

function wayTo(folder, file) {
  return { types: `./${folder === "esm" ? "types" : folder}/${file}.d.ts`, default: `./${folder}/${file}.js` };
}

function emit(from, outDir, flags) {
  const options = ["-p", from, "--outDir", outDir, "--module", "esnext", "--moduleResolution", "bundler"];
  const built = spawnSync(process.execPath, [TSC, ...options, ...flags], { stdio: ["ignore", "inherit", "inherit"] });
  if (built.status !== 0) process.exit(1);
}

function writeJson(path, value) {
  writeFileSync(path, `${JSON.stringify(value, null, 2)}\n`);
}
