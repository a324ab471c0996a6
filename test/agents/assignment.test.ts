import assert from "node:assert/strict";
import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { createKey } from "../../src/access/create-key.ts";
import { createSignInLink } from "../../src/access/create-sign-in-link.ts";
import { OPERATOR } from "../support/identities.ts";
import { sql } from "../../src/core/store/sql.ts";
import { type Browser, launchBrowser } from "../browser/chromium.ts";
import { visit } from "../browser/visitor.ts";
import { exists, fingerprint, gitIn, openGitWorld, put, type GitWorld } from "../support/workshop-git.ts";
import { openWorld, type World } from "../support/world.ts";
import { stepModel, type Step, type StepModel } from "./step-model.ts";

const CLAUDE = fileURLToPath(new URL("node_modules/.bin/claude", import.meta.url));
const LOOKS = 600;
/** Objects, and what is Parley's own, may come; everything else of the user's stays. */
const OURS = /^\.git\/(?:objects|(?:logs\/)?refs\/(?:aa|heads\/aa))(?:\/|$)/;

interface Shown {
  id: string;
  state: string;
  commit?: string;
  error?: string;
  question?: { url: string };
}

/** The steps that the model takes for each prompt of a task. */
const PLAYS: Readonly<Record<string, readonly Step[]>> = {
  "write a": [write("a.txt", "a\n")],
  "write b": [write("b.txt", "b\n")],
  "write c": [write("c.txt", "c\n")],
  "write d": [{ call: "Bash", input: { command: "cat a.txt b.txt c.txt > d.txt" } }],
  "title one": [write("title.txt", "one\n")],
  "title two": [write("title.txt", "two\n")],
  "title both": [write("title.txt", "one and two\n"), write("note.txt", "resolved\n")],
  "three commands": [
    { call: "Bash", input: { command: "echo allowed > allowed.txt" } },
    { call: "Bash", input: { command: "touch approved.txt" } },
    { call: "Bash", input: { command: "touch denied.txt" } },
  ],
};

function write(path: string, text: string): Step {
  return { call: "Write", input: { file_path: `/parley/tree/${path}`, content: text } };
}

