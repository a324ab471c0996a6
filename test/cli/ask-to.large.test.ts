import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { openScene } from "../support/a2h.ts";
import { until as eventually } from "../support/contract.ts";
import { newFolder, parley, post, type Run, serve, start, stop, until } from "../support/program.ts";

const CONTACTS = "/a2h/v1alpha1/agent/human_contacts";
const QUESTION = "Which day suits you for the release?";

describe("asking a named person from a terminal", () => {
  const dataDir = newFolder();
  const store = { PARLEY_DATA_DIR: dataDir };
  let server: Run & { url: string };
  let env: Record<string, string>;
  let anasKey = "";
  before(async () => {
    mkdirSync(dataDir, { mode: 0o700 });
    writeFileSync(join(dataDir, "parley.yaml"), "people: { groups: { on-call: [operator] } }\n");
    server = await serve(dataDir);
    env = { PARLEY_URL: server.url };
    const ana = (await parley(["people", "add", "Ana Ruíz"], store)).out.trim();
    for (const name of ["Bo Lind", "Bo Lindberg", "Cy Dan", "Cy Dane"]) await parley(["people", "add", name], store);
    anasKey = (await parley(["keys", "create", "ana", "--scope", "answer", "--person", ana], store)).out.trim();
  });
  after(() => stop(server));

  const answer = (id: string, given: object) =>
    post(server.url, `${CONTACTS}/${id}/respond`, given, { authorization: `Bearer ${anasKey}` });
  /** The id of the request that a waiting command has made, from what an agent sees of it. */
  const pendingId = (prompt: string) =>
    eventually(async () => {
      const { items } = (await (await fetch(`${server.url}${CONTACTS}/pending`)).json()) as {
        items: { call_id: string; spec: { msg: string } }[];
      };
      return items.find(({ spec }) => spec.msg === prompt)?.call_id;
    });

  it("prints the request's id, under which it is looked at and cancelled", async () => {
    const asked = await parley(["ask", QUESTION, "--to", "ana ruiz", "--timeout", "20m"], env);
    assert.equal(asked.code, 0, asked.err);
    const id = asked.out.trim();
    assert.equal(
      asked.err,
      `Ana Ruíz was asked, and finds it in the inbox: ${server.url}/inbox\nSee what becomes of it: parley check ${id}\n`,
    );
    const open = await parley(["check", id], env);
    assert.match(open.out, /^Which day suits you for the release\?\nopen until \S+ \d\d:\d\d \S+\n$/);
    const cancelled = await parley(["cancel", id], env);
    assert.deepEqual([cancelled.code, cancelled.out], [0, `${QUESTION}\ncancelled\n`]);
    const again = JSON.parse((await parley(["check", id, "--json"], env)).out) as { status: { cancelled?: boolean } };
    assert.equal(again.status.cancelled, true);
  });

  it("asks a group, by its name", async () => {
    const prompt = "Who restarts it?";
    const asked = await parley(["ask", prompt, "--to", "on-call"], env);
    assert.match(asked.err, /^on-call \(operator\) was asked, and finds it in the inbox/);
    assert.equal(await pendingId(prompt), asked.out.trim());
    assert.equal((await parley(["cancel", asked.out.trim()], env)).code, 0);
  });

  it("waits for the option that the person chose, and prints it", async () => {
    const prompt = "Which of the two days?";
    const run = start(["ask", prompt, "--to", "Ana Ruíz", "--options", "Monday,Tuesday", "--wait"], env);
    const id = await pendingId(prompt);
    const given = await answer(id, { response: "", response_option_name: "option_2" });
    assert.equal(given.status, 200, await given.text());
    const { code, out } = await run.ended;
    assert.equal(code, 0);
    assert.match(out, /^Which of the two days\?\n {2}- Tuesday\nanswered by Ana Ruíz, .+\n$/);
    assert.equal((await parley(["check", id], env)).out, out);
    const late = await parley(["cancel", id], env);
    assert.equal(late.code, 1);
    assert.match(late.err, /^parley: .+\n$/);
  });

  it("prints words as they are, without what a terminal would obey", async () => {
    const prompt = "What would you call this?";
    const run = start(["ask", prompt, "--to", "Ruíz", "--wait", "--json"], env);
    const id = await pendingId(prompt);
    await answer(id, { response: "fine\u001b[2J\nsecond line" });
    const said = JSON.parse((await run.ended).out) as { status: { response: string; user_info: { name: string } } };
    assert.deepEqual([said.status.response, said.status.user_info.name], ["fine\u001b[2J\nsecond line", "Ana Ruíz"]);
    assert.match((await parley(["check", id], env)).out, /\n {2}- fine\\u001b\[2J\n {4}second line\n/);
  });

  it("leaves the request open when interrupted", async () => {
    const prompt = "Are you there at all?";
    const run = start(["ask", prompt, "--to", "Ana", "--wait"], env);
    const id = await pendingId(prompt);
    run.child.kill("SIGINT");
    const { code, err } = await run.ended;
    assert.equal(code, 130);
    assert.match(err, new RegExp(`The request stays open; see what becomes of it: parley check ${id}\n$`));
    assert.match((await parley(["check", id], env)).out, /\nopen until /);
  });

  it("goes on waiting while the server is away", async () => {
    const prompt = "Is it back again?";
    const run = start(["ask", prompt, "--to", "Ana", "--wait"], env);
    const id = await pendingId(prompt);
    await stop(server);
    server = await serve(dataDir, {}, "--port", new URL(server.url).port);
    assert.equal((await answer(id, { response: "It is." })).status, 200);
    const { code, out } = await run.ended;
    assert.equal(code, 0);
    assert.match(out, /\n {2}- It is\.\nanswered by Ana Ruíz, /);
  });

  it("says 1 when the request was cancelled", async () => {
    const prompt = "Never mind, or is it?";
    const run = start(["ask", prompt, "--to", "Ana", "--wait"], env);
    assert.equal((await parley(["cancel", await pendingId(prompt)], env)).code, 0);
    const { code, out } = await run.ended;
    assert.deepEqual([code, out], [1, `${prompt}\ncancelled\n`]);
  });

  it("says 3 when the person did not answer in time", async () => {
    await using scene = await openScene("sqlite", { at: Date.now() });
    const ana = await scene.human("Ana Ruiz");
    const run = start(["ask", QUESTION, "--to", ana.id, "--timeout", "90s", "--wait"], {
      PARLEY_URL: scene.world.url,
      PARLEY_KEY: scene.agent.key,
    });
    await until(() => run.err().includes("was asked"), "the request");
    await scene.world.advance(91_000);
    const { code, out } = await run.ended;
    assert.equal(code, 3);
    assert.match(out, /^Which day suits you for the release\?\nexpired .+\n$/);
  });

  it("asks nobody where it is not plain who is meant", async () => {
    const tried = async (to: string) => {
      const { code, out, err } = await parley(["ask", QUESTION, "--to", to], env);
      assert.deepEqual([code, out], [1, ""]);
      return err;
    };
    assert.match(await tried("cy"), /^parley: several people .*: Cy Dan \(\d+\), Cy Dane \(\d+\)\n$/);
    assert.equal(await tried("Zoe"), "parley: nobody is called Zoe; people are added with: parley people add NAME\n");
    assert.equal(await tried("99999"), "parley: nobody has the id 99999\n");
    const exact = await parley(["ask", QUESTION, "--to", "Bo Lind"], env);
    assert.match(exact.err, /^Bo Lind was asked/);
  });

  it("is told apart from asking the crowd, and refused in a sentence", async () => {
    const both = await parley(["ask", QUESTION, "--to", "Ana", "--min", "2"], env);
    assert.equal(both.code, 2);
    assert.match(both.err, /--audience and --min are for asking everybody/);
    const short = await parley(["ask", QUESTION, "--to", "Ana", "--timeout", "5s"], env);
    assert.equal(short.code, 2);
    assert.match(short.err, /^parley: --timeout must be .*\n$/);
    const wrongKey = await parley(["ask", QUESTION, "--to", "Ana"], { ...env, PARLEY_KEY: anasKey });
    assert.equal(wrongKey.code, 1);
    assert.match(wrongKey.err, /^parley: .*scope.*\n$/);
    const badKey = await parley(["ask", QUESTION, "--to", "Ana"], { ...env, PARLEY_KEY: "parley_agent_x" });
    assert.equal(badKey.code, 1);
    assert.match(badKey.err, /parley keys create NAME --scope agent\n$/);
  });
});
