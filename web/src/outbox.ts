/**
 * The answers of this device: written down before they are sent, sent once, kept when they are refused.
 *
 * Pages and the service worker share it. Whoever sends holds one lock, so that two tabs never send the same answer;
 * where there is no lock the idempotency key still makes the server count it once.
 */
import { ParleyError } from "@parley/sdk/errors";
import { People } from "@parley/sdk/people";
import type { AnswerReceipt, NewAnswer, QuestionType } from "@parley/sdk/wire";
import { type DBSchema, openDB } from "idb";

export interface Written {
  /** The idempotency key, for ever the same for this answer. */
  key: string;
  answer: NewAnswer;
  question: { prompt: string; type: QuestionType; options?: string[] };
  writtenAt: number;
  device: string;
  state: "waiting" | "sent" | "refused";
  /** Not before this time: the server asked for a pause. */
  notBefore?: number;
  refusal?: { code: string; message: string };
  receipt?: AnswerReceipt;
}

interface Schema extends DBSchema {
  answers: { key: string; value: Written };
  settings: { key: string; value: string };
}

/** How long a sent answer is remembered, to show it beside the results. */
const REMEMBERED_MS = 7 * 24 * 3600 * 1000;

const news = new BroadcastChannel("parley.outbox");
const database = openDB<Schema>("parley", 1, {
  upgrade(db) {
    db.createObjectStore("answers", { keyPath: "key" });
    db.createObjectStore("settings");
  },
}).catch(() => null);

/** Stands in where the browser gives no database, so that at least this page can send. */
const memory = new Map<string, Written>();

export async function allWritten(): Promise<Written[]> {
  const db = await database;
  const all = db ? await db.getAll("answers") : [...memory.values()];
  return all.sort((a, b) => b.writtenAt - a.writtenAt);
}

async function write(entry: Written): Promise<void> {
  const db = await database;
  if (db) await db.put("answers", entry);
  else memory.set(entry.key, entry);
  news.postMessage("changed");
}

export async function discard(key: string): Promise<void> {
  memory.delete(key);
  await (await database)?.delete("answers", key);
  news.postMessage("changed");
}

export async function discardAll(): Promise<void> {
  memory.clear();
  await (await database)?.clear("answers");
  news.postMessage("changed");
}

/** Calls back whenever another tab or the service worker changed something. */
export function onNews(listener: () => void): void {
  news.addEventListener("message", listener);
}

/** The answer is written down; it has been sent when the entry that comes back says so. */
export async function submit(entry: Omit<Written, "state" | "writtenAt">): Promise<Written> {
  const written: Written = {
    ...entry,
    writtenAt: Date.now(),
    state: "waiting",
  };
  await write(written);
  await sendWaiting();
  return (await allWritten()).find((one) => one.key === entry.key) ?? written;
}

/** Sends what waits, oldest first, until something cannot be sent now. Resolves true when nothing waits any more. */
export async function sendWaiting(): Promise<boolean> {
  return exclusively(async () => {
    const all = (await allWritten()).reverse();
    for (const old of all.filter((one) => one.state === "sent" && one.writtenAt < Date.now() - REMEMBERED_MS)) {
      await discard(old.key);
    }
    for (const entry of all.filter((one) => one.state === "waiting")) {
      if ((entry.notBefore ?? 0) > Date.now()) return false;
      const after = await send(entry);
      if (after !== entry) await write(after);
      if (after.state === "waiting") return false;
    }
    return true;
  });
}

async function send(entry: Written): Promise<Written> {
  const timeZone = Intl.DateTimeFormat().resolvedOptions().timeZone;
  const person = new People({
    url: location.origin,
    credential: "cookie",
    fingerprint: entry.device,
    timeZone,
    timeoutMs: 15_000,
    retries: 0,
  });
  try {
    const receipt = await person.answer(entry.answer, {
      idempotencyKey: entry.key,
    });
    return { ...entry, state: "sent", receipt };
  } catch (error) {
    if (!(error instanceof ParleyError)) throw error;
    if (error.isPassing) return entry;
    if (error.status === 429)
      return {
        ...entry,
        notBefore: Date.now() + (error.retryAfterSeconds ?? 60) * 1000,
      };
    return {
      ...entry,
      state: "refused",
      refusal: { code: error.code, message: error.message },
    };
  }
}

/** One sender at a time, in all tabs and the service worker; at least in this tab where locks do not exist. */
let last: Promise<unknown> = Promise.resolve();
function exclusively<T>(work: () => Promise<T>): Promise<T> {
  if (typeof navigator.locks === "object") return navigator.locks.request("parley.outbox", work) as Promise<T>;
  const next = last.then(work, work);
  last = next.catch(() => {});
  return next;
}

export async function keptSetting(name: string): Promise<string | undefined> {
  return (await database)?.get("settings", name);
}

export async function keepSetting(name: string, value: string | null): Promise<void> {
  const db = await database;
  if (value === null) await db?.delete("settings", name);
  else await db?.put("settings", value, name);
}
