import assert from "node:assert/strict";
import { describe, it } from "node:test";
import pg from "pg";
import { assertRefused, LABELS, until } from "../support/contract.ts";
import { freshDatabase } from "../support/fresh-database.ts";
import { openWorld } from "../support/world.ts";

const AWAY = { code: "STORE_UNAVAILABLE", message: "Try again shortly." };

/** Two hosts, at the first of which nobody listens. */
const severalHosts = (url: string): string => url.replace("@", "@127.0.0.1:1,");

async function openAdmin(url: string) {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  return {
    run: (text: string) => client.query<Record<string, unknown>>(text),
    [Symbol.asyncDispose]: () => client.end(),
  };
}

describe("a database that takes no writes any more", () => {
  it("is left, reads and all, and is used again when it takes them", async () => {
    const url = await freshDatabase();
    await using admin = await openAdmin(url);
    await using world = await openWorld({ on: "sqlite", env: { DATABASE_URL: severalHosts(url) } });
    const agent = world.agent("ana-bot");
    const { id } = await agent.ask({ options: LABELS });
    const name = new URL(url).pathname.slice(1);

    await admin.run(`ALTER DATABASE ${name} SET default_transaction_read_only = on`);
    await admin.run(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity
      WHERE datname = current_database() AND pid <> pg_backend_pid()`);
    await until(async () => (await agent.create()).status === 503);
    assertRefused(await agent.poll(id), 503, AWAY);
    assertRefused(await world.person("bo").answer(id, 0), 503, AWAY);

    await admin.run(`ALTER DATABASE ${name} RESET default_transaction_read_only`);
    await until(async () => (await agent.create()).status === 201);
    assert.equal((await world.person("bo").answer(id, 0)).status, 201);
  });

  it("is left by the connection at whose write it says so", async () => {
    const url = await freshDatabase();
    await using admin = await openAdmin(url);
    await using world = await openWorld({ on: "sqlite", env: { DATABASE_URL: severalHosts(url) } });
    const { id } = await world.agent("ana-bot").ask({ options: LABELS });
    await admin.run(`CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql
      AS $$ BEGIN PERFORM pg_advisory_lock(7); RAISE SQLSTATE '25006'; END $$`);
    await admin.run("CREATE TRIGGER refuse BEFORE INSERT ON responses EXECUTE FUNCTION refuse()");

    assertRefused(await world.person("bo").answer(id, 0), 503, AWAY);
    // The session's lock outlives its transaction. An idle session would end after ten seconds.
    const locks = "SELECT FROM pg_locks l JOIN pg_database d ON d.oid = l.database";
    const held = `${locks} WHERE datname = current_database() AND locktype = 'advisory' AND objid = 7`;
    await until(async () => (await admin.run(held)).rows.length === 0, "the end of the session", 5000);

    await admin.run("DROP TRIGGER refuse ON responses");
    assert.equal((await world.person("bo").answer(id, 0)).status, 201);
  });
});
