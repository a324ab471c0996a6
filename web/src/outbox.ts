/**
 * The answers of this device: written down before they are sent, sent once, kept when they are refused.
 *
 * Pages and the service worker share it. The sender holds one lock, so that two tabs never send the same answer; where
 * there is no lock the idempotency key still makes the server count it once.
 */
import { ParleyError } from "@parley/sdk/errors";
import { People } from "@parley/sdk/people";
import type { AnswerReceipt, NewAnswer, QuestionType } from "@parley/sdk/wire";
import { author } from "./author.ts";
import { change, openDatabase, read } from "./database.ts";
import { remember } from "./device.ts";

export interface Written {
  /** The idempotency key, for ever the same for this answer. */
  key: string;
  answer: NewAnswer;
  /** The author: the number of the person who was signed in, or null. Nobody else sends it or sees it. */
  by?: string | null;
  question: { prompt: string; type: QuestionType; options?: string[] };
  writtenAt: number;
  device: string;
  state: "waiting" | "sent" | "refused";
  /** Not before this time: the server asked for a pause. */
  notBefore?: number;
  /** The server's last refusal. */
  refusal?: { code: string; message: string };
  receipt?: AnswerReceipt;
}

/** How long an answer rests that the server failed on without saying for how long. */
const PAUSE_S = 30;

/** How long a sent answer is remembered, to show it beside the results. */
const REMEMBERED_MS = 7 * 24 * 3600 * 1000;

const ANSWERS = "answers";
const SETTINGS = "settings";

const news = new BroadcastChannel("parley.outbox");
const listeners = new Set<() => void>();
let database = open();

/** Opens the database, and again where the browser closes it; null where it gives none. */
async function open(): Promise<IDBDatabase | null> {
  const create = (made: IDBDatabase): void => {
    made.createObjectStore(ANSWERS, { keyPath: "key" });
    made.createObjectStore(SETTINGS);
  };
  const opened = await openDatabase("parley", create).catch(() => null);
  opened?.addEventListener("close", () => (database = open()));
  return opened;
}

/**
 * Stand in where the browser gives no database or no room in it, so that at least this page can send. They come before
 * what the database still holds; null stands for what is forgotten.
 */
const memory = new Map<string, Written | null>();
const settings = new Map<string, string | null>();

export async function allWritten(): Promise<Written[]> {
  const db = await database;
  const kept = db ? await read<Written[]>(db, ANSWERS, (answers) => answers.getAll()) : [];
  const all = [...kept.filter(({ key }) => !memory.has(key)), ...memory.values()].filter((one) => one !== null);
  return all.sort((a, b) => b.writtenAt - a.writtenAt);
}

/** The answers that the person who is here now has written, newest first. */
export async function ownWritten(): Promise<Written[]> {
  const all = await allWritten();
  const person = author();
  return all.filter((one) => isBy(one, person));
}

const isBy = ({ by = null }: Written, person: string | null): boolean => by === person;

async function write(entry: Written): Promise<void> {
  await keep(ANSWERS, (answers) => answers.put(entry), { in: memory, key: entry.key, value: entry });
}

/** Changes one store, or what stands in for it. */
async function keep<T>(
  store: string,
  make: (store: IDBObjectStore) => IDBRequest,
  otherwise: { in: Map<string, T | null>; key: string; value: T | null },
): Promise<void> {
  const db = await database;
  const isKept =
    db !== null &&
    (await change(db, store, make).then(
      () => true,
      () => false,
    ));
  if (isKept) otherwise.in.delete(otherwise.key);
  else otherwise.in.set(otherwise.key, otherwise.value);
}

function tell(): void {
  news.postMessage("changed");
  for (const listener of listeners) listener();
}

export async function discard(key: string): Promise<void> {
  await keep(ANSWERS, (answers) => answers.delete(key), { in: memory, key, value: null });
  tell();
}

