import { Inbox } from "@parley/sdk/inbox";
import { sessionFetch } from "../session.ts";

/** The inbox under this browser's session. */
export const inbox = new Inbox({ url: location.origin, retries: 1, fetch: sessionFetch });
