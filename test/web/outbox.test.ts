import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { sql } from "../../src/core/store/sql.ts";
import { fresh, ROOMY } from "../support/contract.ts";
import { namedPerson, type NamedPerson, type Shown } from "../support/identities.ts";
import { openWorld, type World } from "../support/world.ts";

type Outbox = typeof import("../../web/src/outbox.ts");
type Drafts = typeof import("../../web/src/drafts.ts");

/** The state of a browser without a database for the outbox: one cookie, which every sign-in changes. */
const browser = { cookie: "", isOnline: true };
const put = (name: string, value: unknown) =>
  Object.defineProperty(globalThis, name, { value, configurable: true, writable: true });

describe("what is written in a browser", () => {
  let world: World;
  let outbox: Outbox;
  let drafts: Drafts;
  let ana: NamedPerson;
  let bob: NamedPerson;
  const fetched = globalThis.fetch;

  before(async () => {
    world = await openWorld({ on: "sqlite", env: ROOMY });
    [ana, bob] = [await namedPerson(world, "Ana"), await namedPerson(world, "Bob")];
    put("location", { origin: world.url });
    for (const name of ["IDBTransaction", "IDBDatabase", "IDBObjectStore", "IDBIndex", "IDBCursor"])
      put(name, class {});
    class Request extends EventTarget {
      error = new Error("no database");
    }
    put("IDBRequest", Request);
    // A browser's tab ends with its channels; Node would wait for this one.
    put(
      "BroadcastChannel",
      class extends BroadcastChannel {
        constructor(name: string) {
          super(name);
          (this as unknown as { unref(): void }).unref();
        }
      },
    );
    put("indexedDB", {
      open() {
        const request = new Request();
        queueMicrotask(() => request.dispatchEvent(new Event("error")));
        return request;
      },
    });
    put("fetch", (input: string, init: RequestInit) => {
      if (!browser.isOnline) return Promise.reject(new TypeError("offline"));
      const headers = new Headers(init.headers);
      if (browser.cookie !== "") headers.set("cookie", browser.cookie);
      headers.set("origin", world.url);
      return fetched(input, { ...init, headers });
    });
    outbox = await import("../../web/src/outbox.ts");
    drafts = await import("../../web/src/drafts.ts");
  });
  after(async () => {
    put("fetch", fetched);
    await world[Symbol.asyncDispose]();
  });

  /** Somebody signs in or out; the app notes it, unless it happened behind its back. */
  async function become(who: NamedPerson | null, isNoted = true): Promise<void> {
    const shown: Shown = who === null ? {} : await who.signIn();
    browser.cookie = shown["cookie"] ?? "";
    if (isNoted) await outbox.setAuthor(who?.id ?? null);
  }

  async function writeOffline(): Promise<{ id: string; key: string }> {
    const { id } = await world.agent(fresh("bot")).ask({ type: "text", min_responses: 5 });
    const key = fresh("answer");
    browser.isOnline = false;
    const question = { prompt: "Who shall lead the team?", type: "text" } as const;
    await outbox.submit({ key, answer: { question_id: id, answer: "Not Bob" }, question, device: fresh("device") });
    browser.isOnline = true;
    return { id, key };
  }

  const answeredBy = async (id: string) =>
    (
      await world.server.ctx.db.all<{ person: string; tier: string }>(sql`SELECT person, tier FROM responses
      WHERE ask_id = ${id}`)
    ).map(({ person, tier }) => (tier === "named" ? person : tier));
  const isShown = async (key: string) => (await outbox.ownWritten()).some((one) => one.key === key);

  for (const isNoted of [true, false]) {
    const how = isNoted ? "" : ", though the app has not noticed";

    it(`is neither sent nor shown while another person is signed in, or nobody${how}`, async () => {
      await become(ana);
      const { id, key } = await writeOffline();
      for (const other of [bob, null]) {
        await become(other, isNoted);
        await outbox.sendWaiting();
        assert.deepEqual(await answeredBy(id), []);
        if (isNoted) assert.equal(await isShown(key), false);
      }
      await become(ana);
      assert.equal(await isShown(key), true);
      assert.equal(await outbox.sendWaiting(), true);
      assert.deepEqual(await answeredBy(id), [ana.id]);
    });

    it(`by somebody without a name is not sent as a person's${how}`, async () => {
      await become(null);
      const { id, key } = await writeOffline();
      await become(bob, isNoted);
      await outbox.sendWaiting();
      assert.deepEqual(await answeredBy(id), []);
      if (isNoted) assert.equal(await isShown(key), false);
      await become(null);
      assert.equal(await outbox.sendWaiting(), true);
      assert.equal((await answeredBy(id)).length, 1);
      assert.notDeepEqual(await answeredBy(id), [bob.id]);
    });
  }

  it("holds back nothing of whoever comes next", async () => {
    await become(ana);
    const hers = await writeOffline();
    await become(bob);
    const his = await writeOffline();
    assert.equal(await outbox.sendWaiting(), true);
    assert.deepEqual([await answeredBy(hers.id), await answeredBy(his.id)], [[], [bob.id]]);
    await become(ana);
    await outbox.discardOwn();
    assert.equal(await isShown(hers.key), false);
    await become(bob);
    assert.equal(await isShown(his.key), true);
  });

  it("is no draft of anybody else's", async () => {
    await become(ana);
    drafts.keepDraft("q_1", { answer: "Not Bob" });
    for (const other of [bob, null]) {
      await become(other);
      assert.deepEqual(drafts.readDraft("q_1"), {});
      drafts.dropDraft("q_1");
    }
    await become(ana);
    assert.deepEqual(drafts.readDraft("q_1"), { answer: "Not Bob" });
  });
});
