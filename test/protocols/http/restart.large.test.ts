import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { createServer, type AddressInfo, type Server } from "node:net";
import { describe, it } from "node:test";
import * as classic from "humanlayer";
import * as sdk from "@humanlayer/sdk";
import { findServerProcess } from "../../../src/cli/server-process.ts";
import { takeInheritedSockets } from "../../../src/lib/network/inherited-sockets.ts";
import { isAlive } from "../../../src/workshop/sandbox/processes.ts";
import { endServerOf, environment, MAIN, newFolder, parley, post, serve, stop, until } from "../../support/program.ts";
import { greetingsIn } from "../../support/log-lines.ts";
import { ROOMY } from "../../support/contract.ts";
import { freshDatabase } from "../../support/fresh-database.ts";
import { DATABASES } from "../../support/world.ts";

const BASE = "/humanlayer/v1";
const CLIENTS = 60;
let over = false;
/** They ask four times as often as they would, so that more are under way at any moment, until a test is over. */
async function sleep(ms: number): Promise<void> {
  await new Promise<void>((resolve) => setTimeout(resolve, ms / 4));
  if (over) throw new Error("nobody answered before the test was over");
}

/** A listening socket of this process; `Server` tells nobody which descriptor it has, and passes it all the same. */
async function openSocket(host: string): Promise<{ server: Server; descriptor: number; url: string }> {
  const server = createServer().listen(0, host);
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const { fd } = (server as Server & { _handle: { fd: number } })._handle;
  return { server, descriptor: fd, url: `http://${host}:${port}` };
}

interface Held extends AsyncDisposable {
  out: () => string;
  url: string;
}

/** Holds a socket open as systemd does, and runs a server on it again and again; only the server takes connections. */
async function holdSocket(dataDir: string, host = "127.0.0.1", env: Record<string, string> = {}): Promise<Held> {
  const { server, descriptor, url } = await openSocket(host);
  const again = `while :; do sh -c 'export LISTEN_PID=$$; exec "$@"' sh "$@"; echo "ended with $?"; done`;
  const child = spawn("/bin/sh", ["-c", again, "sh", process.execPath, MAIN, "serve", "--data-dir", dataDir], {
    stdio: ["ignore", "pipe", "ignore", descriptor],
    env: environment({ LISTEN_FDS: "1", LISTEN_FDNAMES: "parley.socket", ...env }),
  });
  server.close();
  let out = "";
  child.stdout?.setEncoding("utf8").on("data", (text: string) => (out += text));
  const ended = once(child, "close");
  return {
    out: () => out,
    url,
    async [Symbol.asyncDispose]() {
      child.kill("SIGKILL");
      endServerOf(dataDir);
      await ended;
    },
  };
}

const greetings = (run: { out: () => string }) => greetingsIn(run.out()).length;
const serverOf = (dataDir: string) => findServerProcess(dataDir) ?? assert.fail("no server");

/** A key whose agent may answer its own calls, so that nobody else has to be there. */
async function newKey(dataDir: string, env: Record<string, string>): Promise<string> {
  const flags = ["--scope", "agent", "--self-respond", "--data-dir", dataDir];
  const made = await parley(["keys", "create", "support", ...flags], env);
  assert.equal(made.code, 0, made.err);
  return made.out.trim();
}

/**
 * Sixty unmodified clients wait for approvals, and others write and wait, while `restart` runs; then all are approved.
 * Nobody has seen anything but what they asked for.
 */
async function withoutLoss(url: string, key: string, restart: () => Promise<void>) {
  over = false;
  const headers = { authorization: `Bearer ${key}` };
  const packages = [classic.humanlayer, sdk.humanlayer as unknown as typeof classic.humanlayer];
  let written = 0;
  const approvals = Array.from({ length: CLIENTS }, async (_, i) => {
    const open = packages[i % 2] ?? assert.fail();
    const hl = open({ apiKey: key, apiBaseUrl: `${url}${BASE}`, sleep });
    return hl.fetchHumanApproval({ spec: { fn: "refund", kwargs: { order: `A-${i}` } } });
  });
  const others = Array.from({ length: 4 }, async (_, i) => {
    while (!over) {
      const question = { prompt: `Is ${written} from ${i} good?`, type: "text", min_responses: 1 };
      const reply = await post(url, "/agent/questions", question, headers);
      assert.equal(reply.status, 201, await reply.clone().text());
      const { question_id: id } = (await reply.json()) as { question_id: string };
      const polled = await fetch(`${url}/agent/questions/${id}?wait=1`, { headers });
      assert.equal(polled.status, 200, await polled.clone().text());
      written += 1;
    }
  });
  const troubles: string[] = [];
  const all = [...approvals, ...others].map((one) =>
    one.catch((error: Error) => {
      troubles.push(`${error.message} ${String((error.cause as Error | undefined)?.message ?? "")}`);
      return null;
    }),
  );
  try {
    await until(() => written > 3 || troubles.length > 0, "load");
    await restart();
    const before = written;
    await until(() => written > before + 3 || troubles.length > 0, "load after the restart");
    const list = await fetch(`${url}${BASE}/agent/function_calls/pending?limit=1000`, { headers });
    const { items } = (await list.json()) as { items: { call_id: string }[] };
    for (const { call_id: id } of items) {
      const path = `${BASE}/agent/function_calls/${id}/respond`;
      const reply = await post(url, path, { approved: true }, headers);
      assert.equal(reply.status, 200, await reply.text());
    }
    const heard = await Promise.race([Promise.all(approvals), until(() => troubles.length > 0 || over, "trouble")]);
    assert.deepEqual(troubles, []);
    assert.ok(Array.isArray(heard) && heard.every((one) => (one as { approved?: boolean }).approved === true));
  } finally {
    over = true;
    await Promise.all(all);
  }
  assert.deepEqual(troubles, []);
}

