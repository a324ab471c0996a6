import assert from "node:assert/strict";
import { it } from "node:test";
import { sql } from "../../../src/core/store/sql.ts";
import { transact } from "../../../src/core/store/transact.ts";
import { decideRequest } from "../../../src/requests/decide/decide.ts";
import { responderOf } from "../../../src/requests/decide/decider.ts";
import { followInbox } from "../../../src/requests/inbox/follow-inbox.ts";
import { askPeople, enrol, toPerson } from "../../support/addressed.ts";
import { advanceUntil } from "../../support/contract.ts";
import { DATABASES, openWorld, type World } from "../../support/world.ts";

/** More than are compared one by one. */
const MANY = 5100;
const DAY_S = 86_400;

/** Copies of an ask wait for the same person, one after the other in order of deadline. */
async function multiply({ server: { ctx } }: World, id: string): Promise<void> {
  const numbers = sql`WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${MANY})`;
  await transact(ctx, async (tx) => {
    await tx.all(sql`INSERT INTO requests (ask_id, door, asker, ref, same_hash, title, words, form, kind, audience,
        digest, state, version, created_at, expires_at, wire, conversation)
      ${numbers} SELECT ask_id || '_' || i, door, asker, ref || '_' || i, same_hash, title, words, form, kind, audience,
        digest, state, version, created_at, expires_at + i, wire, conversation
      FROM requests, n WHERE ask_id = ${id}`);
    await tx.all(sql`INSERT INTO request_recipients (reader, ask_id)
      ${numbers} SELECT reader, ask_id || '_' || i FROM request_recipients, n WHERE ask_id = ${id}`);
  });
}

for (const on of DATABASES) {
  it(`tells a person with over five thousand open asks of changes alone, wherever they stand, on ${on}`, async () => {
    await using world = await openWorld({ on });
    const { ctx } = world.server;
    const person = await enrol(ctx, "Ana Ruiz");
    const audience = toPerson(person);
    const first = await askPeople(ctx, { audience, timeoutSeconds: DAY_S });
    await multiply(world, first.id);
    const responder = await responderOf(ctx.db, person, "web");
    const reject = (requestId: string) => decideRequest(ctx, { requestId, responder, decision: { kind: "reject" } });

    const stop = new AbortController();
    const told = followInbox(ctx, person, stop.signal);
    /** Returns the follower's findings at its next look, after a change or without one. */
    const look = async () => {
      let found: readonly (string | null)[] | undefined;
      const looking = told.next().then(({ value }) => (found = value as typeof found));
      await advanceUntil(world, 1000, () => found !== undefined);
      return looking;
    };
    assert.deepEqual(await look(), [null], "the first word is that anything may have changed");
    for (let quiet = 1; quiet <= 2; quiet += 1) assert.deepEqual(await look(), [], `quiet look ${quiet}`);

    await reject(`${first.id}_${MANY}`);
    assert.deepEqual(await look(), [null], "one of those behind has ended");
    assert.deepEqual(await look(), []);
    // The asker of all the others may have no more of them open.
    const asker = "agent:another";
    await askPeople(ctx, { asker, audience, timeoutSeconds: 2 * DAY_S });
    assert.deepEqual(await look(), [null], "one has come behind the others");
    const soon = await askPeople(ctx, { asker, audience, timeoutSeconds: DAY_S / 2 });
    assert.ok((await look())?.includes(soon.id), "one has come before the others");
    assert.deepEqual(await look(), []);
    stop.abort();
    await told.return(undefined);
  });
}
