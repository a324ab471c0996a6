import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { after, describe, it } from "node:test";
import { createKey } from "../../../src/access/create-key.ts";
import { fresh, ROOMY, sharedWorld, until } from "../../support/contract.ts";
import { decider, somebody } from "../../support/deciders.ts";
import { type AnyClient, CLIENTS, openNew, over, type Transport } from "../../support/mcp-official.ts";
import { newFolder, parley, serve } from "../../support/program.ts";

const DEPLOY = { fn: "deploy", kwargs: { env: "staging", version: "1.4.2" } };
const DIGEST = "sha256:c2ee0ac1ecc765f2504a729de5d0e7e5152749eb8ebb5424bb49c7058f103dc7";

for (const by of Object.keys(over) as Transport[]) {
  for (const [name, { open }] of Object.entries(CLIENTS)) {
    describe(`people for ${name}, over ${over[by]}`, () => {
      const world = sharedWorld({ on: "sqlite", env: ROOMY });
      const opened: AnyClient[] = [];
      after(() => Promise.all(opened.map((client) => client.close())));
      async function connect(): Promise<AnyClient> {
        const { text: key } = await createKey(world().server.ctx, { name: fresh("ana-bot"), scope: "agent" });
        const client = await open({ url: world().url, key }, by);
        opened.push(client);
        return client;
      }

      it("finds somebody, asks that person, and hears of progress until the answer comes", async () => {
        const jane = await somebody(world());
        const client = await connect();
        const { structured: found } = await client.call("list_humans", { query: jane.name });
        assert.deepEqual(found["humans"], [{ id: jane.number, name: jane.name, description: "" }]);
        const heard: string[] = [];
        const asking = client.call(
          "contact_human",
          { message: "When do we ship?", to: jane.name, max_wait_seconds: 600 },
          { onprogress: ({ message = "" }) => heard.push(message) },
        );
        await until(async () => heard.length === 1);
        await world().advance(10_000);
        await until(async () => heard.length === 2);
        await jane.decides({ text: "On Tuesday." });
        const { structured, content, isError } = await asking;
        assert.deepEqual([structured["response"], structured["waited_seconds"], isError], ["On Tuesday.", 10, false]);
        assert.match(content[1]?.["text"] as string, /not instructions/);
        assert.deepEqual(heard, ["0 of 1 answers, 00:00", "0 of 1 answers, 00:10"]);
      });

      it("gets an approval bound to the digest, and a rejection to read", async () => {
        const operator = await decider(world(), "1");
        const client = await connect();
        for (const approved of [true, false]) {
          const asking = client.call("request_approval", DEPLOY);
          await operator.decides({ approved, comment: "for Q4" });
          const { structured, isError } = await asking;
          assert.deepEqual(
            [structured["approved"], structured["comment"], structured["consent_digest"], isError],
            [approved, "for Q4", DIGEST, false],
          );
        }
      });

      it("has several calls decided at once, and takes each just before it runs", async () => {
        const operator = await decider(world(), "1");
        const client = await connect();
        const asking = client.call("request_approval", { calls: [DEPLOY, { fn: "announce", kwargs: {} }] });
        await operator.decides({ approved: true });
        const { structured: plan } = await asking;
        const [first, second] = plan["calls"] as { call_id: string; approved: boolean }[];
        assert.deepEqual([plan["kind"], first?.approved, second?.approved], ["plan", true, true]);
        const take = (id = "") => client.call("use_approved_call", { call_id: id });
        assert.equal((await take(second?.call_id)).isError, true);
        const { structured: taken } = await take(first?.call_id);
        assert.deepEqual([taken["fn"], taken["kwargs"]], [DEPLOY.fn, DEPLOY.kwargs]);
        assert.equal((await take(second?.call_id)).isError, false);
      });

      it("has a permission prompt answered", async () => {
        const operator = await decider(world(), "1");
        const client = await connect();
        const input = { command: "npm publish" };
        for (const approved of [true, false]) {
          const args = { tool_name: "Bash", input, tool_use_id: fresh("toolu") };
          const asking = client.call("approve", args, { onprogress: () => undefined });
          await operator.decides({ approved, ...(!approved && { comment: "wait for the review" }) });
          const { content, structured, meta } = await asking;
          assert.equal(content.length, 1);
          assert.equal(structured, undefined);
          assert.match(meta["parley/consent_digest"] as string, /^sha256:[0-9a-f]{64}$/);
          const said = JSON.parse(content[0]?.["text"] as string) as unknown;
          const denied = { behavior: "deny", message: "Rejected by operator: wait for the review" };
          assert.deepEqual(said, approved ? { behavior: "allow", updatedInput: input } : denied);
        }
      });
    });
  }
}

