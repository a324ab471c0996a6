import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import type { PermissionRequest } from "../../src/tasks/model/attempt-asks.ts";
import { examinePermission } from "../../src/workshop/examine-permission.ts";
import { openRedaction } from "../../src/workshop/redaction.ts";

const place = mkdtempSync(join(tmpdir(), "parley-wish-"));
const tree = join(place, "tree");
mkdirSync(join(tree, "src"), { recursive: true });
mkdirSync(join(place, "home"));
writeFileSync(join(tree, "src", "a.ts"), "");
symlinkSync(join(place, "home"), join(tree, "docs"));
symlinkSync(join(place, "home", "new"), join(tree, "nowhere"));
symlinkSync("src", join(tree, "inside"));
symlinkSync("loop", join(tree, "loop"));
symlinkSync("..", join(tree, "src", "up"));
after(() => rmSync(place, { recursive: true }));

const redaction = openRedaction({ MODEL_KEY: "k-0123456789" });
const write = (resource: string): PermissionRequest => ({
  tool: "Write",
  input: { file_path: resource, content: "x" },
  action: "write",
  resource,
});
const examine = (permission: PermissionRequest, isJailed = false) =>
  examinePermission(permission, { tree, isJailed, redaction });

describe("what is put to people of an agent's wish", () => {
  it("is the very same where its path stays in the tree, also by links, and where there is nothing yet", async () => {
    for (const path of ["src/a.ts", "src/b.ts", "new/deep/c.ts", ".", "inside/a.ts", "src/up/src/a.ts"]) {
      const permission = write(path);
      assert.equal(await examine(permission), permission, path);
    }
  });

  it("says where a link takes its path out of the tree", async () => {
    for (const path of ["docs", "docs/a.md", "docs/new/b.md", "nowhere", "nowhere/c", "loop", "src/a.ts/x"]) {
      assert.deepEqual(await examine(write(path)), { ...write(path), leadsOutside: true }, path);
    }
    for (const path of ["/etc/passwd", join(place, "home")]) {
      assert.deepEqual(await examine(write(path)), { ...write(path), leadsOutside: true }, path);
    }
  });

  it("is denied where it is more than can be shown, however deep", async () => {
    const deep = JSON.parse(`${'{"a":'.repeat(3000)}1${"}".repeat(3000)}`) as Record<string, unknown>;
    const long = { content: "x".repeat(5_000_000) };
    for (const input of [deep, long]) {
      const said = await examine({ ...write("src/a.ts"), input });
      assert.deepEqual(said, {
        allow: false,
        why: "it is more than can be shown to anybody; do it in smaller parts",
      });
    }
  });

  it("looks at no links in the jail, where they lead nowhere else, nor at what is no path", async () => {
    assert.deepEqual(await examine(write("docs/a.md"), true), write("docs/a.md"));
    const run: PermissionRequest = { tool: "Bash", input: { command: "docs" }, action: "execute", resource: "docs" };
    assert.equal(await examine(run), run);
  });

  it("is denied where it holds a key of the attempt: nobody could approve what would run", async () => {
    const permission: PermissionRequest = {
      tool: "Bash",
      input: { command: "curl -H k-0123456789" },
      action: "execute",
      resource: "curl",
    };
    const said = await examine(permission);
    assert.ok("allow" in said);
    assert.match(said.why, /holds a key of this attempt/);
  });
});
