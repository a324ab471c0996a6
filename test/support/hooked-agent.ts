import assert from "node:assert/strict";
import { mkdirSync, writeFileSync, existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, it } from "node:test";
import { AGENTS } from "../../src/connect/registry.ts";
import { HOUR, ROOMY, sharedWorld, until } from "./contract.ts";
import { decider } from "./deciders.ts";
import { HOOK_PROGRAM, newFolder, parley, type Run, serve, start } from "./program.ts";

type Sent = Readonly<Record<string, unknown>>;

/** How an agent is tried whose permission prompts people answer. */
export interface HookedAgentTrial {
  name: string;
  /** A prompt as the agent sends it; people see this tool with these arguments. */
  prompt: Sent;
  tool: string;
  shown: Sent;
  /** The agent reads this after each decision. */
  allowed: Sent;
  denied(because: string): Sent;
  undecided(because: string): Sent;
  /** An edited input, and what the agent reads then. */
  edit?: { kwargs: Sent; printed: Sent };
  /** A hook that failed before it could ask prints this, with this exit code. */
  failed: { out: RegExp; exit: number };
  /** Its configuration of JSON below the home folder, and what parley writes into it for a command. */
  configuration?: { file: string; written(command: string, over: string): Sent };
}

/** Registers the tests that hold for each agent, through `parley hook NAME` against a real server. */
export function describeHookedAgent(trial: HookedAgentTrial): void {
  const { name, prompt } = trial;
  const hook = (url: string, input: unknown, ...flags: string[]): Run => {
    const run = start(["hook", name, ...flags], { PARLEY_URL: url });
    run.child.stdin.end(typeof input === "string" ? input : JSON.stringify(input));
    return run;
  };
  const printed = async (run: Run): Promise<string> => {
    const { code, out, err } = await run.ended;
    assert.equal(code, 0, err);
    return out;
  };
  const line = (value: Sent) => `${JSON.stringify(value)}\n`;

  describe(`a hook of ${name}, with a server`, () => {
    const world = sharedWorld({ on: "sqlite", env: ROOMY, at: Date.now() });

    it("shows people the tool and its whole input, and runs it once they approve", async () => {
      const operator = await decider(world(), "1");
      const asking = hook(world().url, prompt);
      const [ask] = await until(async () => ((await operator.inbox()).length > 0 ? operator.inbox() : undefined));
      const { body } = await operator.whole(ask?.id ?? "");
      const seen = (body.arguments as { name: string; text: string }[]).map((one) => [one.name, JSON.parse(one.text)]);
      assert.deepEqual([body.fn, Object.fromEntries(seen)], [trial.tool, trial.shown]);
      const { agentId } = (await AGENTS[name]?.load()) ?? assert.fail();
      assert.equal(body.agent, `${agentId} (without a key)`);
      assert.equal(body.editable, trial.edit !== undefined);
      await operator.decides({ approved: true });
      assert.equal(await printed(asking), line(trial.allowed));
    });

    it("denies with the reason that a person gives", async () => {
      const operator = await decider(world(), "1");
      const asking = hook(world().url, prompt);
      await operator.decides({ approved: false, comment: "move it away instead" });
      assert.equal(await printed(asking), line(trial.denied("Rejected by operator: move it away instead")));
    });

    it("denies after nobody has decided in time, and an answer that comes late changes nothing", async () => {
      const operator = await decider(world(), "1");
      const asking = hook(world().url, prompt);
      const [ask] = await until(async () => ((await operator.inbox()).length > 0 ? operator.inbox() : undefined));
      const late = await operator.whole(ask?.id ?? "");
      await world().advance(HOUR);
      assert.equal(await printed(asking), line(trial.denied("Not approved: nobody decided within 3600 s.")));
      const reply = await operator.decide(ask?.id ?? "", { approved: true, digest: late.body.digest });
      assert.notEqual(reply.status, 200);
    });

    const { edit } = trial;
    if (edit) {
      it("runs the input that a person has changed", async () => {
        const operator = await decider(world(), "1");
        const asking = hook(world().url, prompt);
        await operator.decides({ approved: true, kwargs: edit.kwargs });
        assert.equal(await printed(asking), line(edit.printed));
      });
    }

    it("denies what it cannot read, and leaves alone an event in which there is nothing to decide", async () => {
      const withList = (name: string, value: unknown) => (/^tool_?input$/i.test(name) ? [1] : value);
      for (const input of ["", "{", "[]", JSON.stringify(prompt, withList)]) {
        const { code, out, err } = await hook(world().url, input).ended;
        assert.equal(code, trial.failed.exit, `${input}${err}`);
        assert.match(out, trial.failed.out);
        assert.match(err, /^Parley denied it, because the hook could not ask anybody: /);
      }
      assert.equal((await hook(world().url, prompt, "--timeout", "never").ended).code, trial.failed.exit);
      const idle = await hook(world().url, { session_id: "s", hook_event_name: "Stop" }).ended;
      assert.deepEqual([idle.code, idle.out], [0, ""]);
    });
  });

  describe(`a hook of ${name}, without a server`, () => {
    it("approves nothing", async () => {
      const server = await serve(newFolder());
      server.child.kill("SIGTERM");
      await server.ended;
      const because = `Parley could not ask anybody. No Parley server answers at ${server.url}.`;
      assert.equal(await printed(hook(server.url, prompt)), line(trial.undecided(because)));
    });

    const { configuration } = trial;
    if (!configuration) return;
    it("is written and taken out again, and all else stays as it was", async () => {
      const home = newFolder();
      const file = join(home, configuration.file);
      // A project's settings cannot lead it to another server.
      const command = `${process.execPath} ${HOOK_PROGRAM} hook ${name} --url http://127.0.0.1:3415`;
      const run = (...args: string[]) => parley(["hook", ...args], { HOME: home });
      const first = await run("install", name);
      assert.equal(first.code, 0, first.err);
      const written = configuration.written(`${command} --reports`, `${command} --over`);
      assert.deepEqual(JSON.parse(readFileSync(file, "utf8")), written);
      assert.match((await run("install", name)).err, /holds it already/);
      await run("uninstall", name);
      assert.ok(!existsSync(file));

      const mine = `{"version": 1,\n\t"hooks": { "Stop": [ {"command": "notify"} ],\n "x": [1] }, "a" : 2 }\n`;
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, mine);
      assert.equal((await run("install", name)).code, 0);
      assert.notEqual(readFileSync(file, "utf8"), mine);
      await run("uninstall", name);
      assert.equal(readFileSync(file, "utf8"), mine);
    });
  });
}
