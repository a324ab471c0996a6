import assert from "node:assert/strict";
import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { systemClock } from "../../src/lib/clock.ts";
import { VERSION } from "../../src/lib/version.ts";
import { selfTest } from "../../src/workshop/sandbox/sandbox.ts";
import { greetingsIn } from "../support/log-lines.ts";
import { until } from "../support/program.ts";
import { newAsk } from "../support/relay.ts";
import { type ScriptedLlm, scriptedLlm } from "../support/scripted-llm.ts";

const run = promisify(execFile);
const BUILD = fileURLToPath(new URL("../../scripts/build-binary.mjs", import.meta.url));
/** It is made on Linux only. */
const isMadeHere = process.platform === "linux";
const itOnLinux = isMadeHere ? it : it.skip;

describe("the single executable", () => {
  const folder = mkdtempSync(join(tmpdir(), "parley-binary-test-"));
  const binary = join(folder, "parley");
  const home = join(folder, "home");
  const dataDir = join(folder, "data");
  const config = join(folder, "parley.yaml");
  const shop = join(folder, "shop");
  /** No program is in reach: no Node, no shell, no git. */
  const bare: Record<string, string> = {
    PATH: "",
    HOME: home,
    PARLEY_DATA_DIR: dataDir,
    PARLEY_DATABASE_WAIT_MS: "60000",
  };
  const running = new Set<ChildProcess>();
  let llm: ScriptedLlm;
  let url = "";

  const parley = (args: readonly string[], env = bare) =>
    run(binary, args, { env: { ...env, PARLEY_URL: url }, cwd: folder });

  async function serve(env: Record<string, string>, ...flags: string[]): Promise<{ stop(): Promise<void> }> {
    const child = spawn(binary, ["serve", "--port", "0", ...flags], { env, cwd: folder });
    let said = "";
    for (const stream of [child.stdout, child.stderr]) stream.setEncoding("utf8").on("data", (text) => (said += text));
    running.add(child);
    const exited = once(child, "exit").finally(() => running.delete(child));
    await until(() => greetingsIn(said).length > 0 || child.exitCode !== null, "the greeting");
    url = /http:\/\/127\.0\.0\.1:\d+/.exec(said)?.[0] ?? assert.fail(said);
    return {
      async stop() {
        child.kill("SIGTERM");
        assert.deepEqual(await exited, [0, null], said);
      },
    };
  }

  before(async () => {
    mkdirSync(home);
    llm = await scriptedLlm(() => '{"answer_text": "EUR"}');
    if (isMadeHere) await run(process.execPath, [BUILD, binary]);
  });
  after(async () => {
    for (const child of running) child.kill("SIGKILL");
    await llm[Symbol.asyncDispose]();
    rmSync(folder, { recursive: true, force: true });
  });

  itOnLinux("says its version, and unpacks its files once into the user's cache", async () => {
    const versions = await Promise.all([parley(["--version"]), parley(["--version"])]);
    for (const { stdout, stderr } of versions) assert.deepEqual([stdout, stderr], [`${VERSION}\n`, ""]);
    const unpacked = readdirSync(join(home, ".cache", "parley")).join();
    assert.match(unpacked.replace(VERSION, ""), /^-[0-9a-f]{16}$/);
  });

  itOnLinux("finds another place where others may write in the cache, and says so where there is none", async () => {
    const cache = join(folder, "cache");
    const temporary = join(folder, "temporary");
    for (const place of [cache, temporary]) mkdirSync(place);
    mkdirSync(join(cache, "parley"));
    chmodSync(join(cache, "parley"), 0o777);
    await parley(["--version"], { ...bare, XDG_CACHE_HOME: cache, TMPDIR: temporary });
    assert.deepEqual(readdirSync(join(cache, "parley")), []);
    assert.match(readdirSync(temporary).join(), /^parley-\d+$/);
    const file = join(folder, "file");
    writeFileSync(file, "");
    await assert.rejects(parley(["--version"], { ...bare, XDG_CACHE_HOME: file, TMPDIR: file }), {
      code: 1,
      stderr: /^parley: its files have no place here \((ENOTDIR.*; ENOTDIR|EEXIST.*; ENOTDIR).*\n$/,
    });
  });

  itOnLinux(
    "serves the web app, asks, answers, searches for secrets and has a model answer, with nothing on the PATH",
    async () => {
      writeFileSync(join(folder, "policy.yaml"), "version: 1\ndefaults: { read: ALLOW, other: ESCALATE }\n");
      const settings = {
        relay: { policy_file: join(folder, "policy.yaml") },
        runner: { model: "openai-compatible/scripted", base_url: `${llm.url}/v1` },
      };
      writeFileSync(config, JSON.stringify(settings));
      const server = await serve(bare, "--config", config);
      const page = await (await fetch(url)).text();
      const script = /src="(\/assets\/[^"]+\.js)"/.exec(page)?.[1] ?? assert.fail(page);
      assert.equal((await fetch(url + script)).status, 200);

      const asked = await parley(["ask", "Which label is clearer?", "--options", "Send,Submit", "--min", "1"]);
      const question = asked.stdout.trim();
      await parley(["answer", question, "--option", "2"]);
      assert.match(
        (await parley(["check", question])).stdout,
        /\n {2}Submit {4}1 .*\n1 of 1 answer from one network, closed .+\n$/,
      );
      await parley(["doctor"]);

      const key = await newKey("executor");
      const secret = "ghp_0123456789abcdefghijklmnopqrstuvwxyz";
      const answer = await answered(key, newAsk({ ask_type: "RESOURCE_FETCH", prompt: `Is ${secret} in euros?` }));
      assert.deepEqual([answer["source"], answer["answer_text"]], ["runner", "EUR"]);
      assert.match(llm.heard[0]?.user ?? "", /in euros/);
      assert.ok(!llm.heard[0]?.user.includes(secret));

      await parley(["serve", "--replace"]);
      assert.equal((await fetch(`${url}/readyz`)).status, 200);
      await server.stop();
    },
  );

  itOnLinux("gives work to a coding agent, in a sandbox where there is one", async () => {
    mkdirSync(shop);
    const git = (...args: string[]) =>
      run("git", ["-c", "user.name=ana", "-c", "user.email=ana@localhost", ...args], { cwd: shop });
    await git("init", "-q", "-b", "main");
    await git("commit", "-q", "--allow-empty", "-m", "Begin");
    const hasSandbox = (await selfTest({ dataFolder: folder, clock: systemClock })).kind === "bubblewrap";
    const agents = { script: { type: "command", command: ["sh", "-c", "echo done > NOTES.md"] } };
    const assignment = { sandbox: hasSandbox ? "require" : "off" };
    writeFileSync(
      config,
      JSON.stringify({ repos: [{ name: "shop", path: shop, agent: "script" }], agents, assignment }),
    );
    const server = await serve({ ...bare, PATH: "/usr/bin:/bin" }, "--config", config);
    const key = await newKey("assign", "--person", "1");
    const done = await parley(["assign", "Write it down", "--follow"], { ...bare, PARLEY_KEY: key });
    const [, commit = ""] = /^commit {2}([0-9a-f]{40})$/m.exec(done.stdout) ?? [];
    assert.equal((await git("show", `${commit}:NOTES.md`)).stdout, "done\n");
    await server.stop();
  });

  async function newKey(scope: string, ...flags: string[]): Promise<string> {
    return (await parley(["keys", "create", scope, "--scope", scope, ...flags])).stdout.trim();
  }

  async function answered(key: string, ask: object): Promise<Record<string, unknown>> {
    const headers = { "content-type": "application/json", authorization: `Bearer ${key}` };
    const posted = await fetch(`${url}/asks`, { method: "POST", headers, body: JSON.stringify(ask) });
    const body = (await posted.json()) as { ask_id: string };
    assert.equal(posted.status, 202, JSON.stringify(body));
    const reply = await fetch(`${url}/asks/${body.ask_id}/answer?wait=25s`, { headers });
    return (await reply.json()) as Record<string, unknown>;
  }
});
