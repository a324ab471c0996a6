import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { open } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import { bytesOf, headersOf, type TarEntry, NotTar, openTarWriter, readTar } from "../../src/lib/files/tar.ts";

const ROOT = mkdtempSync(join(tmpdir(), "parley-tar-"));
after(() => rmSync(ROOT, { recursive: true }));

async function membersOf(path: string): Promise<(TarEntry & { text: string })[]> {
  const file = await open(path);
  try {
    const members: (TarEntry & { text: string })[] = [];
    for await (const member of readTar(file)) {
      let text = "";
      for await (const chunk of bytesOf(file, { ...member, size: Math.min(member.size, 1000) }))
        text += chunk.toString();
      members.push({ ...member, text });
    }
    return members;
  } finally {
    await file.close();
  }
}

describe("an archive", () => {
  const path = join(ROOT, "own.tar");
  const files: [string, string][] = [
    ["a.txt", "one"],
    ["empty", ""],
    [`${"long/".repeat(40)}b.txt`, "x".repeat(512)],
    [`${"ü".repeat(99)}.txt`, "y".repeat(513)],
    ["last", "z"],
  ];

  it("is read as it was written, here and by tar", async () => {
    const file = await open(path, "wx");
    const tar = openTarWriter(file, Date.UTC(2026, 0));
    for (const [name, text] of files) await tar.add(name, text.length, [Buffer.from(text)]);
    await tar.end();
    await file.close();
    assert.deepEqual(
      (await membersOf(path)).map(({ name, text }) => [name, text]),
      files,
    );
    const listed = execFileSync("tar", ["--quoting-style=literal", "-tf", path], { encoding: "utf8" });
    assert.deepEqual(
      listed.trimEnd().split("\n"),
      files.map(([name]) => name),
    );
    for (const [name, text] of files) {
      assert.equal(execFileSync("tar", ["-xOf", path, name], { encoding: "utf8" }), text);
    }
  });

  it("holds a file of more than 8 GiB", async () => {
    const size = 9 * 2 ** 30 + 1;
    const large = join(ROOT, "large.tar");
    const headers = headersOf("parley.db", size, 0);
    const file = await open(large, "wx");
    await file.write(headers);
    // Holes: nothing of this is on a disk.
    await file.truncate(headers.length + size + 511 + 1024);
    await file.close();
    assert.deepEqual(
      (await membersOf(large)).map(({ name, size }) => [name, size]),
      [["parley.db", size]],
    );
    const listed = execFileSync("tar", ["-tvf", large], { encoding: "utf8" });
    assert.match(listed, new RegExp(` ${size} .* parley\\.db\n$`));
  });

  it("is refused where it is cut off, and whatever else is no archive", async () => {
    const whole = await open(path);
    const bytes = await whole.readFile();
    await whole.close();
    for (const [name, text] of [
      ["cut.tar", bytes.subarray(0, 700)],
      ["text", Buffer.from("no archive ".repeat(100))],
      ["short", Buffer.from("no")],
    ] as const) {
      writeFileSync(join(ROOT, name), text);
      await assert.rejects(membersOf(join(ROOT, name)), NotTar, name);
    }
  });
});
