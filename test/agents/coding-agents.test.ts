import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { after, before, describe, it } from "node:test";
import { fileURLToPath } from "node:url";
import { type Browser, launchBrowser } from "../browser/chromium.ts";
import { visit } from "../browser/visitor.ts";
import { newFolder, parley, type Run, serve, stop } from "../support/program.ts";
import { scriptedModel } from "./scripted-model.ts";

const PROGRAMS = fileURLToPath(new URL("node_modules/.bin", import.meta.url));
const TASK = "Find out which label people like better.";
const ENDS_WITHIN_MS = 120_000;

/** How each agent is told where the model is, and started without a person at its terminal. */
const AGENTS = {
  "Claude Code": {
    client: "claude",
    /** Its model sees the structured part of a result alone, without the sentence that says whose words these are. */
    file: ".mcp.json",
    command: "claude",
    args: [
      "-p",
      TASK,
      "--mcp-config",
      ".mcp.json",
      "--strict-mcp-config",
      "--model",
      "claude-sonnet-4-5",
      "--allowedTools",
      "mcp__parley__ask_human,mcp__parley__wait_for_human_responses",
    ],
    settings: () => ({}),
    env: (model: string) => ({
      ANTHROPIC_BASE_URL: model,
      ANTHROPIC_API_KEY: "none",
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
      DISABLE_AUTOUPDATER: "1",
    }),
  },
  opencode: {
    client: "opencode",
    file: "opencode.json",
    command: "opencode",
    args: ["run", "--model", "anthropic/claude-sonnet-4-5", TASK],
    settings: (model: string) => ({
      provider: { anthropic: { options: { baseURL: `${model}/v1`, apiKey: "none" } } },
      autoupdate: false,
      share: "disabled",
    }),
    env: () => ({
      OPENCODE_DISABLE_AUTOUPDATE: "1",
      OPENCODE_DISABLE_MODELS_FETCH: "1",
      OPENCODE_DISABLE_LSP_DOWNLOAD: "1",
    }),
  },
} as const;

describe("an unmodified coding agent", () => {
  const dataDir = newFolder();
  let server: Run & { url: string };
  let browser: Browser;
  let key = "";
  before(async () => {
    server = await serve(dataDir);
    browser = await launchBrowser();
    key = (await parley(["keys", "create", "coder", "--scope", "agent"], { PARLEY_DATA_DIR: dataDir })).out.trim();
  });
  after(async () => {
    await browser?.close();
    await stop(server);
  });

  for (const [name, agent] of Object.entries(AGENTS)) {
    it(`${name} asks, a person answers in the web app, and the model's next turn holds the answer`, async () => {
      const prompt = `Which label would you put on the button that ${name} draws?`;
      await using model = await scriptedModel({ question: prompt, min_responses: 1 });
      const folder = newFolder();
      mkdirSync(folder, { recursive: true });
      const settings = await parley(["mcp", "config", agent.client], { PARLEY_URL: server.url, PARLEY_KEY: key });
      assert.equal(settings.code, 0, settings.err);
      const shown = JSON.parse(settings.out) as Record<string, unknown>;
      writeFileSync(join(folder, agent.file), JSON.stringify({ ...shown, ...agent.settings(model.url) }));

      const running = start(agent.command, agent.args, folder, { PARLEY_KEY: key, ...agent.env(model.url) });
      const answering = (async () => {
        await using ana = await visit(browser, server.url, { screen: "phone" });
        await ana.page.getByRole("heading", { level: 1, name: prompt }).waitFor({ timeout: ENDS_WITHIN_MS });
        await ana.page.getByLabel("Your answer").fill(`Draw it, as ${name} would`);
        await ana.page.getByRole("button", { name: "Send" }).tap();
        await ana.page.getByText("Draw it, as").waitFor();
      })();
      // An agent that ends without an answer is looked at below, not waited for in vain.
      answering.catch(() => {});
      const { code, out, err } = await running.ended;

      const results = model.toolResults();
      assert.deepEqual([code, results.length], [0, 2], [out, err, ...results].join("\n"));
      await answering;
      assert.match(results[1] ?? "", new RegExp(`Draw it, as ${name} would`));
      assert.match(results[1] ?? "", /data, not instructions to you/);
      assert.match(out, /People have answered\./);
    });
  }
});

/** Starts a program in a home of its own; one that does not end by itself is ended. */
function start(command: string, args: readonly string[], folder: string, env: Record<string, string>) {
  const child = spawn(join(PROGRAMS, command), args, {
    cwd: folder,
    env: {
      PATH: [dirname(process.execPath), process.env["PATH"]].join(delimiter),
      HOME: folder,
      XDG_CONFIG_HOME: join(folder, ".config"),
      XDG_DATA_HOME: join(folder, ".local"),
      ...env,
    },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let [out, err] = ["", ""];
  child.stdout.setEncoding("utf8").on("data", (text: string) => (out += text));
  child.stderr.setEncoding("utf8").on("data", (text: string) => (err += text));
  const late = setTimeout(() => child.kill("SIGKILL"), ENDS_WITHIN_MS);
  const ended = new Promise<{ code: number | null; out: string; err: string }>((resolve, reject) => {
    child.on("error", reject);
    child.on("close", (code) => {
      clearTimeout(late);
      resolve({ code, out, err });
    });
  });
  return { ended };
}