const LIMITS = {
  ...ROOMY,
  PARLEY_ASK_A_HUMAN_LIMITS_QUESTIONS_PER_HOUR: "100000",
  PARLEY_ASK_A_HUMAN_LIMITS_OPEN_QUESTIONS: "100000",
};

for (const on of DATABASES) {
  const settings = async () => ({ ...LIMITS, ...(on === "postgres" && { DATABASE_URL: await freshDatabase() }) });

  describe(`a restart under load on ${on}`, () => {
    it("loses no request and nobody who waits, where somebody holds the socket open", async () => {
      const dataDir = newFolder();
      const env = await settings();
      await using run = await holdSocket(dataDir, "127.0.0.1", env);
      await until(() => greetings(run) === 1, "the first server");
      const key = await newKey(dataDir, env);
      await withoutLoss(run.url, key, async () => {
        const first = serverOf(dataDir);
        process.kill(first.pid, "SIGTERM");
        await until(() => greetings(run) === 2, "the second server");
        assert.notEqual(serverOf(dataDir).pid, first.pid);
        assert.match(run.out(), /ended with 0/);
      });
    });

    it("loses none where a server starts the next one in its place, and the one after", async () => {
      const dataDir = newFolder();
      const env = await settings();
      const run = await serve(dataDir, env);
      const key = await newKey(dataDir, env);
      const pids = new Set([serverOf(dataDir).pid]);
      await withoutLoss(run.url, key, async () => {
        for (let i = 1; i <= 2; i += 1) {
          const replaced = await parley(["serve", "--replace", "--data-dir", dataDir], env);
          assert.equal(replaced.code, 0, replaced.err + run.err());
          pids.add(serverOf(dataDir).pid);
          assert.equal(pids.size, i + 1);
          await until(() => greetings(run) === i + 1, "its greeting");
        }
      });
      // The first process still supervises the server, and only the last server runs beside it.
      const last = serverOf(dataDir);
      run.child.kill("SIGTERM");
      assert.equal((await run.ended).code, 0, run.err());
      await until(() => !isAlive(last.pid, last.starttime), "the end of the last server");
    });
  });
}

describe("a restart", () => {
  it("leaves the former server as it is where the next one does not start", async () => {
    const dataDir = newFolder();
    const settings = `${dataDir}.yaml`;
    writeFileSync(settings, "log:\n  level: warn\n");
    const run = await serve(dataDir, {}, "--config", settings);
    const { pid } = serverOf(dataDir);
    writeFileSync(settings, "log:\n  level: loud\n");
    const replaced = await parley(["serve", "--replace", "--data-dir", dataDir]);
    assert.equal(replaced.code, 1);
    assert.match(replaced.err, /no other server was started, and the former one goes on/);
    assert.match(run.err(), /No other server was started, and this one goes on: it ended with exit code 1/);
    assert.equal(serverOf(dataDir).pid, pid);
    assert.equal((await fetch(`${run.url}/healthz`)).status, 200);
    assert.equal(await stop(run), 0);
  });
});

describe("sockets that a server is started with", () => {
  it("say who may be let in: one that others reach needs keys", async () => {
    const dataDir = newFolder();
    await using run = await holdSocket(dataDir, "0.0.0.0");
    await until(() => greetings(run) === 1, "the server");
    assert.match(run.out(), /asking needs a key/);
    const { port } = new URL(run.url);
    const reply = await post(`http://127.0.0.1:${port}`, "/agent/questions", { prompt: "Well?", type: "text" });
    assert.equal(reply.status, 401);
  });

  it("are another process's where LISTEN_PID says so, and are told to no program that is started later", () => {
    const env: NodeJS.ProcessEnv = { LISTEN_PID: "1", LISTEN_FDS: "1", LISTEN_FDNAMES: "x", PATH: "/bin" };
    assert.deepEqual([takeInheritedSockets(env), env], [[], { PATH: "/bin" }]);
    const odd = { LISTEN_PID: String(process.pid), LISTEN_FDS: "one" };
    assert.throws(() => takeInheritedSockets(odd), /LISTEN_FDS must be a number of sockets, and is "one"/);
  });
});