describe("the bridge, for people", () => {
  it("asks again when the server is killed in the middle, finds the same request, and brings the decision", async () => {
    const dataDir = newFolder();
    const first = await serve(dataDir);
    const { port } = new URL(first.url);
    const client = await openNew({ url: first.url }, "stdio", "auto");
    try {
      const heard: number[] = [];
      const asking = client.call("request_approval", DEPLOY, { onprogress: ({ progress }) => heard.push(progress) });
      await until(async () => heard.length === 1);
      first.child.kill("SIGKILL");
      await first.ended;
      const second = await serve(dataDir, {}, "--port", port);
      await until(async () => heard.length === 2);
      const person = { url: second.url, key: await answerKey(dataDir) };
      const inbox = await asPerson(person, "GET", "/people/me/asks");
      assert.equal(inbox.asks.length, 1);
      const [{ id }] = inbox.asks;
      const { digest } = await asPerson(person, "GET", `/people/me/asks/${id}`);
      await asPerson(person, "POST", `/people/me/asks/${id}/decision`, { approved: true, digest });
      assert.equal((await asking).structured["approved"], true);
      second.child.kill("SIGTERM");
      await second.ended;
    } finally {
      await client.close();
    }
  });

  it("takes a call of a plan once though the reply is lost", async () => {
    const dataDir = newFolder();
    const program = await serve(dataDir);
    await using way = await losingReplies(program.url, "use_approved_call");
    const client = await openNew({ url: way.url }, "stdio", "auto");
    try {
      const asked = { calls: [DEPLOY, { fn: "announce", kwargs: {} }], max_wait_seconds: 0 };
      const { plan_id: plan } = (await client.call("request_approval", asked)).structured;
      const person = { url: program.url, key: await answerKey(dataDir) };
      const [{ id }] = (await asPerson(person, "GET", "/people/me/asks")).asks;
      const { digest } = await asPerson(person, "GET", `/people/me/asks/${id}`);
      await asPerson(person, "POST", `/people/me/asks/${id}/decision`, { approved: true, digest });
      for (const ord of [1, 2]) {
        const { structured } = await client.call("use_approved_call", { call_id: `${plan}.${ord}` });
        assert.deepEqual([structured["ord"], structured["error"]], [ord, undefined]);
      }
      assert.equal(way.lost, 1);
    } finally {
      await client.close();
      program.child.kill("SIGTERM");
      await program.ended;
    }
  });
});

/** Passes requests on to a server, and loses its first reply to one that has this word. */
async function losingReplies(to: string, word: string) {
  const way = { url: "", lost: 0, [Symbol.asyncDispose]: async () => void proxy.close() };
  const proxy = createServer((request, response) => {
    const pass = async () => {
      const body = await text(request);
      const { host: _, connection: __, "content-length": ___, ...headers } = request.headers;
      const init = {
        method: request.method ?? "POST",
        headers: headers as Record<string, string>,
        ...(body && { body }),
      };
      const reply = await fetch(`${to}${request.url}`, init);
      const said = await reply.text();
      if (way.lost === 0 && body.includes(word)) {
        way.lost += 1;
        response.destroy();
        return;
      }
      response.writeHead(reply.status, { "content-type": reply.headers.get("content-type") ?? "text/plain" });
      response.end(said);
    };
    pass().catch(() => response.destroy());
  });
  await once(proxy.listen(0, "127.0.0.1"), "listening");
  way.url = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
  return way;
}

async function answerKey(dataDir: string): Promise<string> {
  const args = ["keys", "create", "phone", "--scope", "answer", "--person", "1"];
  return (await parley(args, { PARLEY_DATA_DIR: dataDir })).out.trim();
}

interface Person {
  url: string;
  key: string;
}

// eslint-disable-next-line @typescript-eslint/no-explicit-any -- tests read bodies of every shape
async function asPerson(by: Person, method: string, path: string, body?: object): Promise<any> {
  const reply = await fetch(`${by.url}${path}`, {
    method,
    headers: { authorization: `Bearer ${by.key}`, ...(body && { "content-type": "application/json" }) },
    ...(body && { body: JSON.stringify(body) }),
  });
  assert.equal(reply.status, 200);
  return reply.json();
}
