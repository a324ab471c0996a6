import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createKey } from "../../src/access/create-key.ts";
import { DATABASES, openWorld, type World } from "../support/world.ts";

interface Board {
  entries: { rank: number; is_current_user: boolean; name: string | null }[];
  your_name: string | null;
}

/** A world in which each of these people has answered once, in this order. */
async function answered(on: World["on"], people: readonly string[]): Promise<World> {
  const world = await openWorld({ on });
  const id = await world.agent("ana-bot").ask({ options: ["Send", "Submit"] });
  for (const name of people) {
    await world.advance(1000);
    assert.equal((await world.person(name).answer(id, 0)).status, 201);
  }
  return world;
}

const choose = (world: World, person: string, name: unknown) =>
  world.call("PUT", "/human/leaderboard/name", { headers: world.person(person).headers, body: { name } });
const board = async (world: World, person: string): Promise<Board> =>
  (await world.person(person).get("/human/leaderboard")).body as Board;
const namesOf = async (world: World, person: string) => {
  const { entries, your_name: own } = await board(world, person);
  return [entries.map(({ name }) => name), own];
};

for (const on of DATABASES) {
  describe(`a name on the leaderboard on ${on}`, () => {
    it("is shown for whoever chose one, until it is changed, dropped or its person is erased", async () => {
      await using world = await answered(on, ["ana", "bo"]);
      assert.deepEqual(await namesOf(world, "ana"), [[null, null], null]);
      const chosen = await choose(world, "ana", "  Ana   from\u00a0Lomé ");
      assert.deepEqual([chosen.status, chosen.body], [200, { name: "Ana from Lomé" }]);
      assert.deepEqual(await namesOf(world, "ana"), [["Ana from Lomé", null], "Ana from Lomé"]);
      assert.deepEqual(await namesOf(world, "bo"), [["Ana from Lomé", null], null]);

      assert.equal((await choose(world, "ana", "سارة")).status, 200);
      assert.deepEqual(await namesOf(world, "ana"), [["سارة", null], "سارة"]);
      const headers = world.person("ana").headers;
      assert.equal((await world.call("DELETE", "/human/leaderboard/name", { headers })).status, 204);
      assert.deepEqual(await namesOf(world, "ana"), [[null, null], null]);

      assert.equal((await choose(world, "ana", "Ana")).status, 200);
      assert.equal((await world.call("DELETE", "/human/me", { headers })).status, 204);
      assert.deepEqual(await namesOf(world, "bo"), [[null], null]);
      assert.equal((await choose(world, "bo", "ana")).status, 200, "the name of an erased person is free");
    });

    it("is given to somebody new with a credential, under which they answer later", async () => {
      await using world = await openWorld({ on });
      const chosen = await world.call("PUT", "/human/leaderboard/name", { body: { name: "New here" } });
      const headers = { "x-participant-token": chosen.headers.get("x-participant-token") ?? "none" };
      const { id } = await world.agent("ana-bot").ask({ options: ["Send", "Submit"] });
      const body = { question_id: id, selected_option: 0 };
      assert.equal((await world.call("POST", "/human/responses", { headers, body })).status, 201);
      const { entries } = (await world.call("GET", "/human/leaderboard", { headers })).body as Board;
      assert.deepEqual(
        entries.map((entry) => [entry.name, entry.is_current_user]),
        [["New here", true]],
      );
    });

    it("is one person's, whatever its case, spaces and stops, also where two choose it at once", async () => {
      await using world = await answered(on, ["ana", "bo"]);
      assert.equal((await choose(world, "ana", "Ana Maria")).status, 200);
      for (const name of ["ana maria", "ANA-MARIA", "A.n.a_Maria", "Ana\u2003Maria", "Ａna Maria"]) {
        const { status, body } = await choose(world, "bo", name);
        assert.deepEqual([status, body.error.code], [409, "NAME_TAKEN"], name);
      }
      assert.equal((await choose(world, "ana", "ana-maria")).status, 200, "its own person may write it otherwise");
      const both = await Promise.all([choose(world, "ana", "Cy"), choose(world, "bo", "cy")]);
      assert.deepEqual(both.map(({ status }) => status).toSorted(), [200, 409]);
      const own = await Promise.all(["Bo", "Bob", "Bobby"].map((name) => choose(world, "bo", name)));
      assert.deepEqual(
        own.map(({ status }) => status),
        [200, 200, 200],
      );
    });

    it("holds letters, digits, spaces and a few signs, and nothing that could pass for something else", async () => {
      await using world = await answered(on, ["ana"]);
      for (const name of [
        "A",
        "x".repeat(25),
        " . ",
        "<b>Ana</b>",
        "Ana\u202eob",
        "ana@example.com",
        "a/b",
        "",
        7,
        null,
      ]) {
        const { status, body } = await choose(world, "ana", name);
        assert.deepEqual([status, body.error.details.field], [400, "name"], String(name));
      }
      assert.equal((await choose(world, "ana", "d'Arc-2 jr.")).status, 200);
    });

    it("can be taken off by an admin for good, which the record keeps", async () => {
      await using world = await answered(on, ["ana", "bo"]);
      await choose(world, "ana", "Rude Word");
      const { text } = await createKey(world.server.ctx, { name: "boss", scope: "admin" });
      const admin = { authorization: `Bearer ${text}` };
      const remove = (name: string, headers: Record<string, string>) =>
        world.call("DELETE", `/admin/leaderboard/${encodeURIComponent(name)}`, { headers });
      assert.equal((await remove("rude word", world.person("bo").headers)).status, 401);
      assert.equal((await remove("rude word", admin)).status, 204);
      assert.deepEqual(await namesOf(world, "ana"), [[null, null], null]);
      for (const person of ["ana", "bo"]) assert.equal((await choose(world, person, "rude-word")).status, 409);
      assert.equal((await remove("rude word", admin)).status, 404);
      const { items } = (await world.call("GET", "/humanlayer/v1/audit", { headers: admin })).body;
      const found = items.filter(({ action }: { action: string }) => action === "leaderboard_name.removed");
      assert.deepEqual(
        found.map(({ data }: { data: object }) => data),
        [{ name: "rude word" }],
      );
    });
  });
}
