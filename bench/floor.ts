/**
 * The floor of a decision's cost: bare `node:http` over `node:sqlite`, synchronous=FULL, with one commit for all writes
 * of a turn of the event loop. A create writes a row under its id and an event, and so does an answer. A wait parks its
 * reply until the answer is on disk. There is no routing, no validation and no limit.
 *
 *     node bench/floor.ts FOLDER
 *
 * It prints its address when it is ready.
 */
import { randomBytes } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";

const database = new DatabaseSync(join(process.argv[2] ?? ".", "floor.db"), { timeout: 5000 });
database.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA cache_size = -65536;");
database.exec("CREATE TABLE asks (id TEXT PRIMARY KEY, body TEXT NOT NULL, answer TEXT, at INTEGER NOT NULL) STRICT");
database.exec("CREATE TABLE events (number INTEGER PRIMARY KEY, id TEXT NOT NULL, kind TEXT NOT NULL) STRICT");
const insert = database.prepare("INSERT INTO asks (id, body, at) VALUES (?, ?, ?)");
const update = database.prepare("UPDATE asks SET answer = ? WHERE id = ? AND answer IS NULL");
const event = database.prepare("INSERT INTO events (id, kind) VALUES (?, ?)");

interface Write {
  run(): void;
  done(): void;
}

let group: Write[] = [];
const waiters = new Map<string, ServerResponse>();

function write(run: () => void, done: () => void): void {
  if (group.push({ run, done }) === 1) setImmediate(commit);
}

function commit(): void {
  const writes = group;
  group = [];
  database.exec("BEGIN IMMEDIATE");
  for (const { run } of writes) run();
  database.exec("COMMIT");
  for (const { done } of writes) done();
}

function reply(response: ServerResponse, status: number, body: object): void {
  const text = JSON.stringify(body);
  response.writeHead(status, { "content-type": "application/json", "content-length": Buffer.byteLength(text) });
  response.end(text);
}

function receive(request: IncomingMessage, use: (body: string) => void): void {
  let body = "";
  request.setEncoding("utf8");
  request.on("data", (chunk: string) => (body += chunk));
  request.on("end", () => use(body));
}

function create(body: string, response: ServerResponse): void {
  const id = randomBytes(16).toString("base64url");
  const run = () => {
    insert.run(id, body, Date.now());
    event.run(id, "created");
  };
  write(run, () => reply(response, 201, { id }));
}

function answer(id: string, body: string, response: ServerResponse): void {
  const run = () => {
    update.run(body, id);
    event.run(id, "answered");
  };
  write(run, () => {
    reply(response, 201, { id });
    const waiter = waiters.get(id);
    waiters.delete(id);
    if (waiter) reply(waiter, 200, { id, answer: body });
  });
}

const server = createServer((request, response) => {
  const id = request.url?.slice(1) ?? "";
  if (request.method === "GET") waiters.set(id, response);
  else receive(request, (body) => (id === "" ? create(body, response) : answer(id, body, response)));
});
server.listen(0, "127.0.0.1", () => console.log(`http://127.0.0.1:${(server.address() as AddressInfo).port}`));
process.once("SIGTERM", () => process.exit(0));
