import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdirSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { after, before, describe, it } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { MAIN, newFolder, parley, type Run, serve, stop } from "../support/program.ts";

const run = promisify(execFile);
const PROGRAMS = fileURLToPath(new URL("node_modules/.bin", import.meta.url));
const LONGEST_MS = 60_000;

/** The line that each client prints for a server that it has found. Some clients also connect to it with the key. */
const CLIENTS = {
  // It connects to what a folder brings along once a person at its terminal has agreed.
  claude: (url: string) => `parley: ${url} (HTTP)`,
  codex: (url: string) => `parley  ${url}  PARLEY_KEY            enabled  Bearer token`,
  gemini: (url: string) => `✓ parley: ${url} (http) - Connected`,
  opencode: () => "✓ parley connected",
} as const;

describe("parley mcp install", () => {
  const dataDir = newFolder();
  let server: Run & { url: string };
  let key = "";
  before(async () => {
    server = await serve(dataDir, { PARLEY_OPEN: "false" });
    key = (await parley(["keys", "create", "coder", "--scope", "agent"], { PARLEY_DATA_DIR: dataDir })).out.trim();
  });
  after(() => stop(server));

  for (const [client, shown] of Object.entries(CLIENTS)) {
    it(`is found by ${client} itself, and gone after uninstall`, async () => {
      const folder = newFolder();
      mkdirSync(folder, { recursive: true });
      const env = {
        PATH: [dirname(process.execPath), process.env["PATH"]].join(delimiter),
        HOME: folder,
        PARLEY_URL: server.url,
        PARLEY_KEY: key,
        NO_COLOR: "1",
        CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
        DISABLE_AUTOUPDATER: "1",
        GEMINI_CLI_TRUST_WORKSPACE: "true",
        GEMINI_CLI_NO_RELAUNCH: "true",
        OPENCODE_DISABLE_AUTOUPDATE: "1",
        OPENCODE_DISABLE_MODELS_FETCH: "1",
      };
      const where = { cwd: folder, env, timeout: LONGEST_MS };
      const listed = async (): Promise<string> => {
        const listing = run(join(PROGRAMS, client), ["mcp", "list"], where);
        listing.child.stdin?.end();
        const { stdout, stderr } = await listing;
        return (stdout + stderr).replaceAll(/\u001b\[[0-9;]*m/g, "");
      };
      await run(process.execPath, [MAIN, "mcp", "install", client], where);
      const found = await listed();
      assert.ok(found.includes(shown(`${server.url}/mcp`)), found);
      await run(process.execPath, [MAIN, "mcp", "uninstall", client], where);
      const left = await listed();
      assert.ok(!left.includes(server.url), left);
    });
  }
});
