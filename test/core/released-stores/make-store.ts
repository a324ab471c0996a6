/**
 * Makes the stores of a released version that `released-stores.test.ts` upgrades, on both databases:
 *
 *     git worktree add --detach /tmp/released REV && (cd /tmp/released && node scripts/setup.mjs)
 *     node test/core/released-stores/make-store.ts /tmp/released VERSION
 *
 * The released program itself runs on an empty store, and some of everything is done by its HTTP API. Files whose names
 * begin with the version stand beside this one afterwards: the compressed SQLite database, its compressed export,
 * compressed SQL for PostgreSQL, and JSON with the keys, the ids and the time. `0.2.0-backup.tar.gz` is what
 * `parley backup` of 0.2.0 made of that store, with three files of a job and a role beside it.
 */
import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import pg from "pg";
import { startPostgres } from "../../support/postgres.ts";
import { reservePort } from "../../support/ports.ts";
import { until } from "../../support/contract.ts";
import { newAnswer, newAsk } from "../../support/relay.ts";
import type { Reply } from "../../support/world.ts";
import { dumpDatabase } from "./dump-database.ts";

const SETTINGS = `
repos: [{ name: shop, worker: true, agent: claude }]
a2h: { entry_points: { support: { agent: support, inbox: true } } }
`;
const A2H = "/a2h/v1alpha1";
const by = (key: string) => ({ authorization: `Bearer ${key}` });

const [checkout = "", version = ""] = process.argv.slice(2);
assert.ok(checkout && version, "usage: make-store.ts CHECKOUT VERSION");
const main = join(checkout, "src", "main.ts");
const beside = (name: string) => join(import.meta.dirname, name);

const onSqlite = await live({});
writeFileSync(
  beside(`${version}-sqlite.db.gz`),
  gzipSync(readFileSync(join(onSqlite.dataDir, "parley.db")), { level: 9 }),
);
// Version 0.1.0 makes no exports.
if (version !== "0.1.0") {
  const file = join(onSqlite.dataDir, "store.jsonl");
  onSqlite.run("export", file);
  writeFileSync(beside(`${version}-export.jsonl.gz`), gzipSync(readFileSync(file), { level: 9 }));
}
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
  return { dataDir, run, facts: { ...facts, madeAt: Date.now(), installationKey } };
}

type Run = (...args: string[]) => string;
interface Sending {
  method?: string;
  headers?: Record<string, string>;
  body?: unknown;
}
/** Makes one request of the server and returns its reply, which must accept the request. */
type Send = (path: string, options?: Sending) => Promise<Reply["body"]>;

