import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { it } from "node:test";

const IMPORT = /^import (\w+) from "(\.[^"]+\.module\.css)";$/gm;

/** The classes that a component names and that its stylesheet does not have: each is an element without its layout. */
function missingIn(file: string): string[] {
  const source = readFileSync(file, "utf8");
  return [...source.matchAll(IMPORT)].flatMap(([, name = "", path = ""]) => {
    const sheet = readFileSync(join(dirname(file), path), "utf8");
    const used = new Set(
      [...source.matchAll(new RegExp(`\\b${name}\\.([A-Za-z]\\w*)`, "g"))].map(([, one = ""]) => one),
    );
    return [...used].filter((one) => !new RegExp(`\\.${one}\\b`).test(sheet)).map((one) => `${file}: ${name}.${one}`);
  });
}

it("every class that a component of the web app names is in the stylesheet that it takes it from", () => {
  const files = globSync("web/src/**/*.tsx");
  assert.ok(files.length > 50);
  assert.deepEqual(files.flatMap(missingIn), []);
});
