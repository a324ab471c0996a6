/**
 * The reference for the server's speed: bare `node:http` that makes one durable insert for each request. It has no
 * routing, no validation, no limits, no events. The row is the request's body under a random id.
 *
 *     node bench/baseline.ts hello                     answers, stores nothing: the ceiling of the load generator
 *     node bench/baseline.ts each FOLDER               a commit for each insert
 *     node bench/baseline.ts group FOLDER              a commit for all inserts of one turn of the event loop
 *     node bench/baseline.ts postgres DATABASE_URL     a commit for each insert, on a pool of 20 connections
 *
 * It prints its address when it is ready.
 */
import { randomBytes } from "node:crypto";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import pg from "pg";

type Insert = (id: string, body: string) => Promise<void>;
type Mode = "hello" | "each" | "group" | "postgres";

const [mode, place = ""] = process.argv.slice(2) as [Mode, string?];
const HELLO = JSON.stringify({ hello: "world" });

async function openInsert(): Promise<Insert> {
  if (mode === "postgres") return openPostgres(place);
  const database = new DatabaseSync(join(place, `${mode}.db`), { timeout: 5000 });
  database.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA cache_size = -65536;");
  database.exec("CREATE TABLE asks (id TEXT PRIMARY KEY, body TEXT NOT NULL, at INTEGER NOT NULL) STRICT");
  return mode === "group" ? insertInGroups(database) : insertEach(database);
}

function insertEach(database: DatabaseSync): Insert {
  const insert = database.prepare("INSERT INTO asks (id, body, at) VALUES (?, ?, ?)");
  return async (id, body) => void insert.run(id, body, Date.now());
}

function insertInGroups(database: DatabaseSync): Insert {
  const insert = database.prepare("INSERT INTO asks (id, body, at) VALUES (?, ?, ?)");
  let waiting: { id: string; body: string; done: () => void }[] = [];

  function commit(): void {
    const group = waiting;
    waiting = [];
    database.exec("BEGIN IMMEDIATE");
    for (const { id, body } of group) insert.run(id, body, Date.now());
    database.exec("COMMIT");
    for (const { done } of group) done();
  }
  return (id, body) =>
    new Promise((resolve) => {
      if (waiting.length === 0) setImmediate(commit);
      waiting.push({ id, body, done: resolve });
    });
}

async function openPostgres(url: string): Promise<Insert> {
  const pool = new pg.Pool({ connectionString: url, max: 20 });
  await pool.query("DROP TABLE IF EXISTS bare_asks");
  await pool.query("CREATE TABLE bare_asks (id TEXT PRIMARY KEY, body TEXT NOT NULL, at BIGINT NOT NULL)");
  const text = "INSERT INTO bare_asks (id, body, at) VALUES ($1, $2, $3)";
  return async (id, body) => void (await pool.query({ name: "insert", text, values: [id, body, Date.now()] }));
}

function storing(insert: Insert): RequestListener {
  return (request, response) => {
    let body = "";
    request.setEncoding("utf8");
    request.on("data", (chunk: string) => (body += chunk));
    request.on("end", () => {
      const id = randomBytes(16).toString("base64url");
      insert(id, body).then(
        () => {
          const reply = JSON.stringify({ question_id: id, status: "OPEN", poll_url: `/agent/questions/${id}` });
          response.writeHead(201, { "content-type": "application/json", "content-length": Buffer.byteLength(reply) });
          response.end(reply);
        },
        (error: Error) => response.writeHead(500).end(error.message),
      );
    });
  };
}

const greeting: RequestListener = (_request, response) => {
  response.writeHead(200, { "content-type": "application/json", "content-length": HELLO.length });
  response.end(HELLO);
};

const server = createServer(mode === "hello" ? greeting : storing(await openInsert()));
server.listen(0, "127.0.0.1", () => console.log(`http://127.0.0.1:${(server.address() as AddressInfo).port}`));
process.once("SIGTERM", () => process.exit(0));
