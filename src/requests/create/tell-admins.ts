import { listAdmins } from "../../access/store/people.ts";
import type { Tx } from "../../core/store/db.ts";
import { createRequestIn, type RequestContext } from "./create-request.ts";

/** The door and the asker of what the server itself asks people: no agent can have this name. */
export const SERVER_DOOR = "server";
export const SERVER_ASKER = "server:parley";

const WEEK_S = 7 * 86_400;

/**
 * Sends a notice to the inbox and the devices of every admin, until one of them has seen it; after a week it ends.
 * Each `ref` is sent once.
 */
export async function tellAdminsIn(
  ctx: Pick<RequestContext, "newId" | "keyring" | "addressed" | "askerBounds">,
  tx: Tx,
  { ref, title, words }: { ref: string; title: string; words: string },
): Promise<void> {
  const admins = await listAdmins(tx);
  await createRequestIn(ctx, tx, {
    door: SERVER_DOOR,
    asker: SERVER_ASKER,
    ref: `notice:${ref}`,
    sameHash: ref,
    title,
    words,
    digest: null,
    form: { kind: "reply", options: [{ name: "seen", title: "Seen", interactive: false }] },
    audience: {
      kind: "any",
      of: admins.map(({ id: person }) => ({ afterMs: 0, node: { kind: "leaf", target: { via: "person", person } } })),
    },
    timeoutSeconds: WEEK_S,
    remindAfterMs: null,
    wire: {},
    inboxOnly: true,
    uncharged: true,
  });
}
