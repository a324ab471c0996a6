import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { shownChange } from "../../src/cli/shown-change.ts";

const SECRETS = ["s3cr3t-of-others", "hunter2", "swordfish", "ghp_" + "a1B2".repeat(9), "Bearer abc.def"];
const OWN = "npx parley hook claude";
const servers = (more: object) => ({
  env: { API_KEY: SECRETS[0], password: SECRETS[1] },
  mcpServers: { other: { command: "run", args: ["-p", SECRETS[2]], headers: { Authorization: SECRETS[4] } }, ...more },
  token: SECRETS[3],
});

describe("a change that is shown", () => {
  for (const [how, indent] of [
    ["on one line", undefined],
    ["on many lines", 2],
  ] as const) {
    it(`holds Parley's own part whole, and no value of another program, ${how}`, () => {
      const before = JSON.stringify(servers({}), null, indent);
      const after = JSON.stringify(servers({ parley: { type: "command", command: OWN } }), null, indent);
      for (const [from, to] of [
        [before, after],
        [after, before],
      ] as const) {
        const shown = shownChange(from, to).join("\n");
        assert.match(shown, /"command": ?"npx parley hook claude"/);
        assert.match(shown, /"type": ?"command"/);
        assert.ok(shown.includes('"…"'));
        for (const secret of SECRETS) assert.ok(!shown.includes(secret), `${secret}: ${shown}`);
      }
    });
  }

  it("holds no secret of TOML, or of a comment", () => {
    const before = `# token: ${SECRETS[3]}\n[env]\nAPI_KEY = 'hunter2'\n"x y" = "s3cr3t-of-others"\n`;
    const shown = shownChange(before, `${before}[mcp_servers.parley]\nurl = "http://127.0.0.1:3415/mcp"\n`).join("\n");
    assert.match(shown, /^\+url = "http:\/\/127\.0\.0\.1:3415\/mcp"$/m);
    assert.match(shown, /^ "x y" = "…"$/m);
    for (const secret of SECRETS) assert.ok(!shown.includes(secret), shown);
    const noted = shownChange(
      `{\n// the token is ${SECRETS[3]}\n}\n`,
      `{\n// the token is ${SECRETS[3]}\n"a": "b"\n}\n`,
    );
    assert.deepEqual(noted.slice(1), [" {", " // the token is [secret]", '+"a": "b"', " }"]);
  });
});
