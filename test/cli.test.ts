import assert from "node:assert/strict";
import { spawn, type ChildProcessWithoutNullStreams } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { fileURLToPath } from "node:url";
import { freshDatabase } from "./fresh-database.ts";
import { openWorld } from "./world.ts";

const MAIN = fileURLToPath(new URL("../src/main.ts", import.meta.url));
const ROOT = mkdtempSync(join(tmpdir(), "parley-cli-"));
const running = new Set<ChildProcessWithoutNullStreams>();
after(() => {
  for (const child of running) child.kill("SIGKILL");
  rmSync(ROOT, { recursive: true });
});

let folders = 0;
const newFolder = () => join(ROOT, `data-${(folders += 1)}`);

interface Run {
  child: ChildProcessWithoutNullStreams;
  out: () => string;
  err: () => string;
  ended: Promise<{ code: number | null; out: string; err: string }>;
}

function start(args: readonly string[], env: Record<string, string> = {}): Run {
  const child = spawn(process.execPath, [MAIN, ...args], {
    env: { PATH: process.env["PATH"], HOME: ROOT, ...env },
  });
  running.add(child);
  let [out, err] = ["", ""];
  child.stdout.setEncoding("utf8").on("data", (text: string) => (out += text));
  child.stderr.setEncoding("utf8").on("data", (text: string) => (err += text));
  const ended = once(child, "close").then(([code]) => {
    running.delete(child);
    return { code: code as number | null, out, err };
  });
  return { child, out: () => out, err: () => err, ended };
}

const parley = (args: readonly string[], env?: Record<string, string>) => start(args, env).ended;

async function until<T>(look: () => T | undefined | null | false, what: string): Promise<T> {
  for (let i = 0; i < 200; i += 1) {
    const found = look();
    if (found) return found;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  return assert.fail(`never came: ${what}`);
}

/** Starts a server on a free port and waits until it has greeted. */
async function serve(
  dataDir: string,
  env: Record<string, string> = {},
  ...flags: string[]
): Promise<Run & { url: string }> {
  const run = start(["serve", "--port", "0", "--data-dir", dataDir, ...flags], env);
  const greeted = () => run.out().includes("  data ") && /^Parley \S+ {2}(http:\S+)/m.exec(run.out())?.[1];
  const url = await Promise.race([
    until(greeted, "the greeting"),
    run.ended.then(({ err }) => assert.fail(`the server ended: ${err}`)),
  ]);
  return { ...run, url };
}

async function stop(run: Run): Promise<number | null> {
  run.child.kill("SIGTERM");
  return (await run.ended).code;
}

const post = (url: string, path: string, body: unknown, headers: Record<string, string> = {}) =>
  fetch(`${url}${path}`, {
    method: "POST",
    body: JSON.stringify(body),
    headers: { "content-type": "application/json", ...headers },
  });

describe("serve", () => {
  it("prints what to do next, ready to paste, and the first key once", async () => {
    const dataDir = newFolder();
    const first = await serve(dataDir);
    const lines = first.out().split("\n");
    assert.match(lines[0] ?? "", /^Parley \d+\.\d+\.\d+ {2}http:\/\/127\.0\.0\.1:\d+ {3}open to this computer only$/);
    assert.equal(lines[1], `  answer  ${first.url}/`);
    const code = /^ {2}you {5}(\S+)\/console#start=([\w-]{43}) {4}works once, 30 minutes; another: parley link$/.exec(
      lines[2] ?? "",
    );
    assert.equal(code?.[1], first.url);
    const key =
      /^ {2}agents {2}export PARLEY_URL=(\S+) PARLEY_KEY=(parley_agent_\w{38})$/.exec(lines[3] ?? "")?.[2] ?? "";
    assert.match(lines[5] ?? "", new RegExp(`^ {2}data {4}${dataDir} {4}SQLite .*, WAL, synchronous=FULL, checked$`));

    const curl = /^ {2}ask {5}curl (\S+) -H "Content-Type: application\/json" -d '(.*)'$/.exec(lines[4] ?? "");
    const asked = await post(curl?.[1] ?? "", "", JSON.parse(curl?.[2] ?? "null"));
    assert.equal(asked.status, 201);
    const withKey = { authorization: `Bearer ${key}` };
    assert.equal((await fetch(`${first.url}/agent/questions?status=OPEN`, { headers: withKey })).status, 200);

    const signIn = () => post(first.url, "/session", { code: code?.[2] }, { origin: first.url });
    const session = await signIn();
    assert.deepEqual(await session.json(), { person: { id: "operator", name: "operator", role: "admin" } });
    assert.match(
      session.headers.get("set-cookie") ?? "",
      /^parley=[\w-]{43}; Path=\/; HttpOnly; SameSite=Lax; Max-Age=2592000$/,
    );
    assert.equal((await signIn()).status, 401);
    assert.equal(await stop(first), 0);

    const second = await serve(dataDir);
    assert.ok(!second.out().includes("parley_agent_"));
    assert.match(second.out(), /#start=[\w-]{43}/);
    assert.equal((await fetch(`${second.url}/agent/questions?status=OPEN`, { headers: withKey })).status, 200);
    assert.equal(await stop(second), 0);
  });

  it("asks for keys and sign-ins on any address but loopback, and says so", async () => {
    const run = await serve(newFolder(), {}, "--host", "0.0.0.0");
    assert.match(run.out(), /asking needs a key; answering needs a sign-in\n/);
    assert.match(run.out(), / {2}ask .* -H "Authorization: Bearer parley_agent_\w{38}" -d /);
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
      const { code, out, err } = await parley(["serve", ...args], env);
      assert.match(err, sentence);
      assert.deepEqual([code, out], [1, ""], args.join(" "));
      assert.ok(!err.includes("canary"));
    }
    assert.equal((await fetch(`${first.url}/human/questions`)).status, 200);
    assert.equal(await stop(first), 0);
  });

  it("answers who waits and ends within ten seconds when told to stop", async () => {
    const run = await serve(newFolder());
    const asked = (await (
      await post(run.url, "/agent/questions", { prompt: "Which label is clearer?", type: "text" })
    ).json()) as {
      question_id: string;
    };
    const waiting = fetch(`${run.url}/agent/questions/${asked.question_id}?wait=25`);
    await new Promise((resolve) => setTimeout(resolve, 300));
    const since = Date.now();
    assert.equal(await stop(run), 0);
    assert.ok(Date.now() - since < 10_000);
    const reply = await waiting;
    assert.equal(reply.status, 200);
    assert.equal(((await reply.json()) as { status: string }).status, "OPEN");
  });

  it("runs on PostgreSQL", async () => {
    const run = await serve(newFolder(), { DATABASE_URL: await freshDatabase() });
    assert.match(run.out(), / {2}data {4}127\.0\.0\.1:\d+\/fresh_\w+ {4}PostgreSQL \d+/);
    assert.equal((await fetch(`${run.url}/human/questions`)).status, 200);
    assert.equal(await stop(run), 0);
  });
});

