import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { until } from "../support/program.ts";
import type { Json } from "./dialects.ts";
import { type HookedSite, PROGRAMS, TASK } from "./hooked-site.ts";
import { opencodeSettings } from "./real-agents.ts";

/** opencode without its terminal: a person there speaks the same HTTP as its own screens do. */
export interface OpencodeServer extends AsyncDisposable {
  call(method: string, path: string, body?: object): Promise<unknown>;
  /** Gives opencode the task, and returns its session. */
  begin(): Promise<string>;
  /** Resolves once opencode has nothing more to do in a session. */
  idle(session: string): Promise<void>;
}

/** Starts `opencode serve` in a site's home; `permission` is what its user has configured. */
export async function openOpencode(site: HookedSite, model: string, permission: Json): Promise<OpencodeServer> {
  const settings = { ...opencodeSettings(model), autoupdate: false, share: "disabled", permission };
  mkdirSync(join(site.folder, ".config/opencode"), { recursive: true });
  writeFileSync(join(site.folder, ".config/opencode/opencode.json"), JSON.stringify(settings));
  // It installs what plugins may import, and would try that for a minute.
  const npm = { npm_config_fetch_retries: "0" };
  const offline = { ...npm, OPENCODE_DISABLE_AUTOUPDATE: "1", OPENCODE_DISABLE_MODELS_FETCH: "1" };
  const env = { ...site.env, ...offline, OPENCODE_DISABLE_LSP_DOWNLOAD: "1" };
  const child = spawn(join(PROGRAMS, "opencode"), ["serve", "--port", "0"], { cwd: site.folder, env });
  const ended = new Promise((resolve) => child.once("exit", resolve));
  let out = "";
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding("utf8").on("data", (text) => (out += text));
  const [url] = await until(() => /http:\/\/127\.0\.0\.1:\d+/.exec(out), `the address of opencode: ${out}`);
  const call = async (method: string, path: string, body?: object): Promise<unknown> => {
    const headers = { "content-type": "application/json" };
    const reply = await fetch(`${url}${path}`, { method, headers, ...(body && { body: JSON.stringify(body) }) });
    const text = await reply.text();
    assert.ok(reply.ok, `${path}: ${text}`);
    return text === "" ? undefined : (JSON.parse(text) as unknown);
  };
  return {
    call,
    async begin() {
      const { id } = (await call("POST", "/session", {})) as { id: string };
      await call("POST", `/session/${id}/prompt_async`, { parts: [{ type: "text", text: TASK }] });
      return id;
    },
    async idle(session) {
      const isIdle = async () => {
        const messages = (await call("GET", `/session/${session}/message`)) as { info: Json }[];
        const last = messages.at(-1)?.info;
        const { completed } = (last?.["time"] ?? {}) as { completed?: number };
        const states = (await call("GET", "/session/status")) as Record<string, { type: string }>;
        return (
          last?.["role"] === "assistant" && completed !== undefined && (states[session]?.type ?? "idle") === "idle"
        );
      };
      await until(isIdle, "the end of opencode's turn");
    },
    async [Symbol.asyncDispose]() {
      child.kill("SIGKILL");
      await ended;
    },
  };
}
