import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { userInfo } from "node:os";
import { describe, it } from "node:test";
import { systemUser } from "../../src/lib/system-user.ts";
import { text } from "../../web/src/console/text.ts";
import { itWith } from "../support/parts.ts";

const itAsRoot = await itWith("root");
/** No system gives it to anybody. */
const NAMELESS = 54_321;

describe("the system's user", () => {
  it("is called by name", () => {
    assert.equal(systemUser(), userInfo().username);
  });

  itAsRoot("is a number where the system has no name for it", () => {
    // Another user cannot read this checkout everywhere, nor start its Node: the source is given to one that is started.
    const source = `${systemUser.toString()}; process.setuid(${NAMELESS}); process.stdout.write(systemUser());`;
    const program = `import { userInfo } from "node:os"; ${source}`;
    const { stdout, stderr } = spawnSync(process.execPath, ["--input-type=module", "--eval", program], {
      cwd: "/",
      encoding: "utf8",
    });
    assert.equal(stdout, String(NAMELESS), stderr);
  });

  it("is who acted at the command line, in the console's words", () => {
    assert.equal(text.audit.by("server", "cli:ana", undefined), "ana, at the command line");
    assert.equal(text.audit.by("server", "assignment", undefined), "the assignment");
  });
});
