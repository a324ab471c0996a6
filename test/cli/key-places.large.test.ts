import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { after, before, describe, it } from "node:test";
import { newFolder, parley, start } from "../support/program.ts";

const KEY = "parley_agent_secret";
/** Nobody answers there. */
const NOWHERE = "http://127.0.0.1:9";

const COMMANDS: readonly (readonly string[])[] = [
  ["ask", "Which label is clearer?"],
  ["ask", "Which label is clearer?", "--to", "Ana"],
  ["check", "q_1"],
  ["cancel", "q_1"],
  ["answer", "q_1", "--text", "This one"],
  ["inbox"],
  ["task", "list"],
  ["exec", "--once", "--", "true"],
  ["work", "--repo", "shop=/nowhere"],
  ["mcp"],
  ["mcp", "config", "stdio"],
  ["mcp", "install", "codex", "--dry-run"],
  ["doctor", "--client"],
];

describe("the key in PARLEY_KEY", { concurrency: 2 }, () => {
  const heard: string[] = [];
  const other = createServer((request, reply) => {
    heard.push(`${request.method} ${request.url}`);
    reply.writeHead(404).end();
  });
  let url = "";
  before(async () => {
    other.listen(0, "127.0.0.1");
    await once(other, "listening");
    url = `http://127.0.0.1:${(other.address() as AddressInfo).port}`;
  });
  after(() => other.close());

  for (const words of COMMANDS) {
    const end = words.indexOf("--") === -1 ? words.length : words.indexOf("--");
    it(`goes to no server that only a flag names, by parley ${words.slice(0, end).join(" ")}`, async () => {
      const flagged = [...words.slice(0, end), "--url", url, ...words.slice(end)];
      for (const env of [{ PARLEY_URL: NOWHERE }, {}] as Record<string, string>[]) {
        const place = { HOME: newFolder(), PARLEY_DATA_DIR: newFolder() };
        const { code, out, err } = await parley(flagged, { ...place, ...env, PARLEY_KEY: KEY });
        assert.equal(code, 2, err);
        assert.match(err, new RegExp(`PARLEY_KEY is for the server at \\S+, and not for ${url}: set PARLEY_URL to`));
        assert.ok(!(out + err).includes(KEY));
      }
      assert.deepEqual(heard, []);
    });
  }

  it("goes to no server that only a flag names, by the hook of Claude Code, which denies the tool", async () => {
    const run = start(["hook", "claude", "--url", url], { PARLEY_KEY: KEY, PARLEY_DATA_DIR: newFolder() });
    const input = { hook_event_name: "PreToolUse", tool_name: "Bash", tool_input: { command: "ls" } };
    run.child.stdin.end(JSON.stringify({ ...input, session_id: "s", cwd: "/", transcript_path: "/nowhere/t.jsonl" }));
    const { code, out, err } = await run.ended;
    assert.equal(code, 2, err);
    assert.match(out, /"permissionDecision":"deny".*PARLEY_KEY is for the server at/);
    assert.deepEqual(heard, []);
  });
});
