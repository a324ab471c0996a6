import type { SignedIn } from "@parley/sdk/wire";
import type { QueryObserverResult } from "@tanstack/query-core";
import { queries, useQuery } from "./query/query.ts";
import { people } from "./api.ts";
import { draftsOfAuthor } from "./author.ts";
import { noteAuthor } from "./note-author.ts";
import { count, forget, recall } from "./device.ts";
import { listen } from "./live.ts";
import { discardOwn, exclusively, ownWritten, sendWaiting } from "./outbox.ts";
import { isUnreachable } from "./queries.ts";
import { named } from "./settings.ts";

/** Taken from the address as soon as a room for named people opens, so that it is in no history and on no screenshot. */
let startCode = takeStartCode();

function takeStartCode(): string | null {
  const code = /^#start=(.+)$/.exec(location.hash)?.[1] ?? null;
  if (code !== null) history.replaceState(history.state, "", location.pathname);
  return code;
}

/** True while a code from the address has not been turned into a session. */
export function holdsCode(): boolean {
  return startCode !== null;
}

async function signInOrAsk(): Promise<SignedIn> {
  try {
    const isNew = startCode !== null;
    const signedIn = startCode === null ? await people.session() : await exclusively(() => signIn(startCode ?? ""));
    named.set(signedIn.person.role === "admin" ? "admin" : "yes");
    await noteAuthor(signedIn.person.id);
    void changePush((push) => push.renewPush(isNew));
    return signedIn;
  } catch (error) {
    if (!isUnreachable(error)) await noteNobody();
    throw error;
  }
}

async function noteNobody(): Promise<void> {
  named.set("no");
  await noteAuthor(null);
  await changePush((push) => push.dropPush());
}

/** Changes what is pushed to this device, where anything ever was; else its code is not even loaded. */
async function changePush(change: (push: typeof import("./push.ts")) => Promise<void>): Promise<void> {
  if (recall("subscription") !== null || recall("subscription.of") !== null) {
    await import("./push.ts").then(change).catch(() => {});
  }
}

/** Finds out who is signed in, in a browser that does not know yet. */
export async function learnAuthor(): Promise<void> {
  await signInOrAsk().catch(() => {});
}

async function signIn(code: string): Promise<SignedIn> {
  const signedIn = await people.signIn(code);
  startCode = null;
  // Until now, somebody else may have looked at the rest of the app: it is read again.
  void queries.invalidateQueries({ predicate: ({ queryKey }) => queryKey[0] !== "session" });
  listen();
  return signedIn;
}

/** Who is signed in here; a code in the address signs in first. */
export function useSession(): QueryObserverResult<SignedIn> {
  return useQuery({ queryKey: ["session"], queryFn: signInOrAsk, staleTime: Infinity });
}

/** The answers and drafts that the person has written here and the server does not have. */
export interface Unfinished {
  answers: number;
  drafts: number;
}

export async function unfinished(): Promise<Unfinished> {
  const unsent = (await ownWritten()).filter(({ state }) => state !== "sent");
  return { answers: unsent.length, drafts: count(draftsOfAuthor()) };
}

/**
 * Nobody is signed in here any more, and nothing is left here of what they wrote. Resolves false, and nothing has
 * happened, where something was to be sent first and could not be.
 */
export async function signOut(unsent: "send" | "discard" = "discard"): Promise<boolean> {
  if (unsent === "send") {
    await sendWaiting();
    if ((await unfinished()).answers > 0) return false;
  }
  // An answer that is sent meanwhile would count as somebody else's.
  await exclusively(() => people.signOut());
  await discardOwn();
  forget(draftsOfAuthor());
  await changePush((push) => push.turnOffPush());
  named.set("no");
  await noteAuthor(null);
  queries.removeQueries({ predicate: ({ queryKey }) => ["inbox", "ask", "console"].includes(String(queryKey[0])) });
  await queries.resetQueries({ queryKey: ["session"] });
  return true;
}
