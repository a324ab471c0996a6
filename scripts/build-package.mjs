import { spawnSync } from "node:child_process";
import { cpSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";

const TSC = createRequire(import.meta.url).resolve("typescript/bin/tsc");

/**
 * Builds a package as it is published: `to` holds its ES modules, which Node also hands to `require`, their types, its
 * README and a package.json of its own, with `more` in it. In this checkout the sources are used as they are.
 */
export function buildPackage(from, to, more = {}) {
  rmSync(to, { recursive: true, force: true });
  emit(from, join(to, "esm"), ["--declaration", "false", "--removeComments"]);
  emit(from, join(to, "types"), ["--emitDeclarationOnly"]);
  writeJson(join(to, "esm", "package.json"), { type: "module" });
  // A compiler that believes CommonJS cannot load ES modules refuses their types as well; these serve both, because the
  // package has named exports only.
  writeJson(join(to, "types", "package.json"), { type: "commonjs" });

  const { exports, ...manifest } = JSON.parse(readFileSync(join(from, "package.json"), "utf8"));
  writeJson(join(to, "package.json"), {
    ...manifest,
    private: undefined,
    engines: { node: ">=22.12" },
    sideEffects: false,
    files: ["esm", "types"],
    ...more,
    exports: Object.fromEntries(
      Object.entries(exports).map(([path, source]) => {
        const file = source.replace("./src/", "").replace(/\.ts$/, "");
        return [path, { types: `./types/${file}.d.ts`, default: `./esm/${file}.js` }];
      }),
    ),
  });
  cpSync(join(from, "README.md"), join(to, "README.md"));
}

function emit(from, outDir, flags) {
  const options = ["-p", from, "--outDir", outDir, "--module", "esnext", "--moduleResolution", "bundler"];
  const built = spawnSync(process.execPath, [TSC, ...options, ...flags], { stdio: ["ignore", "inherit", "inherit"] });
  if (built.status !== 0) process.exit(1);
}

function writeJson(path, value) {
  writeFileSync(path, `${JSON.stringify(value, null, 2)}\n`);
}