/** Forgets everything that the person who is here now has written, sent or not. */
export async function discardOwn(): Promise<void> {
  for (const { key } of await ownWritten()) await discard(key);
}

/** Calls back whenever something changed, here, in another tab or in the service worker. */
export function onNews(listener: () => void): void {
  listeners.add(listener);
  news.addEventListener("message", listener);
}

/** The answer is written down, and sent if that is possible now. Resolves true when nothing waits any more. */
export async function submit(entry: Omit<Written, "state" | "writtenAt">): Promise<boolean> {
  await write({ ...entry, by: author(), writtenAt: Date.now(), state: "waiting" });
  const isEmpty = await sendWaiting();
  if (!isEmpty) tell();
  return isEmpty;
}

/**
 * Sends the waiting answers of the person who is signed in, oldest first, while the server can be reached. Resolves
 * true when no answer of theirs waits any more.
 */
export async function sendWaiting(): Promise<boolean> {
  return exclusively(async () => {
    const all = (await allWritten()).reverse();
    for (const old of all.filter((one) => one.state === "sent" && one.writtenAt < Date.now() - REMEMBERED_MS)) {
      await discard(old.key);
    }
    const kept = (await keptSetting("person")) ?? "none";
    const person = kept === "none" ? null : kept;
    let left = 0;
    for (const entry of all.filter((one) => one.state === "waiting" && isBy(one, person))) {
      const after = (entry.notBefore ?? 0) > Date.now() ? entry : await send(entry);
      if (after === null) return false;
      if (after.state === "waiting") left += 1;
      if (after === entry) continue;
      await write(after);
      tell();
    }
    return left === 0;
  });
}

/** Resolves with what has become of an answer, or null when the server cannot be reached. */
async function send(entry: Written): Promise<Written | null> {
  const timeZone = Intl.DateTimeFormat().resolvedOptions().timeZone;
  const connection = { url: location.origin, credential: "cookie", timeoutMs: 15_000, retries: 0 } as const;
  // The request names the author: another person may have signed in since this browser last looked.
  const person = new People({ ...connection, fingerprint: entry.device, timeZone, person: entry.by ?? null });
  try {
    const receipt = await person.answer(entry.answer, { idempotencyKey: entry.key });
    return { ...entry, state: "sent", receipt };
  } catch (error) {
    if (!(error instanceof ParleyError)) throw error;
    if (error.status === 0) return null;
    const refusal = { code: error.code, message: error.message };
    if (error.code === "PERSON_CHANGED") return { ...entry, refusal };
    if (error.isPassing || error.status === 429) {
      return { ...entry, refusal, notBefore: Date.now() + (error.retryAfterSeconds ?? PAUSE_S) * 1000 };
    }
    return { ...entry, refusal, state: "refused" };
  }
}

/** One sender at a time, in all tabs and the service worker; at least in this tab where locks do not exist. */
let last: Promise<unknown> = Promise.resolve();
export function exclusively<T>(work: () => Promise<T>): Promise<T> {
  if (typeof navigator.locks === "object") return navigator.locks.request("parley.outbox", work) as Promise<T>;
  const next = last.then(work, work);
  last = next.catch(() => {});
  return next;
}

/** Makes this person the author of all that is written from now on; others' answers are neither shown nor sent. */
export async function setAuthor(person: string | null): Promise<void> {
  const kept = person ?? "none";
  remember("person", kept);
  // The service worker cannot read what pages remember.
  await keepSetting("person", kept);
}

export async function keptSetting(name: string): Promise<string | undefined> {
  const db = await database;
  if (!db || settings.has(name)) return settings.get(name) ?? undefined;
  return read<string | undefined>(db, SETTINGS, (kept) => kept.get(name));
}

export async function keepSetting(name: string, value: string | null): Promise<void> {
  const make = (kept: IDBObjectStore): IDBRequest => (value === null ? kept.delete(name) : kept.put(value, name));
  await keep(SETTINGS, make, { in: settings, key: name, value });
}
