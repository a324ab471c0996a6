import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { newFolder, parley, ROOT, type Run, serve, start, stop, until } from "../support/program.ts";

const git = (cwd: string, ...args: string[]): string =>
  execFileSync("git", args, {
    cwd,
    encoding: "utf8",
    stdio: ["ignore", "pipe", "pipe"],
    env: {
      PATH: process.env["PATH"],
      HOME: ROOT,
      GIT_CONFIG_NOSYSTEM: "1",
      GIT_AUTHOR_NAME: "ana",
      GIT_AUTHOR_EMAIL: "ana@localhost",
      GIT_COMMITTER_NAME: "ana",
      GIT_COMMITTER_EMAIL: "ana@localhost",
    },
  });

/** A repository with one commit, and the settings that name it. */
function newShop(): { checkout: string; config: string } {
  const checkout = `${newFolder()}-shop`;
  mkdirSync(checkout);
  git(checkout, "init", "-q", "-b", "main");
  writeFileSync(join(checkout, "README.md"), "# Shop\n");
  git(checkout, "add", ".");
  git(checkout, "commit", "-q", "-m", "Begin");
  const config = `${checkout}.yaml`;
  const agents = { script: { type: "command", command: ["sh", "-c", SCRIPT] } };
  const repos = [{ name: "shop", path: checkout, agent: "script" }];
  writeFileSync(config, JSON.stringify({ repos, agents, assignment: { sandbox: "off" } }));
  return { checkout, config };
}

/** Does what its prompt names: fails, sleeps, or writes down its prompt. */
const SCRIPT = `case "$AA_PROMPT" in
  *fail*) echo "no such table" >&2; exit 3;;
  *sleep*) sleep 600;;
esac
printf '%s\\n' "$AA_PROMPT" > NOTES.md; echo "wrote NOTES.md"`;

