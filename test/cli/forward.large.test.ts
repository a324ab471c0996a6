import assert from "node:assert/strict";
import { request } from "node:http";
import { after, before, describe, it } from "node:test";
import { jobs } from "@parley/sdk/executor";
import { ask } from "../clients/task-relay-executor.ts";
import { newFolder, parley, post, type Run, serve, start, stop, until } from "../support/program.ts";

describe("parley forward", () => {
  const dataDir = newFolder();
  let server: Run & { url: string };
  let forward: Run;
  let url: string;
  let key: string;
  before(async () => {
    server = await serve(dataDir, { PARLEY_OPEN: "false" });
    const made = await parley(["keys", "create", "forward", "--scope", "executor"], { PARLEY_DATA_DIR: dataDir });
    key = made.out.trim();
    forward = start(["forward", "--to", server.url, "--listen", "127.0.0.1:0"], { PARLEY_KEY: key });
    url = await until(() => /^(http:\S+) -> /m.exec(forward.out())?.[1], "the address");
  });
  after(async () => {
    await stop(forward);
    await stop(server);
  });

  const external = (id: string) => ({ job_id: id, external: true });
  /** Asks with headers that fetch would not let through. */
  const raw = (path: string, headers: Record<string, string>) =>
    new Promise<{ status: number; body: string }>((resolve, reject) => {
      const asking = request(`${url}${path}`, { headers }, (reply) => {
        let body = "";
        reply.setEncoding("utf8").on("data", (text: string) => (body += text));
        reply.on("end", () => resolve({ status: reply.statusCode ?? 0, body }));
      });
      asking.on("error", reject).end();
    });

  it("adds the key for whoever carries none, and leaves others theirs", async () => {
    assert.equal((await post(server.url, "/jobs", external("J-1"))).status, 401);
    const made = await post(url, "/jobs", external("J-1"));
    assert.deepEqual([made.status, made.headers.get("location")], [201, "/jobs/J-1"]);
    assert.equal((await fetch(`${url}/jobs/J-1`)).status, 200);
    assert.equal((await fetch(`${url}/jobs/J-1`, { headers: { authorization: "Bearer none" } })).status, 401);
  });

  it("lets an executor ask that sends no key and knows no path", async () => {
    const named = { ASK_ANSWER_ORIGIN: url, TASK_RELAY_JOB_ID: "J-3", TASK_RELAY_STEP_ID: "S-1" };
    Object.assign(process.env, named);
    await assert.rejects(ask("CLARIFICATION", "Anybody?", { timeout_s: 1 }), {
      message: "E_TIMEOUT: no answer within 1 s",
    });
    const { asks } = (await (await fetch(`${url}/jobs/J-3/asks`)).json()) as { asks: unknown[] };
    assert.equal(asks.length, 1);
  });

  it("passes events on as they come, and lets go when the reader does", async () => {
    await post(url, "/jobs", external("J-2"));
    const stopped = new AbortController();
    const told: string[] = [];
    const following = (async () => {
      for await (const event of jobs.events({ url, job_id: "J-2", signal: stopped.signal })) told.push(event.event);
    })();
    await until(() => told.length === 1, "the first event");
    await jobs.log("half done", { url, job_id: "J-2" });
    await until(() => told.includes("log"), "the log");
    stopped.abort();
    await assert.rejects(following, { name: "AbortError" });
  });

  it("refuses pages of other sites and other names of this computer", async () => {
    const host = new URL(url).host;
    assert.equal((await raw("/jobs/J-1", { host })).status, 200);
    assert.equal((await raw("/jobs/J-1", { host: `localhost:${new URL(url).port}` })).status, 200);
    for (const [headers, status, code] of [
      [{ host: "evil.example" }, 421, "MISDIRECTED"],
      [{ host: "evil.example:3415" }, 421, "MISDIRECTED"],
      [{ host, origin: "http://evil.example" }, 403, "ORIGIN_REFUSED"],
      [{ host, origin: "null" }, 403, "ORIGIN_REFUSED"],
      [{ host, "sec-fetch-site": "cross-site" }, 403, "ORIGIN_REFUSED"],
    ] as const) {
      const reply = await raw("/jobs/J-1", headers);
      assert.equal(reply.status, status);
      assert.equal((JSON.parse(reply.body) as { error: { code: string } }).error.code, code);
    }
  });

  it("never says the key", () => {
    assert.ok(!(forward.out() + forward.err()).includes(key));
  });

  it("goes on when nobody reads its standard error any more", async () => {
    const alone = start(["forward", "--to", "http://parley.example", "--listen", "127.0.0.1:0"], { PARLEY_KEY: key });
    // It has a word to say there before it listens: that the key goes unencrypted.
    alone.child.stderr.destroy();
    const ended = alone.ended.then(({ code }) => assert.fail(`it ended with ${code}`));
    const place = await Promise.race([until(() => /^(http:\S+) -> /m.exec(alone.out())?.[1], "the address"), ended]);
    ended.catch(() => {});
    assert.equal((await fetch(`${place}/jobs`, { headers: { origin: "http://evil.example" } })).status, 403);
    assert.equal(await stop(alone), 0);
  });

  it("says so when the server is away, and serves this computer only", async () => {
    const alone = start(["forward", "--to", "http://127.0.0.1:1/", "--listen", "127.0.0.1:0"], { PARLEY_KEY: key });
    const place = await until(() => /^(http:\S+) -> /m.exec(alone.out())?.[1], "the address");
    const reply = await fetch(`${place}/jobs`);
    assert.deepEqual(
      [reply.status, (await reply.json()) as unknown],
      [502, { error: { code: "UNREACHABLE", message: "The server behind this address cannot be reached." } }],
    );
    assert.equal(await stop(alone), 0);
    const wrong = [
      ["--to", server.url, "--listen", "0.0.0.0:0"],
      ["--to", "ftp://x"],
      ["--listen", "127.0.0.1:0"],
    ];
    for (const words of wrong) assert.equal((await parley(["forward", ...words], { PARLEY_KEY: key })).code, 2);
    assert.equal((await parley(["forward", "--to", server.url])).code, 2);
    assert.equal((await parley(["forward", "--to", server.url], { PARLEY_KEY: `${key}x` })).code, 2);
  });
});
