import { Inbox } from "@parley/sdk/inbox";
import { language } from "../language.ts";
import { sessionFetch } from "../session.ts";

/** Fetches with the language of the app, in which the server writes the sentences of calls. */
const inLanguage: typeof fetch = (input, init) => {
  const headers = new Headers(init?.headers);
  headers.set("accept-language", language);
  return sessionFetch(input, { ...init, headers });
};

/** The inbox under this browser's session. */
export const inbox = new Inbox({ url: location.origin, retries: 1, fetch: inLanguage });