describe("work that is given to the real Claude Code", () => {
  let user: GitWorld;
  let world: World;
  let model: StepModel;
  let browser: Browser;
  let key = "";
  before(async () => {
    user = await openGitWorld();
    model = await stepModel((results, asked) => {
      // Below the first line: Claude Code shows its model the first lines of earlier commits.
      const told = JSON.stringify(asked["messages"] ?? asked);
      const [, play] = Object.entries(PLAYS).find(([words]) => told.includes(`Play: ${words}.`)) ?? [];
      return play?.[results.length] ?? { say: "That is all." };
    });
    process.env["ANTHROPIC_BASE_URL"] = model.url;
    process.env["ANTHROPIC_API_KEY"] = "none";
    const config = join(user.folder, "parley.yaml");
    const settings = {
      repos: [{ name: "shop", path: user.user }],
      agents: {
        claude: { type: "claude", command: [CLAUDE], pass_env: ["ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL"] },
      },
    };
    writeFileSync(config, JSON.stringify(settings), { mode: 0o600 });
    world = await openWorld({ on: "sqlite", running: true, env: { PARLEY_CONFIG: config } });
    key = (await createKey(world.server.ctx, { name: "cards", scope: "assign", person: OPERATOR })).text;
    browser = await launchBrowser();
  });
  after(async () => {
    for (const id of ["a", "b", "c", "d", "t1", "t2", "both", "three"]) {
      await world?.call("DELETE", `/assignment?id=${id}`, { headers: { authorization: `Bearer ${key}` } });
    }
    await browser?.close();
    await world?.[Symbol.asyncDispose]();
    await model?.[Symbol.asyncDispose]();
    user?.[Symbol.dispose]();
  });

  const post = async (body: Record<string, unknown>): Promise<void> => {
    const reply = await world.call("POST", "/assignment", { body, headers: { authorization: `Bearer ${key}` } });
    assert.equal(reply.status, 202, reply.text);
  };
  const shown = async (id: string): Promise<Shown> => {
    const { body } = await world.call("GET", `/assignment?id=${id}`, { headers: { authorization: `Bearer ${key}` } });
    return (body as { tasks: Shown[] }).tasks[0] ?? assert.fail(`no task ${id}`);
  };
  const until = async (id: string, ...states: string[]): Promise<Shown> => {
    for (let i = 0; i < LOOKS; i += 1) {
      const task = await shown(id);
      if (states.includes(task.state)) return task;
      if (task.error !== undefined) assert.fail(`${id} is ${task.state}: ${task.error}`);
      await sleep(200);
    }
    return assert.fail(`${id} never came to ${states.join(" or ")}:\n${await told(id)}`);
  };
  /** Where a person finds what a task waits for, once that is something else than `former`. */
  const questionAbout = async (id: string, former?: string): Promise<string> => {
    for (let i = 0; i < LOOKS; i += 1) {
      const { url } = (await shown(id)).question ?? {};
      // It names an ask as soon as people have it.
      if (url !== undefined && url !== former && /\/inbox\/ask_/.test(url)) return url;
      await sleep(200);
    }
    return assert.fail(`${id} asks nothing`);
  };
  const told = async (id: string): Promise<string> => {
    const rows = await world.server.ctx.db.all<{ type: string; data_json: string }>(
      sql`SELECT type, data_json FROM task_events WHERE id = ${id} ORDER BY seq`,
    );
    return rows.map(({ type, data_json }) => `${type} ${data_json.slice(0, 500)}`).join("\n");
  };
  /** Opens the inbox on a phone, signed in as the operator. */
  const onPhone = async () => {
    const { code } = await createSignInLink(world.server.ctx, OPERATOR);
    const visitor = await visit(browser, world.url, { screen: "phone", path: `/inbox#start=${code}` });
    await visitor.page.getByRole("heading", { name: "Inbox" }).waitFor();
    return visitor;
  };

  it("makes a diamond of one commit each, beside a dirty checkout that stays the same to the byte", async () => {
    put(user.user, "src/one.ts", "export const one = 11;\n");
    put(user.user, "staged.txt", "staged\n");
    gitIn(user.user, "add", "staged.txt");
    put(user.user, "stashed.txt", "stashed\n");
    gitIn(user.user, "stash", "push", "--quiet", "-u", "--", "stashed.txt");
    put(user.user, "untracked.txt", "untracked\n");
    for (const hook of ["pre-commit", "post-commit", "post-checkout", "reference-transaction", "post-merge"]) {
      mkdirSync(join(user.user, ".git/hooks"), { recursive: true });
      put(user.user, `.git/hooks/${hook}`, `#!/bin/sh\ntouch ${user.witness}\nexit 1\n`);
      chmodSync(join(user.user, ".git/hooks", hook), 0o755);
    }
    const before = fingerprint(user.user, (path) => OURS.test(path));

    await post({
      id: "d",
      prompt: "Write d\n\nPlay: write d. All of it, as the others left it.",
      dependencies: ["b", "c"],
    });
    await post({ id: "b", prompt: "Write b\n\nPlay: write b.", dependencies: ["a"] });
    await post({ id: "c", prompt: "Write c\n\nPlay: write c.", dependencies: ["a"] });
    await post({ id: "a", prompt: "Write a\n\nPlay: write a." });
    const done = await until("d", "review");

    assert.deepEqual(
      fingerprint(user.user, (path) => OURS.test(path)),
      before,
    );
    assert.ok(!exists(user.witness), "no hook ran");
    const commit = done.commit ?? assert.fail("a completed task has its commit");
    assert.equal(gitIn(user.user, "show", `${commit}:d.txt`), "a\nb\nc");
    const message = gitIn(user.user, "log", "-1", "--format=%B", commit);
    assert.match(message, /^Write d\n\nWrite d\n\nPlay: write d\. All of it, as the others left it\.\n\nAA-Task: d\n/);
    const listed = gitIn(user.user, "log", "--format=%s", "--no-merges", `main..${commit}`).split("\n").sort();
    assert.deepEqual(listed, ["Write a", "Write b", "Write c", "Write d"]);
  });

  it("asks a person about dependencies that do not merge, and resolves them as the person says", async () => {
    await post({ id: "t1", prompt: "Title one\n\nPlay: title one." });
    await post({ id: "t2", prompt: "Title two\n\nPlay: title two." });
    await post({ id: "both", prompt: "Title both\n\nPlay: title both.", dependencies: ["t1", "t2"] });
    await until("both", "conflict");

    await using dana = await onPhone();
    await dana.page.getByText("Conflict before both").first().tap();
    await dana.page.getByText("The agent resolves it").tap();
    await dana.page.getByRole("button", { name: "Send" }).tap();
    const done = await until("both", "review");
    assert.equal(gitIn(user.user, "show", `${done.commit}:title.txt`), "one and two");
  });

  it("may run what a rule allows and what a person approves, and is told why the rest is denied", async () => {
    writeFileSync(
      world.config.relay.policyFile,
      [
        "version: 7",
        "rules:",
        "  - { id: echo, when: { action: execute, resource: echo allowed > allowed.txt }, decision: ALLOW }",
        "  - { id: touch, when: { action: execute, resource: 'touch *' }, decision: ESCALATE }",
        "defaults: { read: ALLOW, other: ESCALATE }",
        "",
      ].join("\n"),
    );
    await world.server.reload();
    await post({ id: "three", prompt: "Three commands\n\nPlay: three commands." });
    await until("three", "awaiting_answer");

    await using dana = await onPhone();
    // Nobody is in a hurry, and nothing times out.
    await sleep(5000);
    const first = await questionAbout("three");
    await dana.page.goto(first);
    await dana.page.getByText("touch approved.txt", { exact: true }).waitFor();
    await dana.page.getByRole("button", { name: "Approve" }).tap();
    await dana.page.getByRole("dialog").getByRole("button", { name: "Approve" }).tap();
    await dana.page.getByText("Approved by you").waitFor();
    const second = await questionAbout("three", first);
    await dana.page.goto(second);
    await dana.page.getByText("touch denied.txt", { exact: true }).waitFor();
    await dana.page.getByRole("button", { name: "Reject" }).tap();
    await dana.page.getByRole("dialog").getByLabel("Reason").fill("we keep no such file");
    await dana.page.getByRole("dialog").getByRole("button", { name: "Reject" }).tap();

    const done = await until("three", "review");
    const files = gitIn(user.user, "ls-tree", "--name-only", done.commit ?? "").split("\n");
    assert.ok(files.includes("allowed.txt") && files.includes("approved.txt"), files.join(" "));
    assert.ok(!files.includes("denied.txt"));
    assert.match(model.results().join("\n"), /we keep no such file/);
  });
});
