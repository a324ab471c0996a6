import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { createKey } from "../../src/access/create-key.ts";
import { ROOMY } from "../support/contract.ts";
import { converse, type Talk, endsOf } from "../support/conversation.ts";
import { somebody } from "../support/deciders.ts";
import { openWorld } from "../support/world.ts";
import { plantSettings } from "./planted.ts";
import { isMissing, REAL_AGENTS, type RealAgent } from "./real-agents.ts";
import { stepModel, type StepModel } from "./step-model.ts";

const root = mkdtempSync(join(tmpdir(), "parley-real-agents-"));
after(() => rmSync(root, { recursive: true, maxRetries: 5 }));
const MINUTE_MS = 60_000;
const never = new Promise<never>(() => {});

for (const [name, agent] of Object.entries<RealAgent>(REAL_AGENTS)) {
  const { settings, writes, runs } = agent;
  const run = (folder: string, model: StepModel, talk: Partial<Talk> = {}) => {
    const { env, ...rest } = agent.surroundings(model.url);
    const more = { env: { ...env, ...talk.env }, endsWithinMs: 90_000 };
    return converse({ folder, settings, message: "Do what has to be done.", ...rest, ...talk, ...more });
  };
  const prepared = (model: StepModel): string => {
    const folder = mkdtempSync(join(root, `${name}-`));
    mkdirSync(join(folder, "tree"));
    mkdirSync(join(folder, "home"), { mode: 0o700 });
    execFileSync("git", ["init", "--quiet"], { cwd: join(folder, "tree") });
    agent.prepare?.(folder, model.url);
    return folder;
  };
  const inTree = (folder: string, path: string) => join(folder, "tree", path);

  describe(`the real ${name}`, { skip: isMissing(agent) }, () => {
    it("asks before it writes and runs, does what was allowed, and hears why the rest was not", async () => {
      const folder = mkdtempSync(join(root, `${name}-`));
      const tree = join(folder, "tree");
      await using model = await stepModel([
        agent.write(join(tree, "hello.txt"), "hello\n"),
        agent.run("echo ran > ran.txt"),
        agent.run("touch no.txt"),
        { say: "All is done." },
      ]);
      mkdirSync(tree);
      agent.prepare?.(folder, model.url);
      const done = await run(folder, model, {
        decide: ({ resource }) =>
          resource.includes("no.txt") ? { allow: false, why: "Dana: use the fixture" } : { allow: true },
      });

      assert.equal(done.end.kind, "done", JSON.stringify([done.end, done.stderr]));
      assert.deepEqual(done.versions, [agent.version]);
      // Gemini CLI states a command in its title alone, over ACP.
      const titled = (command: string) => (name === "gemini" ? `${command} (the agent's title)` : command);
      assert.deepEqual(
        done.wishes.map(({ tool, action, resource }) => [tool, action, resource]),
        [
          [writes, "write", "hello.txt"],
          [runs, "execute", titled("echo ran > ran.txt")],
          [runs, "execute", titled("touch no.txt")],
        ],
      );
      assert.match(done.wishes[0]?.diff ?? "", /hello/);
      assert.deepEqual(
        ["hello.txt", "ran.txt", "no.txt"].map((path) => existsSync(join(tree, path))),
        [true, true, false],
      );
      assert.equal(readFileSync(join(tree, "hello.txt"), "utf8"), "hello\n");
      assert.match(JSON.stringify(model.latest()), /Dana: use the fixture/);
      assert.deepEqual(endsOf(done).slice(0, 2), ["done", "done"]);
      assert.ok(done.messages.includes("All is done."), done.messages.join("|"));
      assert.equal(done.exit.signal, null, "it went when its input was closed");
    });

    it("asks a person over Parley's MCP server, without being asked whether it may, and gets the answer", async () => {
      await using world = await openWorld({ on: "sqlite", running: true, env: ROOMY });
      const jane = await somebody(world);
      const { text: token } = await createKey(world.server.ctx, { name: `of-${name}`, scope: "agent" });
      const question = { message: "Which port?", to: jane.name, max_wait_seconds: 600 };
      await using model = await stepModel([...agent.people("contact_human", question), { say: "Asked." }]);
      const running = run(prepared(model), model, { mcp: { url: `${world.url}/mcp`, token } });
      const deciding = async (): Promise<void> => {
        // She looks for ten seconds at a time, and some agents need longer to ask.
        for (let looks = 1; ; looks += 1) {
          try {
            return void (await jane.decides({ text: "Port 4711, please." }));
          } catch (error) {
            if (looks === 6) throw error;
          }
        }
      };
      await Promise.race([deciding(), running]);
      const done = await running;

      assert.equal(done.end.kind, "done", JSON.stringify([done.end, done.stderr]));
      assert.match(model.results().at(-1) ?? "", /Port 4711, please\./);
      assert.deepEqual(done.wishes, []);
    });

    it("goes on with its session after it was killed while a decision was pending", async () => {
      await using model = await stepModel([agent.run("touch one.txt"), agent.run("touch two.txt"), { say: "Done." }]);
      const folder = prepared(model);
      let asked = 0;
      let kill: (signal: NodeJS.Signals) => void = () => undefined;
      const died = await run(folder, model, {
        onLine: (_line, hands) => void (kill = hands.kill),
        decide: async () => {
          if ((asked += 1) === 1) return { allow: true };
          // Agents save their session within a moment.
          await sleep(1500);
          kill("SIGKILL");
          return never;
        },
      });
      assert.deepEqual([died.end.kind, died.end.kind === "died" && died.end.canResume], ["died", true]);

      if (agent.spoilsYoungSessions) await sleep(MINUTE_MS - (Date.now() % MINUTE_MS) + 1000);
      const [resume = ""] = died.sessions;
      const gone = await run(folder, model, { resume, message: "Continue the task where you stopped." });
      assert.equal(gone.end.kind, "done", JSON.stringify([gone.end, gone.stderr]));
      assert.deepEqual(gone.sessions, [resume]);
      assert.match(JSON.stringify(model.latest()), /touch one\.txt.*Continue the task where you stopped/);
      assert.ok(existsSync(inTree(folder, "one.txt")));
    });

    it("says so when it does not know the session it is to go on with", async () => {
      await using model = await stepModel([]);
      const resume = name === "opencode" ? "ses_e01cf2885ffeAmmY18Vd40ByI0" : "01a1fe2a-b695-7d60-8a84-f18cfc864258";
      const lost = await run(prepared(model), model, { resume });
      assert.deepEqual([lost.end.kind, lost.end.kind === "died" && lost.end.canResume], ["died", false]);
    });

    it("stops when it is interrupted, and does nothing of what was pending", async () => {
      await using model = await stepModel([agent.run("touch late.txt"), { say: "Done." }]);
      const folder = prepared(model);
      const stopped = await run(folder, model, {
        decide: (_wish, stop) => {
          stop();
          return never;
        },
      });
      assert.deepEqual(stopped.end, { kind: "interrupted" });
      assert.ok(!existsSync(inTree(folder, "late.txt")));
    });

    it("has failed when its model has", async () => {
      await using model = await stepModel([{ status: 400 }]);
      const failed = await run(prepared(model), model);
      assert.equal(failed.end.kind, "failed", JSON.stringify([failed.end, failed.stderr]));
      assert.match(failed.end.kind === "failed" ? failed.end.error : "", /The model is out/);
    });

    it("runs nothing that the settings of a repository name, and still asks", { skip: !isKept(name) }, async () => {
      await using model = await stepModel([agent.run("touch asked.txt"), { say: "Done." }]);
      const folder = prepared(model);
      const evil = join(folder, "EVIL");
      plantSettings(join(folder, "tree"), () => `touch ${evil}`);
      const done = await run(folder, model, { decide: () => ({ allow: false, why: "no" }) });
      assert.equal(done.end.kind, "done", JSON.stringify([done.end, done.stderr]));
      assert.equal(done.wishes.length, 1);
      assert.ok(!existsSync(inTree(folder, "asked.txt")));
      assert.ok(!existsSync(evil));
    });
  });
}

