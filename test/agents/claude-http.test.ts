import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { describe, it } from "node:test";
import { fileURLToPath } from "node:url";
import { newFolder, parley, type Run, serve, stop, until } from "../support/program.ts";
import { isMissing, REAL_AGENTS } from "./real-agents.ts";
import { stepModel, type StepModel } from "./step-model.ts";

const PROGRAMS = fileURLToPath(new URL("node_modules/.bin", import.meta.url));

/** A server, its inbox, and a Claude Code whose hook `parley hook install` has written. */
interface Site extends AsyncDisposable {
  server: Run & { url: string };
  inbox(): Promise<{ id: string; title: string }[]>;
  /** Decides the only request that waits. */
  decide(flags: (digest: string) => string[]): Promise<void>;
  /** Starts Claude Code, whose model wants to run a command. */
  release(): { ended: Promise<number | null>; stop(): void };
  told(): string;
  isReleased(): boolean;
}

async function openSite(): Promise<Site> {
  const [folder, dataDir] = [newFolder(), newFolder()];
  mkdirSync(folder, { recursive: true });
  const server = await serve(dataDir);
  const store = { PARLEY_DATA_DIR: dataDir };
  const keyOf = async (...args: string[]) => (await parley(["keys", "create", ...args], store)).out.trim();
  const key = await keyOf("coder", "--scope", "agent");
  const phone = { PARLEY_URL: server.url, PARLEY_KEY: await keyOf("phone", "--scope", "answer", "--person", "1") };
  const path = [PROGRAMS, dirname(process.execPath), process.env["PATH"]].join(delimiter);
  const env = { PATH: path, HOME: folder, PARLEY_URL: server.url, PARLEY_KEY: key };
  const { code, err } = await parley(["hook", "install", "claude"], env);
  assert.equal(code, 0, err);
  assert.match(readFileSync(join(folder, ".claude/settings.json"), "utf8"), /"type": "http"/);
  const input = { command: "touch released.txt", description: "Release it" };
  const model: StepModel = await stepModel([{ call: "Bash", input }, { say: "That was that." }]);
  const inbox = async () =>
    JSON.parse((await parley(["inbox", "--json"], phone)).out) as { id: string; title: string }[];
  return {
    server,
    inbox,
    async decide(flags) {
      const [ask] = await until(async () => ((await inbox()).length === 1 ? inbox() : undefined), "the request");
      const id = ask?.id ?? "";
      const { digest } = JSON.parse((await parley(["inbox", id, "--json"], phone)).out) as { digest: string };
      const { code: decided, err: said } = await parley(["inbox", id, ...flags(digest)], phone);
      assert.equal(decided, 0, said);
    },
    release() {
      const child = spawn(join(PROGRAMS, "claude"), ["-p", "Release version 1.4.2", "--model", "claude-sonnet-4-5"], {
        cwd: folder,
        stdio: "ignore",
        env: {
          ...env,
          ANTHROPIC_BASE_URL: model.url,
          ANTHROPIC_API_KEY: "none",
          CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
          DISABLE_AUTOUPDATER: "1",
        },
      });
      const ended = new Promise<number | null>((resolve) => child.once("exit", resolve));
      return { ended, stop: () => void child.kill("SIGINT") };
    },
    told: () => model.results().join("\n"),
    isReleased: () => existsSync(join(folder, "released.txt")),
    async [Symbol.asyncDispose]() {
      await model[Symbol.asyncDispose]();
      await stop(server);
    },
  };
}

describe("an unmodified Claude Code that sends its prompts by HTTP", { skip: isMissing(REAL_AGENTS.claude) }, () => {
  it("runs what a person approves", async () => {
    await using site = await openSite();
    const { ended } = site.release();
    await site.decide((digest) => ["--approve", digest]);
    await ended;
    assert.equal(site.isReleased(), true);
    assert.deepEqual(await site.inbox(), []);
  });

  it("does not run what a person rejects, and tells its model why", async () => {
    await using site = await openSite();
    const { ended } = site.release();
    await site.decide(() => ["--reject", "--comment", "use the staging bucket"]);
    await ended;
    assert.equal(site.isReleased(), false);
    assert.match(site.told(), /use the staging bucket/);
  });

  it("runs nothing where no server answers", async () => {
    await using site = await openSite();
    await stop(site.server);
    await site.release().ended;
    assert.equal(site.isReleased(), false);
    assert.match(site.told(), /needs approval|permission/);
  });

  for (const signal of ["SIGKILL", "SIGTERM"] as const) {
    it(`runs nothing after the server ended by ${signal} while it waited`, async () => {
      await using site = await openSite();
      const { ended } = site.release();
      await until(async () => (await site.inbox()).length === 1, "the request");
      site.server.child.kill(signal);
      await ended;
      assert.equal(site.isReleased(), false);
    });
  }

  it("withdraws its request when it is interrupted", async () => {
    await using site = await openSite();
    const running = site.release();
    await until(async () => (await site.inbox()).length === 1, "the request");
    running.stop();
    await running.ended;
    await until(async () => (await site.inbox()).length === 0, "the withdrawal");
    assert.equal(site.isReleased(), false);
  });
});
