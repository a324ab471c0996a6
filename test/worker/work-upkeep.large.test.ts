import assert from "node:assert/strict";
import { existsSync, globSync, mkdirSync, readFileSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import { createKey } from "../../src/access/create-key.ts";
import { enrol } from "../support/addressed.ts";
import { eventually } from "../support/assign-site.ts";
import { openBundle } from "../../src/tasks/open-bundle.ts";
import { newFolder, start, stop, type Run } from "../support/program.ts";
import { gitIn, put } from "../support/workshop-git.ts";
import { openWorld, type Reply } from "../support/world.ts";

const SLUG = { a: "a-ca978112", b: "b-3e23e816" } as const;
const MIB = 1_048_576;
const workers: Run[] = [];
after(async () => {
  for (const worker of workers) await stop(worker);
});

/** A server without a repository, and a worker that has it. */
async function openScene(rules: object, script = 'echo "$PARLEY_TASK" > "$PARLEY_TASK.txt"') {
  const folder = newFolder();
  const clone = join(folder, "clone");
  mkdirSync(clone, { recursive: true });
  gitIn(clone, "init", "--quiet", "-b", "main");
  put(clone, "README.md", "hello\n");
  gitIn(clone, "add", ".");
  gitIn(clone, "commit", "--quiet", "-m", "begin");
  gitIn(clone, "branch", "done");
  const config = join(folder, "parley.yaml");
  writeFileSync(config, JSON.stringify({ repos: [{ name: "far", worker: true, agent: "script", ...rules }] }));
  const world = await openWorld({ on: "sqlite", env: { PARLEY_CONFIG: config } });
  const { ctx } = world.server;
  const person = await enrol(ctx, "Dana", [], { seesAll: true });
  const { text: assign } = await createKey(ctx, { name: "cards", scope: "assign", person });
  const headers = { authorization: `Bearer ${assign}` };
  const send = (method: string, path: string, body?: unknown): Promise<Reply> =>
    world.call(method, path, { headers, ...(body !== undefined && { body }) });
  const newWorkerKey = async (name: string) => (await createKey(ctx, { name, scope: "executor" })).text;
  const key = await newWorkerKey("studio");
  const dataDir = join(folder, "worker");
  mkdirSync(dataDir);
  const agents = { script: { type: "command", command: ["/bin/sh", "-c", script] } };
  writeFileSync(join(dataDir, "parley.yaml"), JSON.stringify({ agents, assignment: { sandbox: "off" } }));
  return {
    leases: join(dataDir, "worker/leases"),
    world,
    clone,
    send,
    assign,
    newWorkerKey,
    tree: (id: keyof typeof SLUG) => join(dataDir, `worker/work/far/${SLUG[id]}.1/tree`),
    folder: (id: keyof typeof SLUG) => join(dataDir, `worker/work/far/${SLUG[id]}.1`),
    /** Starts the worker, which is the same one each time. */
    work(): Run {
      const run = start(["work", "--repo", `far=${clone}`, "--data-dir", dataDir], {
        PARLEY_URL: world.url,
        PARLEY_KEY: key,
      });
      workers.push(run);
      return run;
    },
    async give(id: string) {
      const reply = await send("POST", "/assignment", { id, prompt: `Do ${id}` });
      assert.equal(reply.status, 202, reply.text);
    },
    /** Looks until a task is done. The server's clock stands still, so that no lease ends however slow its worker is. */
    async come(id: string, worker: Run) {
      const state = async () => ((await send("GET", `/assignment/tasks/${id}`)).body as { state: string }).state;
      await eventually(
        async () => (await state()) === "review",
        () => `the review of ${id}: ${worker.err()}`,
      );
    },
    async review(id: string, verdict: string) {
      const reply = await send("POST", `/assignment/tasks/${id}/review`, { verdict, attempt: 1 });
      assert.equal(reply.status, 200, reply.text);
    },
    [Symbol.asyncDispose]: () => world[Symbol.asyncDispose](),
  };
}

describe("the repository of a worker elsewhere, once its work is reviewed", { concurrency: true }, () => {
  it("has what was approved in the target, and no branch of what was rejected, by the worker that did it", async () => {
    await using scene = await openScene({ on_approve: "ff", target: "done" });
    const { clone, send } = scene;
    const first = scene.work();
    for (const id of ["a", "b"]) await scene.give(id);
    for (const id of ["a", "b"]) await scene.come(id, first);
    await stop(first);
    const done = () => gitIn(clone, "rev-parse", "done");
    const commit = gitIn(clone, "rev-parse", `aa/${SLUG.a}`);
    await scene.review("a", "approve");
    await scene.review("b", "reject");

    // Another worker gets none of these reviews, and cannot mark them as done.
    const other = { authorization: `Bearer ${await scene.newWorkerKey("other")}` };
    const path = "/assignment/far/reviewed";
    const none = await scene.world.call("GET", path, { headers: other });
    assert.deepEqual([none.status, none.body.reviewed], [200, []]);
    const claim = { id: "a", n: 1, commit, message: "done" };
    assert.equal((await scene.world.call("POST", path, { headers: other, body: claim })).status, 204);
    assert.equal((await send("GET", path)).status, 403);
    assert.equal((await scene.world.call("GET", "/assignment/near/reviewed", { headers: other })).status, 404);

    const second = scene.work();
    await eventually(
      () => done() === commit,
      () => `the target: ${second.err()}`,
    );
    await eventually(
      () => gitIn(clone, "branch", "--list", `aa/${SLUG.b}`) === "",
      () => "the end of the branch",
    );
    await eventually(
      () => !existsSync(scene.tree("a")) && !existsSync(scene.tree("b")),
      () => "the end of their trees",
    );
    assert.match(gitIn(clone, "for-each-ref", "--format=%(refname)", "refs/aa"), new RegExp(`/${SLUG.b}/1`));
    const said = async (id: string) => {
      const headers = { authorization: `Bearer ${scene.assign}`, accept: "application/x-ndjson" };
      return (await scene.world.call("GET", `/assignment/tasks/${id}/log`, { headers })).text;
    };
    await eventually(
      async () => (await said("a")).includes(`done is at ${commit}`),
      () => "the word of it",
    );
    assert.match(await said("b"), /its branch is deleted/);
  });

  it("keeps the tree that waits for a review for three days", async () => {
    await using scene = await openScene({});
    const first = scene.work();
    for (const id of ["a", "b"]) await scene.give(id);
    for (const id of ["a", "b"]) await scene.come(id, first);
    await stop(first);
    const longAgo = Date.now() / 1000 - 73 * 3600;
    for (const path of globSync(join(scene.folder("a"), "*"))) utimesSync(path, longAgo, longAgo);
    const second = scene.work();
    await eventually(
      () => !existsSync(scene.tree("a")),
      () => `the end of the old tree: ${second.err()}`,
    );
    assert.ok(existsSync(scene.tree("b")));
    assert.ok(existsSync(join(scene.folder("a"), "log.ndjson")), "its log stays");
  });

  it("may have been worked on with a longer log than a job may hold: the end of it comes along", async () => {
    await using scene = await openScene({});
    mkdirSync(scene.folder("a"), { recursive: true });
    const line = (seq: number) => `${JSON.stringify({ seq, at: 1, type: "message", text: "x".repeat(MIB - 100) })}\n`;
    const long = Array.from({ length: 25 }, (_, i) => line(i + 1)).join("");
    writeFileSync(join(scene.folder("a"), "log.ndjson"), long);
    const worker = scene.work();
    await scene.give("a");
    await scene.come("a", worker);
    const file = await openBundle(scene.world.server.ctx, "far", "a", "log.ndjson");
    const text = await file.file.readFile("utf8");
    await file.file.close();
    assert.ok(Buffer.byteLength(text) <= 20 * MIB);
    const lines = text
      .trimEnd()
      .split("\n")
      .map((one) => JSON.parse(one) as { type: string });
    assert.deepEqual([lines[0]?.type, lines.at(-1)?.type], ["error", "ended"]);
  });

  it("keeps what was published, though the worker died before it had noted that it was done", async () => {
    const gate = join(newFolder(), "gate");
    await using scene = await openScene({}, `while [ ! -e ${gate} ]; do sleep 0.1; done; echo a > a.txt`);
    const first = scene.work();
    await scene.give("a");
    const [name = "", lease] = await eventually(
      () => {
        const path = globSync(join(scene.leases, "*.json"))[0];
        const text = path === undefined ? "" : readFileSync(path, "utf8");
        return path !== undefined && /"startSha":"/.test(text) && ([path, text] as const);
      },
      () => `the lease: ${first.err()}`,
    );
    mkdirSync(join(gate, ".."), { recursive: true });
    writeFileSync(gate, "");
    await scene.come("a", first);
    await eventually(
      () => !existsSync(name),
      () => "its end",
    );
    await stop(first);
    const refs = () => gitIn(scene.clone, "for-each-ref", "--format=%(refname)", "refs/aa", "refs/heads/aa");
    const before = refs();
    assert.equal(before.split("\n").length, 2);
    writeFileSync(name, lease);
    const second = scene.work();
    await eventually(
      () => !existsSync(name),
      () => `its end: ${second.err()}`,
    );
    assert.equal(refs(), before);
  });
});
