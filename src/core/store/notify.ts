import type pg from "pg";
import type { Clock } from "../../lib/clock.ts";
import { yieldToEventLoop } from "../../lib/event-loop.ts";
import { breakConnection, endConnection, openConnection, WAKE_CONNECTION } from "./postgres/connection.ts";
import type { WakeCarrier } from "./wake.ts";

interface NotifyOptions {
  url: string;
  clock: Clock;
  /** How long one word to the database may take. */
  waitMs: number;
  /** Called for every topic another node has woken. */
  onTopic: (topic: string) => void;
  onError: (error: unknown) => void;
}

const CHANNEL = "parley_wake";
/** PostgreSQL refuses payloads of 8000 bytes; topics are short. */
const TOPICS_PER_NOTIFY = 60;
const RECONNECT_MS = 1000;

/**
 * Carries wake-ups between nodes by LISTEN/NOTIFY, on a connection of its own and outside business transactions:
 * a NOTIFY inside one would make PostgreSQL commit them one at a time.
 *
 * A broken connection is opened again. Wake-ups sent meanwhile are lost, and the polling fallback finds the changes.
 */
export async function openNotify(options: NotifyOptions): Promise<WakeCarrier> {
  let client: pg.Client | null = null;
  const closing = new AbortController();
  const pending = new Set<string>();
  let sending = false;

  async function connect(): Promise<void> {
    const { url, waitMs, onError } = options;
    const fresh = await openConnection({ url, waitMs, name: WAKE_CONNECTION, onError });
    fresh.on("end", () => {
      // A connection that never stood is tried again by whoever opened it.
      if (client !== fresh) return;
      client = null;
      void reconnect();
    });
    fresh.on("notification", ({ payload }) => {
      for (const topic of payload?.split("\n") ?? []) options.onTopic(topic);
    });
    await listen(fresh);
    client = fresh;
  }

  async function reconnect(): Promise<void> {
    while (!closing.signal.aborted) {
      await options.clock.sleep(RECONNECT_MS, closing.signal);
      if (closing.signal.aborted || client) return;
      try {
        return await connect();
      } catch (error) {
        options.onError(error);
      }
    }
  }

  async function flush(): Promise<void> {
    sending = true;
    await yieldToEventLoop();
    while (pending.size > 0) {
      const batch = [...pending].slice(0, TOPICS_PER_NOTIFY);
      for (const topic of batch) pending.delete(topic);
      const listening = client;
      try {
        await listening?.query("SELECT pg_notify($1, $2)", [CHANNEL, batch.join("\n")]);
      } catch (error) {
        // Closing cuts off a notification on its way; that is not a failure.
        if (closing.signal.aborted) continue;
        options.onError(error);
        // Notifications no longer arrive on this connection, either: another is opened.
        if (listening) breakConnection(listening);
      }
    }
    sending = false;
  }

  await connect();
  return {
    send(topics) {
      for (const topic of topics) pending.add(topic);
      if (!sending) void flush();
    },
    async close() {
      closing.abort();
      if (client) await endConnection(client, options.clock, options.waitMs);
    },
  };
}

/** Listens. A connection that cannot is broken. @throws {Error} the database's or the wire's own */
async function listen(client: pg.Client): Promise<void> {
  try {
    await client.query(`LISTEN ${CHANNEL}`);
  } catch (error) {
    breakConnection(client);
    throw error;
  }
}