for (const on of ["sqlite", "postgres"] as const) {
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
      const id =
        /^(key_\w+) is good for agent:build-bot until \S+Z\. It cannot be shown again\.\n$/.exec(err)?.[1] ?? "";
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
      assert.match(person, /^person_\w{22}$/);
      assert.match((await parley(["people", "list"], store)).out, new RegExp(`${person} +member +Ana Ruiz\n`));
      const key = (await parley(["keys", "create", "ana", "--scope", "answer", "--person", person], store)).out.trim();
      const stats = await fetch(`${server.url}/human/stats`, { headers: { authorization: `Bearer ${key}` } });
      assert.equal(stats.status, 200);

      const link = (await parley(["link", "--person", person, "--url", `${server.url}/`], store)).out.trim();
      const code = link.split("#start=")[1];
      assert.equal(link, `${server.url}/console#start=${code}`);
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
          /--expires must be a time such as 12h or 90d/,
        ],
        [
          ["keys", "create", "x", "--scope", "answer", "--person", "mallory"],
          1,
          /^parley: There is no such person\.\n$/,
        ],
        [["keys", "create", "x", "--scope", "answer", "--self-respond"], 1, /^parley: Only a key of scope agent asks/],
        [["keys", "revoke", "key_unknown"], 1, /^parley: There is no such key\.\n$/],
        [["keys", "list", "--loud"], 2, /^parley keys list: Unknown option '--loud'/],
        [["link", "--person", "mallory"], 1, /^parley: There is no such person\.\n$/],
        [["nonsense"], 2, /^parley: there is no command "nonsense"\n/],
      ];
      for (const [args, code, sentence] of WRONG) {
        const run = await parley(args, store);
        assert.deepEqual([run.code, run.out], [code, ""], args.join(" "));
        assert.match(run.err, sentence);
      }
    });
  });
}

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
      /^Which label is clearer\?\n {2}Send {6}0\n {2}Submit {4}1 {2}█+\n1 of 2 answers, open until \S+\n$/,
    );
    const cancelled = await parley(["cancel", id, "--json"], env);
    assert.equal((JSON.parse(cancelled.out) as { cancelled?: boolean }).cancelled, true);
    assert.match((await parley(["check", id], env)).out, /1 of 2 answers, cancelled\n$/);
  });

  it("waits for the answers and prints them with the tally", async () => {
    const run = start(["ask", "Which label is clearer?", ...OPTIONS, "--min", "2", "--wait"], env);
    const id = await idIn(run);
    await answer(id, "ana", { selected_option: 0 });
    await answer(id, "bo", { selected_option: 0 });
    const { code, out } = await run.ended;
    assert.equal(code, 0);
    assert.match(out, /^Which label is clearer\?\n {2}Send {6}2 {2}█+\n {2}Submit {4}0\n2 of 2 answers, closed \S+\n$/);
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
    assert.match(out, /\n1 of 2 answers, expired \S+\n$/);
  });

  it("says 1 when the question was cancelled", async () => {
    const run = start(["ask", "Which label is clearer?", ...OPTIONS, "--wait"], env);
    await parley(["cancel", await idIn(run)], env);
    assert.equal((await run.ended).code, 1);
  });

  it("tells what the server refuses, and that no server is there", async () => {
    const short = await parley(["ask", "Why?"], env);
    assert.deepEqual([short.code, short.err], [1, "parley: prompt must be between 10 and 2000 characters\n"]);
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

describe("help", () => {
  it("lists every command, and shows each with an example", async () => {
    const { code, out } = await parley(["--help"]);
    assert.equal(code, 0);
    const names = [...out.matchAll(/^ {2}parley (\S+(?: \S+)?) {2,}/gm)].map(([, name = ""]) => name);
    assert.ok(names.includes("serve") && names.includes("keys create"));
    const helps = await Promise.all(names.map((name) => parley([...name.split(" "), "--help"])));
    helps.forEach((help, i) => {
      assert.equal(help.code, 0);
      assert.match(help.out, new RegExp(`^parley ${names[i]} .*\n[^]*\nExample: .*parley ${names[i]}`));
    });
  });
});
