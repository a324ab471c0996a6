/**
 * Makes the stores of a released version that `released-stores.test.ts` upgrades, on both databases:
 *
 *     git worktree add --detach /tmp/released REV && (cd /tmp/released && node scripts/setup.mjs)
 *     node test/core/released-stores/make-store.ts /tmp/released VERSION
 *
 * The released program itself runs on an empty store, and some of everything is done by its HTTP API. Three files whose
 * names begin with the version stand beside this one afterwards: the compressed SQLite database, compressed SQL for
 * PostgreSQL, and JSON with the keys, the ids and the time.
 */
import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import pg from "pg";
import { startPostgres } from "../../support/postgres.ts";
import { reservePort } from "../../support/ports.ts";
import { until } from "../../support/contract.ts";
import { newAnswer, newAsk } from "../../support/relay.ts";
import { dumpDatabase } from "./dump-database.ts";

const SETTINGS = "repos: [{ name: shop, worker: true, agent: claude }]\n";
const A2H = "/a2h/v1alpha1";

const [checkout = "", version = ""] = process.argv.slice(2);
assert.ok(checkout && version, "usage: make-store.ts CHECKOUT VERSION");
const main = join(checkout, "src", "main.ts");
const beside = (name: string) => join(import.meta.dirname, name);

const onSqlite = await live({});
writeFileSync(
  beside(`${version}-sqlite.db.gz`),
  gzipSync(readFileSync(join(onSqlite.dataDir, "parley.db")), { level: 9 }),
);
const postgres = await startPostgres({ inMemory: true });
const onPostgres = await live({ DATABASE_URL: postgres.url });
const client = new pg.Client({ connectionString: postgres.url });
await client.connect();
writeFileSync(beside(`${version}-postgres.sql.gz`), gzipSync(await dumpDatabase(client), { level: 9 }));
await client.end();
await postgres.stop();
const facts = { sqlite: onSqlite.facts, postgres: onPostgres.facts };
writeFileSync(beside(`${version}.json`), `${JSON.stringify({ version, ...facts }, null, 2)}\n`);
for (const { dataDir } of [onSqlite, onPostgres]) rmSync(dataDir, { recursive: true });

/** Runs the released server on an empty store, does some of everything, and ends it. */
async function live(store: Record<string, string>) {
  const dataDir = mkdtempSync(join(tmpdir(), "parley-released-"));
  mkdirSync(dataDir, { recursive: true });
  writeFileSync(join(dataDir, "parley.yaml"), SETTINGS);
  const port = await reservePort();
  const base = { PATH: process.env["PATH"] ?? "", HOME: dataDir, PARLEY_DATA_DIR: dataDir, PARLEY_PORT: String(port) };
  const env = { ...base, ...store };
  const server = spawn(process.execPath, [main, "serve"], { env, stdio: ["ignore", "ignore", "inherit"] });
  const url = `http://127.0.0.1:${port}`;
  await until(() =>
    fetch(`${url}/readyz`).then(
      ({ ok }) => ok,
      () => false,
    ),
  );
  const run = (...args: string[]) => execFileSync(process.execPath, [main, ...args], { env, encoding: "utf8" }).trim();
  const facts = await doEverything(url, run).finally(() => server.kill("SIGTERM"));
  await once(server, "exit");
  const installationKey = readFileSync(join(dataDir, "installation.key"), "utf8");
  return { dataDir, facts: { ...facts, madeAt: Date.now(), installationKey } };
}

/** Returns the ids and keys of what was done. */
async function doEverything(url: string, run: (...args: string[]) => string) {
  const key = (name: string, scope: string, ...more: string[]) =>
    run("keys", "create", name, "--scope", scope, ...more);
  const keys = {
    agent: key("support", "agent"),
    admin: key("boss", "admin"),
    executor: key("runner", "executor"),
    assign: key("planner", "assign"),
  };
  const post = async (path: string, token: string | null, body: unknown, headers: Record<string, string> = {}) => {
    const response = await fetch(url + path, {
      method: "POST",
      headers: { "content-type": "application/json", ...(token && { authorization: `Bearer ${token}` }), ...headers },
      body: JSON.stringify(body),
    });
    const text = await response.text();
    assert.ok(response.ok, `${path}: ${response.status} ${text}`);
    return text === "" ? {} : JSON.parse(text);
  };
  const crowd = { prompt: "Which label is clearer?", type: "multiple_choice", options: ["Send", "Submit"] };
  const { question_id: answered } = await post("/agent/questions", keys.agent, { ...crowd, min_responses: 2 });
  const { question_id: open } = await post("/agent/questions", keys.agent, { ...crowd, min_responses: 3 });
  for (const [name, question] of [
    ["ana", answered],
    ["bo", answered],
    ["cy", open],
  ] as const) {
    const body = { question_id: question, selected_option: 1 };
    await post("/human/responses", null, body, { "x-fingerprint": `${name}-device` });
  }

  const { id: person } = await post(`${A2H}/humans`, keys.admin, {
    name: "Ana Ruiz",
    prioritizedContactChannels: [{ inbox: {} }],
  });
  // Version 0.1.0 had another id of a person beside the number.
  const [id = person] = /\bperson_\w+/.exec(run("people", "list")) ?? [];
  const answer = key("ana", "answer", "--person", id);
  await post(`${A2H}/webhook_endpoints`, keys.agent, { url: "http://127.0.0.1:9/told", format: "a2h" });
  const call = (id: string, order: number) => ({
    run_id: "run_1",
    call_id: id,
    spec: { fn: "issue_refund", kwargs: { order }, channel: { human: { id: person } } },
  });
  await post(`${A2H}/function_calls`, keys.agent, call("approved", 1));
  await post(`${A2H}/agent/function_calls/approved/respond`, answer, { approved: true });
  await post(`${A2H}/function_calls`, keys.agent, call("rejected", 2));
  await post(`${A2H}/agent/function_calls/rejected/respond`, answer, { approved: false, comment: "Not this one." });
  await post(`${A2H}/function_calls`, keys.agent, call("open", 3));
  const contact = {
    run_id: "run_1",
    call_id: "contact",
    spec: { msg: "Which shop?", channel: { human: { id: person } } },
  };
  await post(`${A2H}/human_contacts`, keys.agent, contact);
  await post(`${A2H}/agent/human_contacts/contact/respond`, answer, { response: "The one in Lyon." });

  await post("/jobs", keys.executor, { job_id: "job", external: true });
  const settled = await post("/asks", keys.executor, newAsk({ job_id: "job", step_id: "one" }));
  const pending = await post(
    "/asks",
    keys.executor,
    newAsk({ job_id: "job", step_id: "two", prompt: "Which country?" }),
  );
  await post("/answers", key("answers", "answer"), newAnswer(settled, { answer_text: "EUR" }));

  await post("/assignment", keys.assign, { id: "waiting", prompt: "Add a footer" });
  await post("/assignment", keys.assign, { id: "begun", prompt: "Add a header" });
  return { keys: { ...keys, answer }, person, answered, open, settled: settled.ask_id, pending: pending.ask_id };
}
