import assert from "node:assert/strict";
import { existsSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { freshDatabase } from "../support/fresh-database.ts";
import { itAtTerminal, sitDown } from "../support/at-terminal.ts";
import { until } from "../support/contract.ts";
import { greetingsIn, messagesOf } from "../support/log-lines.ts";
import { reservePort } from "../support/ports.ts";
import { newFolder, parley as parleyHere, post, ROOT, type Run, serve, start, stop } from "../support/program.ts";

const CTRL_C = "\u0003";

describe("serve", () => {
  itAtTerminal("prints at a terminal what to do next, ready to paste, and the first key once", async () => {
    const dataDir = newFolder();
    const args = ["serve", "--port", String(await reservePort()), "--data-dir", dataDir];
    const first = sitDown(args, { PARLEY_DATABASE_WAIT_MS: "60000" });
    await first.sees(", WAL, synchronous=FULL, checked\n");
    const lines = first.shown().split("\n");
    const [head = "", answer, you = "", agents = "", ask = "", data] = lines.slice(
      lines.findIndex((line) => /^Parley \d/.test(line)),
    );
    const url = /^Parley \d+\.\d+\.\d+ {2}(http:\/\/127\.0\.0\.1:\d+) {3}open to this computer only$/.exec(head)?.[1];
    assert.equal(answer, `  answer  ${url}/`);
    const code = /^ {2}you {5}(\S+)\/console#start=([\w-]{43}) {4}works once, 30 minutes; another: parley link$/.exec(
      you,
    );
    assert.equal(code?.[1], url);
    const key = /^ {2}agents {2}export PARLEY_URL=(\S+) PARLEY_KEY=(parley_agent_\w{38})$/.exec(agents)?.[2] ?? "";
    assert.match(data ?? "", new RegExp(`^ {2}data {4}${dataDir} {4}SQLite .*, WAL, synchronous=FULL, checked$`));

    const curl = /^ {2}ask {5}curl (\S+) -H "Content-Type: application\/json" -d '(.*)'$/.exec(ask);
    const asked = await post(curl?.[1] ?? "", "", JSON.parse(curl?.[2] ?? "null"));
    assert.equal(asked.status, 201);
    const withKey = { authorization: `Bearer ${key}` };
    assert.equal((await fetch(`${url}/agent/questions?status=OPEN`, { headers: withKey })).status, 200);

    const signIn = () => post(url ?? "", "/session", { code: code?.[2] }, { origin: url ?? "" });
    const session = await signIn();
    assert.deepEqual(await session.json(), { person: { id: "1", name: "operator", role: "admin" } });
    assert.match(
      session.headers.get("set-cookie") ?? "",
      /^parley=[\w-]{43}; Path=\/; HttpOnly; SameSite=Lax; Max-Age=2592000$/,
    );
    assert.equal((await signIn()).status, 401);
    first.types(CTRL_C);
    assert.equal(await first.ended, 0);

    const second = sitDown(args, { PARLEY_DATABASE_WAIT_MS: "60000" });
    await second.sees(", WAL, synchronous=FULL, checked\n");
    assert.ok(!second.shown().includes("parley_agent_"));
    assert.match(second.shown(), /#start=[\w-]{43}/);
    assert.equal((await fetch(`${url}/agent/questions?status=OPEN`, { headers: withKey })).status, 200);
    second.types(CTRL_C);
    assert.equal(await second.ended, 0);
  });

  it("writes a warning of a library as a line of JSON, too", async () => {
    const database = "postgres://parley@127.0.0.1:1/parley?sslmode=require";
    const { code, err, out } = await start(["serve", "--port", "0"], {
      PARLEY_DATA_DIR: newFolder(),
      DATABASE_URL: database,
    }).ended;
    assert.equal(code, 1);
    const lines = `${out}${err}`.split("\n").filter((line) => line !== "");
    const said = lines.map((line) => (JSON.parse(line) as { msg: string }).msg);
    assert.ok(
      said.some((msg) => msg.startsWith("Warning: SECURITY WARNING")),
      said.join("\n"),
    );
  });

  it("writes lines of JSON without a terminal, and secrets on standard error at the very first start only", async () => {
    const dataDir = newFolder();
    const first = await serve(dataDir);
    assert.equal(await stop(first), 0);
    const { out, err } = await first.ended;
    const [greeting] = greetingsIn(out);
    assert.deepEqual([greeting?.url, greeting?.data], [first.url, dataDir]);
    assert.equal(greeting?.msg, "Parley listens: open to this computer only");
    assert.match(greeting.store, /^SQLite .*, WAL, synchronous=FULL, checked$/);
    assert.match(messagesOf(err), new RegExp(`^you: ${first.url}/console#start=[\\w-]{43} `, "m"));
    assert.match(
      messagesOf(err),
      new RegExp(`^agents: export PARLEY_URL=${first.url} PARLEY_KEY=parley_agent_\\w{38}$`, "m"),
    );
    assert.match(messagesOf(err), /^Stopping; once more to stop at once\.$/m);

    const second = await serve(dataDir);
    assert.equal(await stop(second), 0);
    const again = await second.ended;
    for (const text of [out, again.out, again.err]) assert.doesNotMatch(text, /#start=|parley_agent_/);
    const lines = [out, err, again.out, again.err].flatMap((text) => text.split("\n").slice(0, -1));
    assert.ok(lines.length >= 6, String(lines));
    for (const line of lines) {
      const { level, time, msg } = JSON.parse(line) as Record<string, unknown>;
      assert.deepEqual([typeof level, typeof time, typeof msg], ["number", "number", "string"], line);
    }
  });

  it("asks for keys and sign-ins on any address but loopback, and says so", async () => {
    const run = await serve(newFolder(), {}, "--host", "0.0.0.0");
    const said = "Parley listens: asking needs a key; answering needs a sign-in (PARLEY_HOST is 0.0.0.0)";
    assert.equal(greetingsIn(run.out())[0]?.msg, said);
    assert.equal((await fetch(`${run.url}/agent/questions?status=OPEN`)).status, 401);
    assert.equal((await fetch(`${run.url}/human/questions`)).status, 401);
    assert.equal(await stop(run), 0);
  });

  it("refuses to start in one sentence, and harms nothing", async () => {
    const dataDir = newFolder();
    const first = await serve(dataDir);
    const port = new URL(first.url).port;
    const file = join(ROOT, "a-file");
    writeFileSync(file, "");
    writeFileSync(join(ROOT, "wrong.yaml"), "prot: 80\n");
    const REFUSED: readonly [args: string[], sentence: RegExp, env?: Record<string, string>][] = [
      [
        ["--port", "0", "--data-dir", dataDir],
        /^parley: Another Parley server is using .*; stop it, or choose another folder with --data-dir\.\n$/,
      ],
      [
        ["--port", port, "--data-dir", newFolder()],
        /^parley: Port \d+ on 127\.0\.0\.1 is taken by another program; .*--port\.\n$/,
      ],
      [
        ["--port", "0", "--data-dir", join(file, "x")],
        /^parley: The data directory .* cannot be used: .*--data-dir or PARLEY_DATA_DIR\.\n$/,
      ],
      [["--port", "x"], /^parley: --port: port must be a whole number between 0 and 65535, not "x"\.\n$/],
      [
        ["--config", join(ROOT, "wrong.yaml")],
        /^parley: .*wrong\.yaml:1: there is no setting "prot"; "port" is meant, perhaps\.\n$/,
      ],
      [
        ["--port", "0", "--data-dir", newFolder()],
        /^parley: PostgreSQL at 127\.0\.0\.1:1\/x cannot be used: .*ECONNREFUSED.*\.\n$/,
        { DATABASE_URL: "postgres://ana:canary@127.0.0.1:1/x" },
      ],
    ];
    for (const [args, sentence, env] of REFUSED) {
      const { code, out, err } = await parleyHere(["serve", ...args], env);
      assert.match(messagesOf(err), sentence);
      assert.deepEqual([code, out], [1, ""], args.join(" "));
      assert.ok(!err.includes("canary"));
    }
    assert.equal((await fetch(`${first.url}/human/questions`)).status, 200);
    assert.equal(await stop(first), 0);
  });

  it("has kept what Node compiled for the next start when it is killed", async () => {
    const cache = newFolder();
    const server = await serve(newFolder(), { NODE_COMPILE_CACHE: cache });
    const kept = () => readdirSync(cache, { recursive: true, withFileTypes: true }).filter((one) => one.isFile());
    await until(() => Promise.resolve(kept().length > 400));
    server.child.kill("SIGKILL");
    await server.ended;
  });

  it("answers who waits and ends when told to stop", async () => {
    const run = await serve(newFolder());
    const asked = (await (
      await post(run.url, "/agent/questions", { prompt: "Which label is clearer?", type: "text" })
    ).json()) as {
      question_id: string;
    };
    const waiting = fetch(`${run.url}/agent/questions/${asked.question_id}?wait=25`);
    const parked = 'parley_waiters_parked{kind="long-polls"} 1\n';
    await until(async () => (await (await fetch(`${run.url}/metrics`)).text()).includes(parked));
    assert.equal(await stop(run), 0);
    const reply = await waiting;
    assert.equal(reply.status, 200);
    assert.equal(((await reply.json()) as { status: string }).status, "OPEN");
  });

  it("runs on PostgreSQL", async () => {
    const run = await serve(newFolder(), { DATABASE_URL: await freshDatabase() });
    const [greeting] = greetingsIn(run.out());
    assert.match(`${greeting?.data} ${greeting?.store}`, /^127\.0\.0\.1:\d+\/fresh_\w+ PostgreSQL \d+/);
    assert.equal((await fetch(`${run.url}/human/questions`)).status, 200);
    assert.equal(await stop(run), 0);
  });
});

/** Each is a process of its own, as in a terminal. */
const asProcess = (args: readonly string[], env?: Record<string, string>) => start(args, env).ended;

for (const on of ["sqlite", "postgres"] as const) {
  const parley = on === "sqlite" ? asProcess : parleyHere;
  describe(`commands beside a server on ${on}`, () => {
    let server: Run & { url: string };
    let store: Record<string, string>;
    before(async () => {
      store = {
        PARLEY_DATA_DIR: newFolder(),
        PARLEY_OPEN: "false",
        ...(on === "postgres" && { DATABASE_URL: await freshDatabase() }),
      };
      server = await serve(store["PARLEY_DATA_DIR"] ?? "", store);
    });
    after(() => stop(server));

    it("make keys that work at once and are worthless at once when revoked", async () => {
      const { code, out, err } = await parley(
        ["keys", "create", "build-bot", "--scope", "agent", "--expires", "90d"],
        store,
      );
      assert.equal(code, 0);
      assert.match(out, /^parley_agent_\w{38}\n$/);
      const id = /^(key_\w+) is good for agent:build-bot until .+\. It cannot be shown again\.\n$/.exec(err)?.[1] ?? "";
      const list = async () =>
        (
          await fetch(`${server.url}/agent/questions?status=OPEN`, {
            headers: { authorization: `Bearer ${out.trim()}` },
          })
        ).status;
      assert.equal(await list(), 200);

      const listed = JSON.parse((await parley(["keys", "list", "--json"], store)).out) as {
        id: string;
        revoked_at: unknown;
      }[];
      assert.equal(listed.find((key) => key.id === id)?.revoked_at, null);
      assert.match((await parley(["keys", "list"], store)).out, /^KEY +SCOPE +NAME +PERSON +MADE +STATE\n/);
      assert.equal((await parley(["keys", "revoke", id], store)).code, 0);
      assert.equal(await list(), 401);
    });

    it("bind an answer key to a person, who can also sign in by a link", async () => {
      const person = (await parley(["people", "add", "Ana Ruiz"], store)).out.trim();
      assert.equal(person, "2");
      assert.match((await parley(["people", "list"], store)).out, new RegExp(`${person} +member +Ana Ruiz\n`));
      const key = (await parley(["keys", "create", "ana", "--scope", "answer", "--person", person], store)).out.trim();
      const stats = await fetch(`${server.url}/human/stats`, { headers: { authorization: `Bearer ${key}` } });
      assert.equal(stats.status, 200);

      const link = (await parley(["link", "--person", person, "--url", `${server.url}/`], store)).out.trim();
      const code = link.split("#start=")[1];
      assert.equal(link, `${server.url}/inbox#start=${code}`);
      const reply = await post(server.url, "/session", { code });
      assert.deepEqual(await reply.json(), { person: { id: person, name: "Ana Ruiz", role: "member" } });
    });

    it("say what is wrong in one sentence, with the right exit code", async () => {
      const WRONG: readonly [args: string[], code: number, sentence: RegExp][] = [
        [
          ["keys", "create", "x"],
          2,
          /^parley keys create: --scope must be one of agent, executor, answer, assign, admin\nusage: /,
        ],
        [["keys", "create", "--scope", "agent"], 2, /^parley keys create: NAME is missing\nusage: /],
        [
          ["keys", "create", "x", "--scope", "agent", "--expires", "soon"],
          2,
          /--expires must be a time from 1m to 3660d/,
        ],
        [
          ["keys", "create", "x", "--scope", "answer", "--person", "mallory"],
          1,
          /^parley: No person has this number\.\n$/,
        ],
        [["keys", "create", "x", "--scope", "answer", "--self-respond"], 2, /^parley: Only a key of scope agent asks/],
        [["keys", "revoke", "key_unknown"], 1, /^parley: There is no such key\.\n$/],
        [["keys", "list", "--loud"], 2, /^parley keys list: there is no flag --loud\n/],
        [["link", "--person", "mallory"], 1, /^parley: No person has this number\.\n$/],
        [["nonsense"], 2, /^parley: there is no command "nonsense"\.\n/],
      ];
      for (const [args, code, sentence] of WRONG) {
        const run = await parley(args, store);
        assert.deepEqual([run.code, run.out], [code, ""], args.join(" "));
        assert.match(run.err, sentence);
      }
    });
  });
}

describe("a command that reads", () => {
  it("refuses a folder without a store, and makes none there", async () => {
    const nowhere = join(newFolder(), "nowhere");
    for (const args of [
      ["keys", "list"],
      ["people", "list"],
    ]) {
      const run = await parleyHere([...args, "--data-dir", nowhere]);
      assert.deepEqual([run.code, run.err], [1, `parley: There is no store in ${nowhere}.\n`]);
    }
    assert.ok(!existsSync(nowhere));
  });
});
