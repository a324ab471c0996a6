import { ParleyError } from "@parley/sdk/errors";
import type { SignedIn } from "@parley/sdk/wire";
import type { QueryObserverResult } from "@tanstack/query-core";
import { queries, useQuery } from "./query/query.ts";
import { people, watchedFetch } from "./api.ts";
import { draftsOfAuthor } from "./author.ts";
import { noteAuthor } from "./note-author.ts";
import { count, forget, recall, remember } from "./device.ts";
import { listen } from "./live.ts";
import { discardOwn, exclusively, ownWritten, sendWaiting } from "./outbox.ts";
import { named } from "./settings.ts";

const START = /^#start=(.+)$/;
/** Taken from the address as soon as a room for named people opens, so that it is in no history and on no screenshot. */
let startCode = takeStartCode();
// A link that is opened in a page of the app changes its address alone.
addEventListener("hashchange", () => {
  if (START.test(location.hash)) location.reload();
});

function takeStartCode(): string | null {
  const code = START.exec(location.hash)?.[1] ?? null;
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
    // A refused code ends nobody's session.
    if (startCode === null && isSignedOut(error)) await noteNobody();
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
export function useSession(): Pick<QueryObserverResult<SignedIn>, "data" | "error" | "refetch"> {
  const { data, error, refetch } = useQuery({ queryKey: ["session"], queryFn: signInOrAsk, staleTime: Infinity });
  return { data: isSignedOut(error) ? undefined : data, error, refetch };
}

/** Whether the server has said that nobody is signed in. */
export function isSignedOut(error: unknown): boolean {
  return error instanceof ParleyError && error.status === 401;
}

/** Fetches what only somebody who is signed in may see; where the session has ended, every screen learns of it. */
export async function sessionFetch(input: RequestInfo | URL, init?: RequestInit): Promise<Response> {
  const reply = await watchedFetch(input, init);
  if (reply.status === 401) void queries.invalidateQueries({ queryKey: ["session"] }, { cancelRefetch: false });
  return reply;
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
  remember("feed", null);
  queries.removeQueries({ predicate: ({ queryKey }) => !["session", "written"].includes(String(queryKey[0])) });
  await queries.resetQueries({ queryKey: ["session"] });
  listen();
  return true;
}
