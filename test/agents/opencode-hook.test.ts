import assert from "node:assert/strict";
import { realpathSync } from "node:fs";
import { describe, it } from "node:test";
import { until } from "../support/program.ts";
import type { Json } from "./dialects.ts";
import { APPROVE, folderIn, type HookedSite, openHookedSite, REASON, REJECT } from "./hooked-site.ts";
import { openOpencode, type OpencodeServer } from "./opencode-server.ts";
import { isMissing, REAL_AGENTS } from "./real-agents.ts";
import { stepModel, type Step, type StepModel } from "./step-model.ts";

const RELEASE = REAL_AGENTS.opencode.run("touch released.txt");

interface Running extends AsyncDisposable {
  site: HookedSite;
  model: StepModel;
  opencode: OpencodeServer;
}

/** Opens a site with an opencode that asks before it runs a command. */
async function open(step: Step = RELEASE, permission: Json = { bash: "ask" }): Promise<Running> {
  const stack = new AsyncDisposableStack();
  const site = stack.use(await openHookedSite("opencode"));
  const model = stack.use(await stepModel([step, { say: "That was that." }]));
  const opencode = stack.use(await openOpencode(site, model.url, permission));
  return { site, model, opencode, [Symbol.asyncDispose]: () => stack.disposeAsync() };
}

/** Resolves with the prompt at opencode's own terminal. */
function prompted({ opencode }: Running): Promise<{ id: string; sessionID: string }> {
  return until(async () => ((await opencode.call("GET", "/permission")) as { id: string; sessionID: string }[])[0]);
}

describe("an unmodified opencode", { skip: isMissing(REAL_AGENTS.opencode) }, () => {
  it("runs what a person approves, who sees the whole input", async () => {
    await using running = await open();
    const { site, opencode } = running;
    const session = await opencode.begin();
    const { arguments: shown } = await site.waiting("bash");
    assert.match(JSON.stringify(shown), /touch released\.txt/);
    assert.equal(site.isReleased(), false);
    assert.equal(folderIn(await site.waiting("bash")), realpathSync(site.folder));
    await site.decide("bash", APPROVE);
    await opencode.idle(session);
    assert.equal(site.isReleased(), true);
  });

  for (const [command, end] of [
    ["touch released.txt", "done"],
    ["touch released.txt; exit 3", "failed, exit 3"],
  ] as const) {
    it(`has an approved call end as ${end} after ${command}`, async () => {
      await using running = await open(REAL_AGENTS.opencode.run(command));
      const session = await running.opencode.begin();
      await running.site.decide("bash", APPROVE);
      await running.opencode.idle(session);
      assert.deepEqual(await running.site.ends(), [end]);
    });
  }

  it("does not run what a person rejects, and tells its model why", async () => {
    await using running = await open();
    const { site, opencode, model } = running;
    const session = await opencode.begin();
    await site.decide("bash", REJECT);
    await opencode.idle(session);
    assert.equal(site.isReleased(), false);
    assert.match(model.results().join("\n"), REASON);
  });

  it("tells its model why a person rejects a call, also where another call still waits", async () => {
    const beside = { call: "write", input: { filePath: "notes.txt", content: "x\n" } };
    await using running = await open({ ...RELEASE, beside }, { bash: "ask", edit: "ask" });
    const { site, opencode, model } = running;
    const session = await opencode.begin();
    await site.waiting("edit");
    await site.decide("bash", REJECT);
    await until(() => REASON.test(JSON.stringify(model.latest())), "the reason");
    await opencode.idle(session);
    await site.emptied();
    assert.match(JSON.stringify(model.latest()), /use the staging bucket.{1,40}opencode has refused your other calls/);
    assert.deepEqual(["released.txt", "notes.txt"].map(site.isReleased), [false, false]);
  });

  it("withdraws the request from people once somebody has answered at its terminal", async () => {
    await using running = await open();
    const { site, opencode } = running;
    const session = await opencode.begin();
    await site.waiting("bash");
    const { id } = await prompted(running);
    await opencode.call("POST", `/permission/${id}/reply`, { reply: "once" });
    await opencode.idle(session);
    assert.equal(site.isReleased(), true);
    await site.emptied();
  });

  it("asks at its terminal alone where no server answers", async () => {
    await using running = await open();
    const { site, opencode } = running;
    await site.killServer();
    const session = await opencode.begin();
    await until(() => site.hooks().length > 0, "the hook");
    await until(() => site.hooks().length === 0, "the end of the hook");
    const { id } = await prompted(running);
    assert.equal(site.isReleased(), false);
    await opencode.call("POST", `/permission/${id}/reply`, { reply: "once" });
    await opencode.idle(session);
    assert.equal(site.isReleased(), true);
  });

  it("gets the decision of a server that was killed in the middle and has come back", async () => {
    await using running = await open();
    const { site, opencode } = running;
    const session = await opencode.begin();
    await site.waiting("bash");
    await site.killServer();
    await site.restartServer();
    assert.equal(site.isReleased(), false);
    await site.decide("bash", APPROVE);
    await opencode.idle(session);
    assert.equal(site.isReleased(), true);
  });

  it("runs nothing when its hook is killed: its terminal still asks", async () => {
    await using running = await open();
    const { site } = running;
    await running.opencode.begin();
    await site.waiting("bash");
    for (const pid of site.hooks()) process.kill(pid, "SIGKILL");
    await until(() => site.hooks().length === 0, "the end of the hook");
    await prompted(running);
    assert.equal(site.isReleased(), false);
  });

  for (const [how, path] of Object.entries({ interrupted: "/session/ID/abort", closed: "/instance/dispose" })) {
    it(`withdraws its request when it is ${how}`, async () => {
      await using running = await open();
      const { site, opencode } = running;
      const session = await opencode.begin();
      await site.waiting("bash");
      await opencode.call("POST", path.replace("ID", session));
      await site.emptied();
      assert.equal(site.isReleased(), false);
    });
  }

  it("withdraws its request when it is killed outright", async () => {
    await using running = await open();
    const { site, opencode } = running;
    await opencode.begin();
    await site.waiting("bash");
    site.killAgent();
    await site.emptied();
    assert.equal(site.isReleased(), false);
  });

  it("gives its model the options that a person has chosen of its question", async () => {
    const options = ["lint", "unit", "e2e"].map((label) => ({ label, description: `Run ${label}` }));
    const questions = [
      { question: "Which checks?", header: "Checks", multiple: true, options },
      { question: "Which one first?", header: "First", multiple: false, options },
    ];
    await using running = await open({ call: "question", input: { questions } });
    const { site, opencode, model } = running;
    const session = await opencode.begin();
    await site.decide("Checks", () => ["--text", "#1, e2e"]);
    await site.decide("First", () => ["--option", "option_2"]);
    await opencode.idle(session);
    const told = model.results().join("\n");
    assert.match(told, /"Which checks\?"="lint, e2e", "Which one first\?"="unit"/);
  });
});
