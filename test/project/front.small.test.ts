import assert from "node:assert/strict";
import { globSync } from "node:fs";
import { describe, it } from "node:test";
import { blocksOf, ROOT_FOLDER, textOf } from "../support/documents.ts";

const wordsOf = (file: string): number => textOf(file).split(/\s+/).filter(Boolean).length;
const headingsOf = (text: string): string[] => [...text.matchAll(/^##+ (.+)$/gm)].map(([, heading = ""]) => heading);
const { version } = JSON.parse(textOf("package.json")) as { version: string };

describe("the README", () => {
  it("shows the product before everything else, in at most 700 words", () => {
    assert.ok(wordsOf("README.md") <= 700, `${wordsOf("README.md")} words`);
    assert.deepEqual(headingsOf(textOf("README.md")), [
      "One question",
      "One approval",
      "All your agents",
      "What you can rely on",
      "More",
    ]);
    const [start, test, ask] = blocksOf("README.md").map(({ text }) => text);
    assert.deepEqual([start, test], ["npm start\n", "npm test\n"]);
    assert.match(ask ?? "", /^npx parley ask /);
  });

  it("names the version of the program", () => {
    assert.ok(textOf("README.md").includes(`\nVersion ${version} (`));
  });
});

describe("CONTRIBUTING", () => {
  it("is read in a few minutes", () => {
    assert.ok(wordsOf("CONTRIBUTING.md") <= 850, `${wordsOf("CONTRIBUTING.md")} words`);
  });
});

describe("CHANGELOG", () => {
  it("begins with the version of the program, and with what an upgrade to it needs", () => {
    assert.deepEqual(headingsOf(textOf("CHANGELOG.md")).slice(0, 2), [version, "Upgrading"]);
  });

  it("has one line for each entry", () => {
    const lines = textOf("CHANGELOG.md").split("\n");
    assert.deepEqual(
      lines.filter((line, i) => line !== "" && !/^[-#]/.test(line) && (lines[i - 1] ?? "").startsWith("- ")),
      [],
    );
  });
});

describe("the version", () => {
  it("is the same in every package of the repository", () => {
    const packages = [
      "package.json",
      ...globSync("{adapters,sdk,web,scripts/node}/package.json", { cwd: ROOT_FOLDER }),
    ];
    assert.equal(packages.length, 5);
    for (const file of packages) assert.equal((JSON.parse(textOf(file)) as { version: string }).version, version, file);
    assert.ok(textOf("sdk-python/pyproject.toml").includes(`\nversion = "${version}"\n`));
    const { packages: locked } = JSON.parse(textOf("package-lock.json")) as {
      packages: Record<string, { version?: string }>;
    };
    for (const folder of ["", "adapters", "scripts/node", "sdk", "web"]) {
      assert.equal(locked[folder]?.version, version, `${folder} of package-lock.json`);
    }
  });
});
