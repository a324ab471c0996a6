import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, type AddressInfo } from "node:net";
import { after, before, describe, it } from "node:test";
import { newFolder, parley, post, type Run, serve, start, stop, until } from "../support/program.ts";
import { openWorld } from "../support/world.ts";

describe("asking from a terminal", () => {
  let server: Run & { url: string };
  let env: Record<string, string>;
  before(async () => {
    server = await serve(newFolder());
    env = { PARLEY_URL: server.url };
  });
  after(() => stop(server));

  const OPTIONS = ["--options", "Send,Submit"];
  const answer = (id: string, person: string, given: Record<string, unknown>) =>
    post(server.url, "/human/responses", { question_id: id, ...given }, { "x-fingerprint": person });
  const idIn = (run: Run) => until(() => /\/q\/(q_\w{22})/.exec(run.err())?.[1], "the question's address");

  it("prints the question's id, and later what people said", async () => {
    const { code, out, err } = await parley(["ask", "Which label is clearer?", ...OPTIONS, "--min", "2"], env);
    assert.equal(code, 0);
    const id = out.trim();
    assert.equal(err, `People answer at ${server.url}/q/${id}; see what they say: parley check ${id}\n`);
    await answer(id, "ana", { selected_option: 1 });
    const check = await parley(["check", id], env);
    assert.equal(check.code, 0);
    assert.match(
      check.out,
      /^Which label is clearer\?\n {2}Send {6}0\n {2}Submit {4}1 {2}█+\n1 of 2 answers from one network, open until \S+ \d\d:\d\d \S+\n$/,
    );
    const cancelled = await parley(["cancel", id, "--json"], env);
    assert.equal((JSON.parse(cancelled.out) as { cancelled?: boolean }).cancelled, true);
    assert.match((await parley(["check", id], env)).out, /1 of 2 answers from one network, cancelled\n$/);
  });

  it("waits for the answers and prints them with the tally", async () => {
    const run = start(["ask", "Which label is clearer?", ...OPTIONS, "--min", "2", "--wait"], env);
    const id = await idIn(run);
    await answer(id, "ana", { selected_option: 0 });
    await answer(id, "bo", { selected_option: 0 });
    const { code, out } = await run.ended;
    assert.equal(code, 0);
    assert.match(
      out,
      /^Which label is clearer\?\n {2}Send {6}2 {2}█+\n {2}Submit {4}0\n2 of 2 answers from one network, closed .+\n$/,
    );
  });

  it("is refused in the words of its flags", async () => {
    const SAID: readonly [words: string[], said: string][] = [
      [["Which label is clearer?", "--timeout", "5s"], "--timeout must be between 1m and 1d"],
      [["Which label is clearer?", "--options", "A"], "--options must have between 2 and 10 items"],
      [
        ["Which label is clearer?", "--options", `A,${"x".repeat(201)}`],
        "number 2 of --options must be between 1 and 200 characters",
      ],
      [["short"], "PROMPT must be between 10 and 2000 characters"],
      [["Which label is clearer?", "--to", "operator", "--timeout", "5s"], "--timeout must be between 10s and 30d"],
      [
        ["Which?", "--to", "operator", "--options", `A,${"x".repeat(76)}`],
        "number 2 of --options must be at most 75 characters",
      ],
    ];
    for (const [words, said] of SAID) {
      const { code, err } = await parley(["ask", ...words], env);
      assert.deepEqual([code, err], [2, `parley: ${said}\n`]);
    }
  });

  it("prints JSON for programs", async () => {
    const run = start(["ask", "What would you call this?", "--wait", "--json", "--audience", "product,creative"], env);
    await answer(await idIn(run), "ana", { answer: "Parley" });
    const question = JSON.parse((await run.ended).out) as Record<string, unknown>;
    assert.equal(question["status"], "CLOSED");
    assert.deepEqual(question["audience"], ["product", "creative"]);
    assert.deepEqual(question["responses"], [{ answer: "Parley" }]);
  });

  it("shows nobody's control characters", async () => {
    const run = start(["ask", "What would you call this?", "--wait"], env);
    await answer(await idIn(run), "mallory", { answer: "fine\u001b[2J\u202e\r\nsecond line" });
    assert.match((await run.ended).out, /\n {2}- fine\\u001b\[2J\\u202e\n {4}second line\n/);
  });

  it("leaves the question open when interrupted", async () => {
    const run = start(["ask", "Which label is clearer?", ...OPTIONS, "--wait"], env);
    const id = await idIn(run);
    run.child.kill("SIGINT");
    const { code, err } = await run.ended;
    assert.equal(code, 130);
    assert.match(err, new RegExp(`The question stays open; see what people say: parley check ${id}\n$`));
    assert.match((await parley(["check", id], env)).out, /open until/);
  });

  it("says 3 when time ran out first", async () => {
    await using world = await openWorld({ on: "sqlite", at: Date.now() });
    const run = start(["ask", "Which label is clearer?", ...OPTIONS, "--min", "2", "--timeout", "90s", "--wait"], {
      PARLEY_URL: world.url,
    });
    await world.person("ana").answer(await idIn(run), 0);
    await world.advance(91_000);
    const { code, out } = await run.ended;
    assert.equal(code, 3);
    assert.match(out, /\n1 of 2 answers from one network, expired .+\n$/);
  });

  it("says 1 when the question was cancelled", async () => {
    const run = start(["ask", "Which label is clearer?", ...OPTIONS, "--wait"], env);
    await parley(["cancel", await idIn(run)], env);
    assert.equal((await run.ended).code, 1);
  });

  it("tells what the server refuses, and that no server is there", async () => {
    const short = await parley(["ask", "Why?"], env);
    assert.deepEqual([short.code, short.err], [2, "parley: PROMPT must be between 10 and 2000 characters\n"]);
    assert.equal(
      (await parley(["check", "q_unknown"], env)).err,
      "parley: The requested question does not exist or has expired.\n",
    );
    const free = createServer().listen(0, "127.0.0.1");
    await once(free, "listening");
    const { port } = free.address() as AddressInfo;
    free.close();
    const nobody = await parley(["check", "q_unknown"], { PARLEY_URL: `http://127.0.0.1:${port}` });
    assert.deepEqual(
      [nobody.code, nobody.err],
      [1, `parley: no server answers at http://127.0.0.1:${port}; start one with npm start, or set PARLEY_URL.\n`],
    );
  });
});
