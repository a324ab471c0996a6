import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { open } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, describe, it } from "node:test";
import { bytesOf, type TarEntry, NotTar, readTar } from "../../src/lib/files/tar.ts";

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

  it("is read as tar has written it", async () => {
    for (const [name, text] of files) {
      mkdirSync(dirname(join(ROOT, name)), { recursive: true });
      writeFileSync(join(ROOT, name), text);
    }
    execFileSync("tar", ["--format=pax", "-cf", path, "-C", ROOT, ...files.map(([name]) => name)]);
    assert.deepEqual(
      (await membersOf(path)).map(({ name, text }) => [name, text]),
      files,
    );
  });

  it("holds a file of more than 8 GiB", async () => {
    const size = 9 * 2 ** 30 + 1;
    // Holes: nothing of this is on a disk.
    writeFileSync(join(ROOT, "parley.db"), "");
    truncateSync(join(ROOT, "parley.db"), size);
    const large = join(ROOT, "large.tar");
    execFileSync("sh", ["-c", 'tar --format=pax -cf - -C "$1" parley.db | head -c 1536 > "$2"', "sh", ROOT, large]);
    truncateSync(large, 1536 + size + 511 + 1024);
    assert.deepEqual(
      (await membersOf(large)).map(({ name, size }) => [name, size]),
      [["parley.db", size]],
    );
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
