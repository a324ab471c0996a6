import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, request, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { after, before, describe, it } from "node:test";
import { newFolder, parley, post, type Run, serve, stop } from "../support/program.ts";

const look = (env: Record<string, string>, ...more: string[]) => parley(["doctor", "--client", ...more], env);

interface Report {
  holds: boolean;
  findings: { check: string; offenders: string[] }[];
  facts: Record<string, unknown>;
}

/** Something on the way to a server, such as a proxy, which does to its replies what it likes. */
async function standBetween(
  url: string,
  {
    pass = (from, to) => void from.pipe(to),
    cutMs,
  }: { pass?: (from: IncomingMessage, to: ServerResponse) => void; cutMs?: number },
): Promise<{ url: string } & AsyncDisposable> {
  const proxy = createServer((incoming, reply) => {
    const { method, headers, url: path = "" } = incoming;
    const onward = request(`${url}${path}`, { method, headers }, (from) => {
      reply.writeHead(from.statusCode ?? 502, from.headers);
      pass(from, reply);
    });
    onward.on("error", () => reply.destroy());
    reply.on("close", () => onward.destroy());
    incoming.pipe(onward);
    if (cutMs !== undefined) setTimeout(() => reply.destroy(), cutMs).unref();
  }).listen(0, "127.0.0.1");
  await once(proxy, "listening");
  return {
    url: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`,
    async [Symbol.asyncDispose]() {
      proxy.closeAllConnections();
      proxy.close();
      await once(proxy, "close");
    },
  };
}

describe("looking from an agent's side", () => {
  let server: Run & { url: string };
  before(async () => {
    server = await serve(newFolder());
  });
  after(() => stop(server));
  const brokenOf = async (url: string) => {
    const { code, out } = await look({ PARLEY_URL: url }, "--json");
    const { holds, findings } = JSON.parse(out) as Report;
    assert.deepEqual([code, holds], [1, false]);
    return Object.fromEntries(
      findings.flatMap(({ check, offenders }) => (offenders[0] ? [[check, offenders[0]]] : [])),
    );
  };

  it("says a line about each thing an agent needs, and leaves no open question behind", async () => {
    const { code, out, err } = await look({ PARLEY_URL: server.url });
    assert.deepEqual([code, err], [0, ""]);
    const left = "\\d+ of \\d+, full again at \\S+ \\d\\d:\\d\\d \\S+";
    assert.match(
      out,
      new RegExp(
        [
          `^server +${server.url}`,
          `questions left +${left}`,
          `reads left +${left}`,
          "open questions +0",
          "holds +server +a Parley server answers and its store is ready",
          "holds +key +agents of this computer need no key",
          "holds +limits +this agent may ask now",
          "holds +poll +a long-poll of 4 s is held, and answered",
          "holds +mcp +MCP answers with its tools",
          "holds +stream +an MCP wait of 4 s shows progress while it is held, and is answered",
          "Everything holds.\n$",
        ].join("\n"),
      ),
    );
    const open = await fetch(`${server.url}/agent/questions?status=OPEN,PARTIAL`);
    assert.deepEqual(((await open.json()) as { questions: unknown[] }).questions, []);
  });

  it("says what is wrong with a key", async () => {
    const store = { PARLEY_DATA_DIR: newFolder(), PARLEY_OPEN: "false" };
    const closed = await serve(store.PARLEY_DATA_DIR, store);
    const keys = ["agent", "answer", "admin"].map(async (scope) =>
      (await parley(["keys", "create", scope, "--scope", scope], store)).out.trim(),
    );
    const [agent = "", answer = "", admin = ""] = await Promise.all(keys);
    const WRONG: readonly [key: string, sentence: RegExp][] = [
      ["", /this server wants a key: set PARLEY_KEY/],
      ["secret", /PARLEY_KEY is no key: keys begin with parley_/],
      [`${agent.slice(0, -1)}?`, /PARLEY_KEY is mistyped or cut/],
      [answer, /PARLEY_KEY is of scope answer; asking needs one of scope agent/],
      [admin, /PARLEY_KEY is of scope admin;/],
    ];
    for (const [key, sentence] of WRONG) {
      const { code, out } = await look({ PARLEY_URL: closed.url, PARLEY_KEY: key });
      assert.equal(code, 1);
      assert.match(out, /\nBROKEN +key .*\n +\S.*\nSomething does not hold\.\n$/);
      assert.match(out, sentence);
      assert.ok(!key || !out.includes(key));
    }
    const theirs = await look({ A2H_BASE_URL: closed.url, A2H_API_KEY: answer });
    assert.match(theirs.out, /A2H_API_KEY is of scope answer;/);
    const elsewhere = await look({ PARLEY_URL: closed.url, PARLEY_KEY: await foreignKey() });
    assert.match(elsewhere.out, /this server does not know the key in PARLEY_KEY/);
    const good = await look({ PARLEY_URL: closed.url, PARLEY_KEY: agent }, "--json");
    assert.equal(good.code, 0, good.out);
    assert.equal(await stop(closed), 0);
  });

  async function foreignKey(): Promise<string> {
    return (await parley(["keys", "create", "k", "--scope", "agent"], { PARLEY_DATA_DIR: newFolder() })).out.trim();
  }

  it("says that nothing may be asked, and for how long", async () => {
    const limited = await serve(newFolder(), { PARLEY_ASK_A_HUMAN_LIMITS_OPEN_QUESTIONS: "1" });
    await post(limited.url, "/agent/questions", { prompt: "What would you call this?", type: "text" });
    const { code, out } = await look({ PARLEY_URL: limited.url });
    assert.equal(code, 1);
    assert.match(out, /\nopen questions +1\n/);
    assert.match(out, /BROKEN +limits .*\n +AGENT_QUOTA_EXCEEDED: Too many open questions\. \(again in \d+ s\)\n/);
    assert.equal(await stop(limited), 0);
  });

  it("finds what cuts a wait on the way", async () => {
    await using cutting = await standBetween(server.url, { cutMs: 1500 });
    const broken = await brokenOf(cutting.url);
    assert.deepEqual(Object.keys(broken), ["poll", "stream"]);
    assert.match(broken["poll"] ?? "", /^the connection was cut after \d+\.\d s: /);
    assert.match(broken["stream"] ?? "", /^the stream ended after \d+\.\d s without an answer: /);
  });

  it("finds what keeps a stream back until it ends", async () => {
    await using buffering = await standBetween(server.url, {
      pass(from, to) {
        const parts: Buffer[] = [];
        from.on("data", (part: Buffer) => parts.push(part)).on("end", () => to.end(Buffer.concat(parts)));
      },
    });
    const broken = await brokenOf(buffering.url);
    assert.deepEqual(Object.keys(broken), ["stream"]);
    assert.match(broken["stream"] ?? "", /^nothing was heard for \d\.\d s: something on the way keeps streams back/);
  });

  it("says 2 when there is nothing to look at, and is not taken in by another program", async () => {
    const other = createServer((_request, reply) => reply.end("<h1>It works!</h1>")).listen(0, "127.0.0.1");
    await once(other, "listening");
    const url = `http://127.0.0.1:${(other.address() as AddressInfo).port}`;
    const { code, out } = await look({}, "--url", url);
    assert.equal(code, 1);
    assert.match(out, /BROKEN +server .*\n +what answers there \(200\) is no Parley server\n/);
    other.close();
    await once(other, "close");

    const nobody = await look({ PARLEY_URL: url });
    assert.deepEqual([nobody.code, nobody.out], [2, ""]);
    assert.match(
      nobody.err,
      /^parley doctor: could not look: no server answers at http:\/\/127\.0\.0\.1:\d+: .*ECONNREFUSED/,
    );
    const confused = await look({}, "--url", server.url, "--quick");
    assert.deepEqual([confused.code, confused.out], [2, ""]);
  });
});
