import assert from "node:assert/strict";
import { mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, it } from "node:test";
import { isOwnCommand, isOwnHook } from "../../src/connect/own-hooks.ts";

describe("a hook of Parley's own", () => {
  for (const line of [
    "parley hook claude",
    "/opt/old/bin/parley.mjs hook claude --to 7",
    "/usr/bin/node /srv/parley/bin/parley.mjs hook claude --url http://127.0.0.1:3415",
    "node --no-warnings '/a b/parley.mjs' hook claude",
    "npx parley hook claude",
    "npx -y parley@1.2.3 hook claude",
    "pnpm dlx parley hook claude",
    "exec parley hook claude",
    "PARLEY_URL=http://box:1 parley hook claude",
    'sh -c "parley hook claude"',
    "~/.local/bin/parley hook claude",
    ...["node-24", "node24", "node24.exe", "nodejs", "nodejs-22", "node-v24.1.0-linux-x64", "node_24", "Node.exe"].map(
      (name) => `/opt/${name} /srv/parley/bin/hook/parley.cjs hook claude`,
    ),
    `${process.execPath} /srv/parley/bin/hook/parley.cjs hook claude`,
    '"$HOME/node24" "${HOME}/parley/bin/hook/parley.cjs" hook claude',
  ]) {
    it(`runs the program: ${line}`, () => assert.ok(isOwnCommand(line, "claude")));
  }

  for (const line of [
    "/opt/guard --as 'hook claude' --deny-secrets",
    "/opt/guard hook claude",
    "/opt/guard -- parley hook claude",
    "/opt/guard /srv/parley/bin/hook/parley.cjs hook claude",
    ...["nodemon", "node-guard", "node24-guard", "mynode", "node2json", "guard-node"].map(
      (name) => `/opt/${name} /srv/parley/bin/hook/parley.cjs hook claude`,
    ),
    "/opt/node24 /opt/guard.mjs /srv/parley/bin/hook/parley.cjs hook claude",
    'parley hook claude --to "$(guard)"',
    "/opt/parley-guard hook claude",
    "/opt/parley/guard hook claude",
    "node /opt/guard.mjs parley hook claude",
    "npx guard parley hook claude",
    "guard && parley hook claude",
    "parley hook claude | tee log",
    "parley hook claude; guard",
    "parley hook claude $(guard)",
    "echo parley hook claude",
    "parley hook codex",
    "parley hook claude-notify",
    "parley 'hook claude'",
    "sh -c 'guard parley hook claude'",
    "sh guard.sh parley hook claude",
    "",
  ]) {
    it(`is no command that only holds its words: ${line}`, () => assert.ok(!isOwnCommand(line, "claude")));
  }

  it("runs the Node of this process, under whatever name and link", () => {
    const folder = mkdtempSync(join(tmpdir(), "parley-own-hooks-"));
    const runtime = join(folder, "runtime");
    symlinkSync(process.execPath, runtime);
    assert.ok(isOwnCommand(`${runtime} /srv/parley/bin/hook/parley.cjs hook claude`, "claude"));
    rmSync(folder, { recursive: true });
  });

  it("by HTTP has an address that Parley wrote, whatever its flags", () => {
    const own = { name: "claude", addresses: ["http://127.0.0.1:3415/hooks/claude?to=3"] };
    const isOwn = (url: string) => isOwnHook({ type: "http", url }, own);
    for (const url of ["http://127.0.0.1:3415/hooks/claude", "http://127.0.0.1:3415/hooks/claude?to=7&timeout=1h"])
      assert.ok(isOwn(url), url);
    for (const url of [
      "https://audit.corp.example/hooks/claude",
      "http://127.0.0.1:9000/hooks/claude",
      "http://127.0.0.1:3415/audit/hooks/claude",
      "http://127.0.0.1:3415/hooks/claude?audit=1",
      "http://ana@127.0.0.1:3415/hooks/claude",
      "no address",
    ])
      assert.ok(!isOwn(url), url);
  });
});
