import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, before, describe, it } from "node:test";
import { readPatch, type PatchFile } from "../../web/src/console/tasks/patch.ts";

describe("a patch as git prints it", () => {
  const folder = mkdtempSync(join(tmpdir(), "parley-patch-"));
  const git = (...args: string[]): string =>
    execFileSync("git", ["-c", "user.name=ana", "-c", "user.email=ana@localhost", ...args], {
      cwd: folder,
      encoding: "utf8",
      env: { PATH: process.env["PATH"], HOME: folder, GIT_CONFIG_NOSYSTEM: "1" },
    });
  const write = (path: string, text: string | Uint8Array): void => {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  };
  after(() => rmSync(folder, { recursive: true }));

  /** Names that git quotes, or marks in other ways. */
  const ODD = ["with blank.txt", "größe.txt", 'quo"te.txt', "back\\slash.txt", "tab\tname.txt", "b/a/b.txt"];
  /** Lines that look like the headers of a patch. */
  const TRICKY = "-- a\n++ b\ndiff --git a/x b/x\n@@ -1 +1 @@\n--- a\n+++ b\nBinary files differ\n";
  before(() => {
    git("init", "-q");
    for (const name of ODD) write(name, "before\n");
    write("gone.txt", "g\n");
    write("mode.sh", "x\n");
    write("old/name.txt", Array.from({ length: 40 }, (_, i) => `line ${i}\n`).join(""));
    write("picture.png", new Uint8Array([0, 1, 2, 3]));
    write("no-newline.txt", "one");
    write("windows.txt", "a\r\nb\r\n");
    git("add", "-A");
    git("commit", "-q", "-m", "Begin");

    for (const name of ODD) write(name, "after\n");
    rmSync(join(folder, "gone.txt"));
    chmodSync(join(folder, "mode.sh"), 0o755);
    mkdirSync(join(folder, "new"));
    renameSync(join(folder, "old/name.txt"), join(folder, "new/name.txt"));
    write("picture.png", new Uint8Array([0, 9, 2, 3]));
    write("no-newline.txt", "two");
    write("windows.txt", "a\r\nc\r\n");
    write("empty.txt", "");
    write("tricky.txt", TRICKY);
    symlinkSync("/etc/passwd", join(folder, "link"));
    git("add", "-A");
  });

  for (const quotePath of ["true", "false"]) {
    it(`names every file as it is, with core.quotePath ${quotePath}`, () => {
      const files = readPatch(git("-c", `core.quotePath=${quotePath}`, "diff", "--cached", "-M"));
      const found = new Map(files.map((file) => [file.path, file]));
      const paths = git("diff", "--cached", "-M", "--name-only", "-z").split("\0").filter(Boolean);
      assert.deepEqual([...found.keys()].sort(), paths.sort());
      assert.ok(files.every(({ isRead }) => isRead));

      for (const name of ODD) assert.deepEqual(linesOf(found.get(name)), ["-before", "+after"], name);
      assert.deepEqual([found.get("gone.txt")?.kind, linesOf(found.get("gone.txt"))], ["delete", ["-g"]]);
      assert.deepEqual([found.get("empty.txt")?.kind, linesOf(found.get("empty.txt"))], ["add", []]);
      assert.deepEqual([found.get("mode.sh")?.kind, linesOf(found.get("mode.sh"))], ["modify", []]);
      assert.deepEqual([found.get("link")?.kind, linesOf(found.get("link"))], ["add", ["+/etc/passwd"]]);
      const moved = found.get("new/name.txt");
      assert.deepEqual([moved?.kind, moved?.from, linesOf(moved)], ["rename", "old/name.txt", []]);
      assert.ok(found.get("picture.png")?.isBinary);
      assert.deepEqual(linesOf(found.get("no-newline.txt")), ["-one", "+two"]);
      assert.deepEqual(
        linesOf(found.get("windows.txt")).map((line) => line.trimEnd()),
        [" a", "-b", "+c"],
      );
      assert.equal(
        linesOf(found.get("tricky.txt"))
          .map((line) => `${line.slice(1)}\n`)
          .join(""),
        TRICKY,
      );
      assert.equal(found.get("tricky.txt")?.isBinary, false);
    });
  }

  it("is read as far as it can be", () => {
    const whole = git("diff", "--cached", "--", "gone.txt");
    assert.deepEqual(readPatch(""), []);
    assert.deepEqual(readPatch("nothing of the kind\n"), []);
    const files = readPatch(`diff --git \n@@\ndiff --git a/x b/x\n--- a/x\n+++ b/x\n@@ broken\n+1\n${whole}`);
    assert.equal(files.at(-1)?.path, "gone.txt");
    assert.deepEqual(linesOf(files.at(-1)), ["-g"]);
  });
});

function linesOf(file: PatchFile | undefined): string[] {
  const signs = { insert: "+", delete: "-", normal: " " };
  return (file?.hunks ?? []).flatMap(({ changes }) => changes.map(({ type, content }) => signs[type] + content));
}
