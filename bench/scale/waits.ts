/** Ten thousand waits for one answer, or streams of one job, at one server as it is published. */
import { mkdirSync, writeFileSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { percentile } from "../load.ts";
import { openDatabase } from "../peers/postgres.ts";
import { openExecutors } from "../relay-load.ts";
import { startParley, type Started } from "../servers.ts";

export type WaitKind = "polls" | "streams";

export interface WaitFigures {
  engine: string;
  kind: WaitKind;
  count: number;
  /** Memory of the whole server before the waits, with all of them, and after they were told, in MiB. */
  idleMib: number;
  parkedMib: number;
  afterMib: number;
  /** Milliseconds from the request that ends the ask until a client had its answer. */
  firstMs: number;
  p50Ms: number;
  lastMs: number;
  told: number;
  /** The server's processor time meanwhile. */
  cpuMs: number;
}

/** A server takes 1,000 connections of one address; loopback has many. */
const CONNECTIONS_PER_ADDRESS = 900;
const AT_ONCE = 250;
const TOLD_WITHIN_MS = 20_000;

interface Waiters {
  /** Milliseconds on `performance.now()` of each; 0 while it waits. */
  toldAt: Float64Array;
  close(): void;
}

/** Starts a server of a package, parks `count` waits, ends what they wait for, and stops the server. */
export async function measureWaits(
  at: { folder: string; program: string; onPostgres: boolean },
  kind: WaitKind,
  count: number,
): Promise<WaitFigures> {
  const engine = at.onPostgres ? "PostgreSQL" : "SQLite";
  const dataDir = join(at.folder, `waits-${engine}-${kind}`);
  mkdirSync(dataDir, { mode: 0o700 });
  writeFileSync(join(dataDir, "parley.yaml"), "log: { level: warn }\n");
  const database = at.onPostgres ? await openDatabase() : null;
  try {
    const server = await startParley({
      dataDir,
      program: at.program,
      nodeFlags: ["--max-semi-space-size=8"],
      ...(database && { databaseUrl: database.url }),
    });
    try {
      return { engine, kind, count, ...(await parkAndTell(server, kind, count)) };
    } finally {
      await server.stop();
    }
  } finally {
    await database?.stop();
  }
}

async function parkAndTell(
  server: Started,
  kind: WaitKind,
  count: number,
): Promise<Omit<WaitFigures, "engine" | "kind" | "count">> {
  const executors = openExecutors(server.url, 1);
  const id = await executors.post(0, { jobId: "W-1", prompt: "Who waits?" });
  await sleep(1000);
  const mib = () => server.rssBytes() / 2 ** 20;
  const idleMib = mib();
  const [path, told] =
    kind === "polls" ? [`/asks/${id}/answer?wait=60s`, '"status"'] : ["/jobs/W-1/events", "event: answer"];
  const waiters = await openWaiters(server.url, count, path, told);
  await untilQuiet(server);
  const parkedMib = mib();
  const cpuBefore = server.cpuMs();
  const from = performance.now();
  await fetch(`${server.url}/asks/${id}`, { method: "DELETE" });
  while (waiters.toldAt.includes(0) && performance.now() < from + TOLD_WITHIN_MS) await sleep(10);
  const cpuMs = server.cpuMs() - cpuBefore;
  const took = [...waiters.toldAt].filter((ms) => ms > 0).map((ms) => ms - from);
  const afterMib = mib();
  waiters.close();
  executors.close();
  const [firstMs, lastMs] = [Math.min(...took), Math.max(...took)];
  return { idleMib, parkedMib, afterMib, firstMs, p50Ms: percentile(took, 0.5), lastMs, told: took.length, cpuMs };
}

/** Opens requests that stay open, on bare sockets: ten thousand general clients would cost more than the server. */
async function openWaiters(url: string, count: number, path: string, told: string): Promise<Waiters> {
  const { hostname, port, host } = new URL(url);
  const toldAt = new Float64Array(count);
  const sockets: Socket[] = [];
  for (let i = 0; i < count; i += 1) {
    const localAddress = `127.0.1.${1 + Math.floor(i / CONNECTIONS_PER_ADDRESS)}`;
    const socket = connect({ host: hostname, port: Number(port), localAddress });
    socket.setEncoding("latin1").on("data", (text: string) => {
      if (toldAt[i] === 0 && text.includes(told)) toldAt[i] = performance.now();
    });
    // A wait that broke off counts as one that was not told.
    socket.on("error", () => undefined);
    socket.write(`GET ${path} HTTP/1.1\r\nHost: ${host}\r\n\r\n`);
    sockets.push(socket);
    if (i % AT_ONCE === AT_ONCE - 1 && socket.connecting) {
      await new Promise<void>((resolve) => socket.once("connect", resolve).once("close", () => resolve()));
    }
  }
  return { toldAt, close: () => sockets.forEach((socket) => socket.destroy()) };
}

/** Resolves once the server has taken in all of them: it then uses less than a tenth of a core. */
async function untilQuiet(server: Started): Promise<void> {
  for (let before = server.cpuMs(); ;) {
    await sleep(1000);
    const now = server.cpuMs();
    if (!(now - before > 100)) return;
    before = now;
  }
}