const { codex } = REAL_AGENTS;
describe("the real codex with the model it would choose itself", { skip: isMissing(codex) }, () => {
  it("is told its key and where its model is, and asks for what a script of the model does", async () => {
    await using model = await stepModel([
      { call: "exec", text: 'text(await tools.exec_command({ cmd: "echo hi > ran.txt" }));' },
      { call: "exec", text: 'text(await tools.exec_command({ cmd: "touch no.txt" }));' },
    ]);
    const folder = mkdtempSync(join(root, "codex-"));
    const done = await converse({
      folder,
      settings: codex.settings,
      message: "Do it.",
      env: { OPENAI_API_KEY: "sk-key", OPENAI_BASE_URL: `${model.url}/v1` },
      decide: ({ resource }) => (resource === "touch no.txt" ? { allow: false, why: "no" } : { allow: true }),
    });
    assert.equal(done.end.kind, "done", JSON.stringify([done.end, done.stderr]));
    assert.deepEqual(
      done.wishes.map(({ action, resource }) => [action, resource]),
      [
        ["execute", "echo hi > ran.txt"],
        ["execute", "touch no.txt"],
      ],
    );
    assert.deepEqual(
      ["ran.txt", "no.txt"].map((path) => existsSync(join(folder, "tree", path))),
      [true, false],
    );
    assert.equal(model.latestKey(), "Bearer sk-key");
    assert.doesNotMatch(readFileSync(join(folder, "home/.codex/config.toml"), "utf8"), /sk-key/);
  });
});

/** Whether an agent is kept from a repository's settings; the others run in a sandbox only. */
function isKept(name: string): boolean {
  return name === "claude" || name === "codex";
}
