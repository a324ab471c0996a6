import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { fileURLToPath } from "node:url";
import { newFolder, parley, post, type Run, serve, start, stop, until } from "../support/program.ts";

const NODE = process.execPath;
const ROOT_FOLDER = fileURLToPath(new URL("../..", import.meta.url));

describe("parley exec", { concurrency: true }, () => {
  const dataDir = newFolder();
  let server: Run & { url: string };
  let env: { PARLEY_URL: string; PARLEY_KEY: string };
  const keys = { planner: "", boss: "" };
  before(async () => {
    server = await serve(dataDir);
    const keyOf = async (name: string, scope: string) =>
      (await parley(["keys", "create", name, "--scope", scope], { PARLEY_DATA_DIR: dataDir })).out.trim();
    env = { PARLEY_URL: server.url, PARLEY_KEY: await keyOf("builder", "executor") };
    keys.planner = await keyOf("planner", "assign");
    keys.boss = await keyOf("boss", "admin");
  });
  after(() => stop(server));

  let kinds = 0;
  const freshKind = () => `kind-${(kinds += 1)}`;
  const as = (key: string) => ({ authorization: `Bearer ${key}` });
  async function queue(body: Record<string, unknown>): Promise<string> {
    const reply = await post(server.url, "/jobs", body, as(keys.planner));
    assert.equal(reply.status, 201);
    return ((await reply.json()) as { job_id: string }).job_id;
  }
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- tests read bodies of every shape
  const read = async (path: string): Promise<any> =>
    (await fetch(`${server.url}${path}`, { headers: as(keys.boss) })).json();
  async function logsOf(id: string): Promise<string[]> {
    const events = await fetch(`${server.url}/jobs/${id}/events?after=0`, { headers: as(keys.boss) });
    let text = "";
    const decoder = new TextDecoder();
    for await (const part of events.body ?? []) {
      text += decoder.decode(part as Uint8Array, { stream: true });
      if (/"state":"(SUCCEEDED|FAILED)"/.test(text)) break;
    }
    return [...text.matchAll(/^event: log\ndata: (.*)$/gm)].map(
      ([, data = ""]) => (JSON.parse(data) as { message: string }).message,
    );
  }

  it("gives a command the job, keeps what it writes, and ends the job as it ends", async () => {
    const kind = freshKind();
    const id = await queue({ kind, spec: { table: "orders" }, repo: "shop", env: "staging" });
    const script = `
      let spec = ""; for await (const part of process.stdin) spec += part;
      const { env } = process;
      console.log(spec); console.log(env.PARLEY_JOB_SPEC === spec, env.PARLEY_JOB_ID, env.PARLEY_STEP_ID);
      console.log(env.PARLEY_URL === env.ASK_ANSWER_ORIGIN, env.TASK_RELAY_JOB_ID, env.TASK_RELAY_REPO, env.TASK_RELAY_PROFILE);
      console.log(/^lease_/.test(env.PARLEY_LEASE), /^parley_executor_/.test(env.PARLEY_KEY));
      console.log(""); for (let i = 0; i < 250; i++) console.log("line " + i);`;
    const run = await parley(["exec", "--kind", kind, "--once", "--", NODE, "-e", script], env);
    assert.deepEqual([run.code, run.err], [0, `${id}: begun\n${id}: succeeded\n`]);
    const lines = [
      '{"table":"orders"}',
      `true ${id} main`,
      `true ${id} shop staging`,
      "true true",
      ...Array.from({ length: 250 }, (_, i) => `line ${i}`),
    ];
    assert.deepEqual(run.out.split("\n").filter(Boolean), lines);
    assert.deepEqual(await logsOf(id), lines);
    assert.equal((await read(`/jobs/${id}`)).state, "SUCCEEDED");
  });

  it("says how a command failed", async () => {
    const kind = freshKind();
    const [first, second] = [await queue({ kind }), await queue({ kind })];
    const failed = await parley(["exec", "--kind", kind, "--once", "--", NODE, "-e", "process.exit(3)"], env);
    assert.deepEqual([failed.code, failed.err], [1, `${first}: begun\n${first}: failed\n`]);
    const killed = ["exec", "--kind", kind, "--once", "--", NODE, "-e", "process.kill(process.pid, 'SIGKILL')"];
    assert.equal((await parley(killed, env)).code, 1);
    const [one, two] = [await read(`/jobs/${first}`), await read(`/jobs/${second}`)];
    assert.deepEqual([one.state, one.reason], ["FAILED", "exit code 3"]);
    assert.deepEqual([two.state, two.reason], ["FAILED", "ended by SIGKILL"]);
  });

  it("gives the job back when it is told to stop, and what the command started ends too", async () => {
    const kind = freshKind();
    const id = await queue({ kind });
    const script = `const { pid } = require("node:child_process").spawn(process.execPath, ["-e", "setInterval(() => {}, 1000)"]);
      console.log("child " + pid); setInterval(() => {}, 1000);`;
    const run = start(["exec", "--kind", kind, "--", NODE, "-e", script], env);
    const pid = Number(await until(() => /child (\d+)/.exec(run.out())?.[1], "the command"));
    assert.equal(await stop(run), 0);
    assert.match(run.err(), new RegExp(`${id}: given back`));
    await until(() => !isAlive(pid), "the end of the command's own child");
    const job = await read(`/jobs/${id}`);
    assert.deepEqual([job.state, job.attempts], ["QUEUED", 0]);
  });

  it("ends a command whose job was cancelled", async () => {
    const kind = freshKind();
    const id = await queue({ kind });
    const words = ["exec", "--kind", kind, "--lease", "5s", "--once", "--", NODE, "-e"];
    const run = start([...words, "console.log('here'); setInterval(() => {}, 1000)"], env);
    await until(() => run.out().includes("here"), "the command");
    await post(server.url, `/jobs/${id}/cancel`, {}, as(keys.planner));
    const { code, err } = await run.ended;
    assert.equal(code, 1);
    assert.match(err, /lost; it was ended/);
    assert.equal((await read(`/jobs/${id}`)).state, "CANCELED");
  });

  it("lets the command ask and end the job itself, through the SDK", async () => {
    const kind = freshKind();
    const id = await queue({ kind });
    const file = join(newFolder(), "..", `work-${kind}.mts`);
    const sdk = join(ROOT_FOLDER, "sdk/src/executor.ts");
    writeFileSync(
      file,
      `import { artifacts, ask, jobs } from ${JSON.stringify(sdk)};
       const error = await ask("CLARIFICATION", "Anybody?", { timeout_s: 1 }).catch((thrown) => thrown);
       await artifacts.put("why.txt", error.code);
       await jobs.finish({ state: "FAILED", reason: error.code, artifacts: ["why.txt"] });`,
    );
    const run = await parley(["exec", "--kind", kind, "--once", "--", NODE, file], env);
    assert.deepEqual([run.code, run.err], [1, `${id}: begun\n${id}: failed\n`]);
    const job = await read(`/jobs/${id}`);
    assert.deepEqual([job.reason, job.artifacts], ["E_TIMEOUT", ["why.txt"]]);
  });

  it("gives the job back and ends when the command cannot be started", async () => {
    const kind = freshKind();
    const id = await queue({ kind });
    const run = await parley(["exec", "--kind", kind, "--", "no-such-command-anywhere"], env);
    assert.equal(run.code, 2);
    assert.match(run.err, /no-such-command-anywhere cannot be started/);
    assert.equal((await read(`/jobs/${id}`)).state, "QUEUED");
  });

  it("is refused in the words of its flags", async () => {
    const SAID: readonly [words: string[], said: string][] = [
      [["--kind", "a b"], "--kind is not written as it must be"],
      [["--worker", "x".repeat(129)], "--worker must be between 1 and 128 characters"],
      [["--lease", "2h"], "--lease must be between 5s and 1h"],
    ];
    for (const [words, said] of SAID) {
      const { code, err } = await parley(["exec", ...words, "--once", "--", NODE, "-e", ""], env);
      assert.deepEqual([code, err], [2, `parley: ${said}\n`]);
    }
  });

  it("needs a command, a server that takes its key, and says when there is none", async () => {
    assert.equal((await parley(["exec", "--kind", "k"], env)).code, 2);
    assert.equal((await parley(["exec", "make"], env)).code, 2);
    const refused = await parley(["exec", "--once", "--", "true"], { ...env, PARLEY_KEY: "none" });
    assert.equal(refused.code, 1);
    const away = start(["exec", "--once", "--", "true"], { PARLEY_URL: "http://127.0.0.1:1" });
    await until(() => away.err().includes("No server answers at http://127.0.0.1:1"), "the word");
    assert.equal(await stop(away), 130);
  });
});

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
