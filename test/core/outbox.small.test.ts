import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { pino } from "pino";
import { DeliveryError } from "../../src/channels/channel.ts";
import { startOutbox, type Outbox } from "../../src/core/loops/outbox.ts";
import { openWake } from "../../src/core/store/wake.ts";
import { advanceUntil, until } from "../support/contract.ts";
import { heldClock } from "../support/held-clock.ts";

interface Row {
  name: string;
  attempt: number;
  log: { row: string };
  dueAt: number;
  state: "due" | "sent" | "given up";
}

const LEASE_MS = 60_000;
const IDLE_MS = 1000;

/** Opens an outbox over rows in memory; `send` sends one. */
function openRows(send: (row: Row, signal: AbortSignal) => Promise<void>) {
  const clock = heldClock();
  const wake = openWake();
  const lines: { msg: string; row?: string; loop?: string; err?: { message: string } }[] = [];
  const log = pino({}, { write: (line: string) => void lines.push(JSON.parse(line)) });
  const rows: Row[] = [];
  const pauses: (number | null)[] = [];
  const outbox: Outbox<Row, Row> = {
    name: "rows",
    topic: "rows",
    idleMs: IDLE_MS,
    retries: { pausesMs: [2000, 8000], jitter: 0.5, longestMs: 20_000 },
    findDue: async () => rows.filter(({ state, dueAt }) => state === "due" && dueAt <= clock.monotonic()),
    async claim(row, leaseMs) {
      if (row.name === "unreadable") throw new Error("it cannot be read");
      row.attempt += 1;
      row.dueAt = clock.monotonic() + leaseMs;
      return row;
    },
    async send(row, signal) {
      await send(row, signal);
      row.state = "sent";
    },
    async failed(row, _error, inMs) {
      pauses.push(inMs);
      if (inMs === null) row.state = "given up";
      else row.dueAt = clock.monotonic() + inMs;
    },
  };
  const add = (name: string) => {
    const row: Row = { name, attempt: 0, log: { row: name }, dueAt: clock.monotonic(), state: "due" };
    rows.push(row);
    wake.publish(["rows"]);
    return row;
  };
  const start = () => startOutbox({ clock, wake, log, random: (size) => new Uint8Array(size).fill(255) }, outbox);
  const look = (holds: () => boolean) => advanceUntil({ advance: async (ms) => clock.advance(ms) }, IDLE_MS, holds);
  return { clock, lines, pauses, add, start, look };
}

describe("an outbox", () => {
  it("sends a row as soon as its topic is woken, while the clock stands", async () => {
    const { add, start } = openRows(async () => {});
    const loop = start();
    const row = add("a");
    await until(() => row.state === "sent");
    await loop.stop();
  });

  it("sends again after pauses that chance makes longer, and gives up after the last", async () => {
    const { add, start, look, pauses, lines } = openRows(async () => {
      throw new DeliveryError("down", { retry: true });
    });
    const loop = start();
    const row = add("a");
    await look(() => row.state === "given up");
    assert.deepEqual([pauses, row.attempt, lines.length], [[3000, 12_000, null], 3, 0]);
    await loop.stop();
  });

  it("waits as long as the other side asks, up to the longest, and not at all for what is refused", async () => {
    const errors = [
      new DeliveryError("busy", { retry: true, retryAfterMs: 9000 }),
      new DeliveryError("busy", { retry: true, retryAfterMs: 90_000 }),
    ];
    const { add, start, look, pauses } = openRows(async ({ name }) => {
      throw (name === "a" && errors.shift()) || new DeliveryError("refused", { retry: false });
    });
    const loop = start();
    const [row, other] = [add("a"), add("b")];
    await look(() => row.state === "given up" && other.state === "given up");
    assert.deepEqual(pauses, [9000, null, 20_000, null]);
    await loop.stop();
  });

  it("logs an error for its row, and goes on with the others", async () => {
    const { add, start, look, lines, pauses } = openRows(async ({ name, attempt }) => {
      if (name === "odd" && attempt === 1) throw new TypeError("a mistake of ours");
    });
    const loop = start();
    add("unreadable");
    const rows = [add("odd"), add("even")];
    await look(() => rows.every(({ state }) => state === "sent"));
    assert.deepEqual(pauses, [3000]);
    const logged = lines.map(({ msg, row, loop: name, err }) => [msg, row ?? name, err?.message]);
    assert.deepEqual(
      logged.filter(([, , why]) => why !== "it cannot be read"),
      [["a channel failed", "odd", "a mistake of ours"]],
    );
    const others = logged.filter(([, , why]) => why === "it cannot be read");
    assert.ok(others.length > 0 && others.every(([msg, name]) => msg === "a loop step failed" && name === "rows"));
    await loop.stop();
  });

  it("ends after the rows that are being sent, and leaves them to their leases", async () => {
    let sending = 0;
    const { add, start, clock, pauses, lines } = openRows((_row, signal) => {
      sending += 1;
      return new Promise((_resolve, reject) => signal.addEventListener("abort", () => reject(new Error("stopped"))));
    });
    const loop = start();
    const row = add("a");
    await until(() => sending === 1);
    await loop.stop();
    assert.deepEqual([row.state, row.dueAt - clock.monotonic(), pauses, lines], ["due", LEASE_MS, [], []]);
  });
});
