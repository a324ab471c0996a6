import type { SignedIn } from "@parley/sdk/wire";
import { type UseQueryResult, useQuery } from "@tanstack/react-query";
import { people } from "./api.ts";
import { listen } from "./live.ts";
import { isUnreachable, queries } from "./queries.ts";
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
    const signedIn = startCode === null ? await people.session() : await signIn(startCode);
    named.set(signedIn.person.role === "admin" ? "admin" : "yes");
    return signedIn;
  } catch (error) {
    if (!isUnreachable(error)) named.set("no");
    throw error;
  }
}

async function signIn(code: string): Promise<SignedIn> {
  const signedIn = await people.signIn(code);
  startCode = null;
  // Whoever looked at the rest of the app until now was somebody else.
  void queries.invalidateQueries({ predicate: ({ queryKey }) => queryKey[0] !== "session" });
  listen();
  return signedIn;
}

/** Who is signed in here; a code in the address signs in first. */
export function useSession(): UseQueryResult<SignedIn> {
  return useQuery({ queryKey: ["session"], queryFn: signInOrAsk, staleTime: Infinity });
}

export async function signOut(): Promise<void> {
  await people.signOut();
  queries.removeQueries({ predicate: ({ queryKey }) => ["inbox", "ask", "console"].includes(String(queryKey[0])) });
  await queries.resetQueries({ queryKey: ["session"] });
}
