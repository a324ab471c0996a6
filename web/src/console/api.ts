import { Admin } from "@parley/sdk/admin";
import { Connection } from "@parley/sdk/connection";
import { sessionFetch } from "../session.ts";

const PLACE = { url: location.origin, retries: 1, fetch: sessionFetch };

/** Administration under this browser's session. */
export const admin = new Admin(PLACE);

/** The same, for what the client does not read. */
export const connection = new Connection(PLACE, () => ({}));