describe("giving agents work from a terminal", () => {
  const dataDir = newFolder();
  let shop: { checkout: string; config: string };
  let server: Run & { url: string };
  let env: { PARLEY_URL: string; PARLEY_KEY: string };
  before(async () => {
    shop = newShop();
    server = await serve(dataDir, {}, "--config", shop.config);
    const made = await parley(["keys", "create", "planner", "--scope", "assign", "--person", "1"], {
      PARLEY_DATA_DIR: dataDir,
    });
    env = { PARLEY_URL: server.url, PARLEY_KEY: made.out.trim() };
  });
  after(() => stop(server));

  let names = 0;
  const newId = (): string => `card-${(names += 1)}`;
  /** Waits for a task that never comes, so nothing of it starts. */
  const blocked = async (id: string, ...more: string[]) =>
    parley(["assign", "Add VAT to the export", "--id", id, "--after", "never", ...more], env);

  it("prints the task's id, and says where it can be seen", async () => {
    const id = newId();
    const { code, out, err } = await blocked(id);
    assert.deepEqual([code, out], [0, `${id}\n`]);
    assert.equal(err, `blocked: never is not known yet; see it at ${server.url}/console/assignments/shop/${id}\n`);
    const made = await parley(["assign", "Name it yourself", "--after", "never"], env);
    assert.match(made.out, /^[0-9a-f]{12}\n$/);
  });

  it("takes the prompt from standard input, and prints JSON for programs", async () => {
    const id = newId();
    const run = start(["assign", "-", "--id", id, "--after", "never,nowhere", "--agent", "script", "--json"], env);
    run.child.stdin.end("Two lines\n\nof prompt\n");
    const { code, out } = await run.ended;
    assert.equal(code, 0);
    const task = JSON.parse(out) as Record<string, unknown>;
    assert.deepEqual(
      [task["id"], task["repo"], task["title"], task["state"], task["dependencies"]],
      [id, "shop", "Two lines", "blocked", ["never", "nowhere"]],
    );
    const shown = await parley(["task", "show", id, "--json"], env);
    assert.equal((JSON.parse(shown.out) as { prompt: string }).prompt, "Two lines\n\nof prompt\n");
    const empty = start(["assign", "-"], env);
    empty.child.stdin.end(" \n");
    assert.deepEqual((await empty.ended).code, 2);
  });

  it("lists and shows tasks, and says where one is reviewed", async () => {
    const id = newId();
    await blocked(id);
    const list = await parley(["task", "list", "--repo", "shop"], env);
    assert.match(
      list.out,
      new RegExp(`^ID +STATE +TITLE +AGENT +COMMIT\n[^]*^${id} +blocked +Add VAT to the export +script +-$`, "m"),
    );
    const { out } = await parley(["task", "show", id], env);
    assert.match(out, new RegExp(`^${id}: blocked: never is not known yet\nagent   script\nafter   never\n`));
    assert.match(out, /\n {2}Add VAT to the export\n$/);
    assert.equal((await parley(["task", "open", id], env)).out, `${server.url}/console/assignments/shop/${id}\n`);
    const log = await parley(["task", "log", id], env);
    assert.match(log.out, /^state {7}blocked: never is not known yet\n$/);
    const lines = (await parley(["task", "log", id, "--json"], env)).out.trim().split("\n");
    assert.deepEqual(
      lines.map((line) => (JSON.parse(line) as { type: string }).type),
      ["state"],
    );
  });

  it("follows a task until it is cancelled elsewhere, and then says 1", async () => {
    const id = newId();
    const run = start(["assign", "Add VAT to the export", "--id", id, "--after", "never", "--follow"], env);
    await until(() => run.err().includes("state       blocked"), "the first event");
    const cancelled = await parley(["task", "cancel", id], env);
    assert.equal(cancelled.out, `${id}: canceled: canceled by planner\n`);
    const { code, out, err } = await run.ended;
    assert.deepEqual([code, out], [1, "error   canceled by planner\n"]);
    assert.match(err, /\nstate {7}canceled: canceled by planner\n$/);
    const again = await parley(["task", "retry", id], env);
    assert.equal(again.out, `${id}: blocked: never is not known yet\n`);
  });

  it("leaves the task alone when it is interrupted", async () => {
    const id = newId();
    const run = start(["assign", "Add VAT to the export", "--id", id, "--after", "never", "--follow"], env);
    await until(() => run.err().includes("state       blocked"), "the first event");
    run.child.kill("SIGINT");
    const { code, err } = await run.ended;
    assert.equal(code, 130);
    assert.match(err, new RegExp(`The task goes on; see it again with: parley task log ${id} --follow\n$`));
    assert.match((await parley(["task", "show", id], env)).out, /: blocked/);
  });

  it("shows what a real agent does until its commit is there, and reviews it", async () => {
    const id = newId();
    const run = await parley(["assign", "Write this down", "--id", id, "--follow"], env);
    assert.equal(run.code, 0, run.err);
    const [, commit = ""] =
      /^commit {2}([0-9a-f]{40})\nbranch {2}aa\/card-[\w-]+\nchange {2}1 file, \+\d+ -0\n$/.exec(run.out) ?? [];
    assert.match(git(shop.checkout, "show", "--stat", commit), /Write this down[^]*AA-Task: card-/);
    assert.match(run.err, /^state {7}running$/m);
    assert.match(run.err, /wrote NOTES\.md/);
    assert.match(run.err, new RegExp(`Review it at ${server.url}/inbox/ask_\\w+\n$`));
    const opened = await parley(["task", "open", id], env);
    assert.match(opened.out, new RegExp(`^${server.url}/inbox/ask_\\w+\n$`));
    const approved = await parley(["task", "review", id, "--approve", "--comment", "Good."], env);
    assert.deepEqual([approved.code, approved.out], [0, `${id}: approved\n`]);
    const late = await parley(["task", "review", id, "--reject"], env);
    assert.equal(late.code, 1);
    assert.match((await parley(["task", "show", id], env)).out, /^review {2}approve by operator, .*: Good\.$/m);
  });

  it("says 1, and why, when the agent did not manage", async () => {
    const id = newId();
    const run = await parley(["assign", "Please fail", "--id", id, "--follow", "--json"], env);
    assert.equal(run.code, 1);
    const task = JSON.parse(run.out) as { state: string; error: string };
    assert.equal(task.state, "failed");
    assert.match(task.error, /no such table/);
  });

  it("cancels what runs", async () => {
    const id = newId();
    const run = start(["assign", "Now sleep", "--id", id, "--follow"], env);
    await until(() => /^state {7}running$/m.exec(run.err()), "the agent");
    assert.equal((await parley(["task", "cancel", id], env)).out, `${id}: canceled: canceled by planner\n`);
    assert.equal((await run.ended).code, 1);
  });

  it("says in one sentence what is missing or wrong", async () => {
    const url = { PARLEY_URL: server.url };
    const noKey = await parley(["assign", "Do it"], url);
    assert.equal(noKey.code, 1);
    assert.match(
      noKey.err,
      /^parley: work is given with a key: set PARLEY_KEY .*parley keys create my-terminal --scope assign --person 1\n$/,
    );
    const agent = await parley(["keys", "create", "asker", "--scope", "agent"], { PARLEY_DATA_DIR: dataDir });
    const wrong = await parley(["task", "list"], { ...url, PARLEY_KEY: agent.out.trim() });
    assert.match(wrong.err, /^parley: PARLEY_KEY is a key of scope agent; set PARLEY_KEY/);
    const unknown = await parley(["task", "list"], { ...url, PARLEY_KEY: "none" });
    assert.match(unknown.err, /^parley: the server does not take the key in PARLEY_KEY: set PARLEY_KEY/);
    assert.equal((await parley(["task", "show", "nothing"], env)).code, 1);
    assert.equal((await parley(["task", "log", "nothing"], env)).code, 1);
    assert.equal((await parley(["task", "list", "--repo", "nowhere"], env)).code, 1);
    const selfish = await parley(["assign", "Do it", "--id", "self", "--after", "self"], env);
    assert.deepEqual([selfish.code, selfish.err], [1, "parley: a task cannot depend on itself\n"]);
    assert.equal((await parley(["assign"], env)).code, 2);
    assert.equal((await parley(["task", "review", "card-1"], env)).code, 2);
    assert.equal((await parley(["task", "review", "card-1", "--approve", "--line", "nowhere"], env)).code, 2);
  });
});