/** Returns the ids and keys of what was done. */
async function doEverything(url: string, run: Run) {
  const send: Send = async (path, { method = "POST", headers = {}, body } = {}) => {
    const response = await fetch(url + path, {
      method,
      headers: { ...(body !== undefined && { "content-type": "application/json" }), ...headers },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    assert.ok(response.ok, `${path}: ${response.status} ${text}`);
    return text === "" ? {} : JSON.parse(text);
  };
  const keyOf = (name: string, scope: string, ...more: string[]) =>
    run("keys", "create", name, "--scope", scope, ...more);
  const keys = {
    agent: keyOf("support", "agent"),
    admin: keyOf("boss", "admin"),
    executor: keyOf("runner", "executor"),
    assign: keyOf("planner", "assign"),
    responder: keyOf("responder", "answer"),
  };
  const enrolled = { name: "Ana Ruiz", prioritizedContactChannels: [{ inbox: {} }] };
  const { id: person } = await send(`${A2H}/humans`, { headers: by(keys.admin), body: enrolled });
  // Version 0.1.0 had another id of a person beside the number.
  const people = JSON.parse(run("people", "list", "--json")) as { id: string; role: string; name: string }[];
  const keyOfPerson = (role: string) =>
    keyOf(role, "answer", "--person", people.find((one) => one.role === role)?.id ?? assert.fail(role));
  const answer = keyOfPerson("member");
  const questions = await askCrowd(send, keys.agent);
  await askPerson(send, { agent: keys.agent, answer, person });
  await allowForGood(send, keys.agent, keyOfPerson("admin"));
  const conversation = await converse(send, { agent: keys.agent, answer });
  const asks = await runJob(send, keys.executor, keys.responder);
  await send("/assignment", { headers: by(keys.assign), body: { id: "begun", prompt: "Add a header" } });
  const waiting = { id: "waiting", prompt: "Add a footer", dependencies: ["begun"] };
  await send("/assignment", { headers: { ...by(keys.assign), "idempotency-key": "footer" }, body: waiting });
  return { ...questions, ...asks, keys: { ...keys, answer }, person, conversation };
}

/** One question is answered; of the other, one answer is there, and people skipped and reported it. */
async function askCrowd(send: Send, agent: string) {
  const crowd = { prompt: "Which label is clearer?", type: "multiple_choice", options: ["Send", "Submit"] };
  const ask = (needed: number) =>
    send("/agent/questions", {
      headers: { ...by(agent), "idempotency-key": `label-${needed}` },
      body: { ...crowd, min_responses: needed },
    });
  const { question_id: answered } = await ask(2);
  const { question_id: open } = await ask(3);
  const as = (name: string) => ({ "x-fingerprint": `${name}-device` });
  for (const [name, question] of [
    ["ana", answered],
    ["bo", answered],
    ["cy", open],
  ] as const) {
    await send(`/human/questions/${question}`, { method: "GET", headers: as(name) });
    const body = { question_id: question, selected_option: 1 };
    await send("/human/responses", { headers: as(name), body });
  }
  await send(`/human/questions/${open}/skip`, { headers: as("fay") });
  await send(`/human/questions/${open}/report`, { headers: as("gus"), body: { reason: "spam" } });
  return { answered, open };
}

/** A person approves, rejects and answers what an agent asks; one call waits. */
async function askPerson(send: Send, { agent, answer, person }: { agent: string; answer: string; person: string }) {
  await send(`${A2H}/webhook_endpoints`, {
    headers: by(agent),
    body: { url: "http://127.0.0.1:9/told", format: "a2h" },
  });
  const channel = { human: { id: person } };
  const call = (id: string, order: number) => {
    const spec = { fn: "issue_refund", kwargs: { order }, channel };
    return send(`${A2H}/function_calls`, { headers: by(agent), body: { run_id: "run_1", call_id: id, spec } });
  };
  const respond = (path: string, body: unknown) => send(`${A2H}/agent/${path}/respond`, { headers: by(answer), body });
  await call("approved", 1);
  await respond("function_calls/approved", { approved: true });
  await call("rejected", 2);
  await respond("function_calls/rejected", { approved: false, comment: "Not this one." });
  await call("open", 3);
  const contact = { run_id: "run_1", call_id: "contact", spec: { msg: "Which shop?", channel } };
  await send(`${A2H}/human_contacts`, { headers: by(agent), body: contact });
  await respond("human_contacts/contact", { response: "The one in Lyon." });
}

/** An agent's call is allowed for good by somebody who administers the server. */
async function allowForGood(send: Send, agent: string, operator: string) {
  const body = { run_id: "run_1", call_id: "granted", spec: { fn: "deploy", kwargs: { env: "staging" } } };
  const { status } = await send(`${A2H}/function_calls`, { headers: by(agent), body });
  const path = `/people/me/asks/${status.ask_id}`;
  const { digest } = await send(path, { method: "GET", headers: by(operator) });
  await send(`${path}/decision`, { headers: by(operator), body: { digest, approved: true, standing: true } });
}

/** A person begins a conversation, the agent takes it, and the person goes on. */
async function converse(send: Send, { agent, answer }: { agent: string; answer: string }) {
  const own = "/people/me/conversations";
  const opening = { entry_point: "support", text: "Where is my order?", id: "first" };
  const { id: conversation } = await send(own, { headers: by(answer), body: opening });
  const { items } = await send(`${A2H}/conversations`, { method: "GET", headers: by(agent) });
  await send(`${A2H}/conversations/${items[0].metadata.uid}/ack`, { headers: by(agent) });
  await send(`${own}/${conversation}/messages`, {
    headers: by(answer),
    body: { text: "It is the blue one.", id: "second" },
  });
  return conversation as number;
}

/** One ask of a job is answered, and one waits for people. */
async function runJob(send: Send, executor: string, responder: string) {
  await send("/jobs", { headers: by(executor), body: { job_id: "job", external: true } });
  const ask = (more: Record<string, unknown>) =>
    send("/asks", { headers: by(executor), body: newAsk({ job_id: "job", ...more }) });
  const settled = await ask({ step_id: "one" });
  const pending = await ask({ step_id: "two", prompt: "Which country?" });
  await send("/answers", { headers: by(responder), body: newAnswer(settled, { answer_text: "EUR" }) });
  return { settled: settled.ask_id, pending: pending.ask_id };
}
