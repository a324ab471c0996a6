import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createKey } from "../../../src/access/create-key.ts";
import { askPeople, enrol, toPerson } from "../../support/addressed.ts";
import { fresh, sharedWorld } from "../../support/contract.ts";
import { decider } from "../../support/deciders.ts";
import { OPERATOR } from "../../support/identities.ts";
import { ONE_DATABASE, type World } from "../../support/world.ts";

for (const on of ONE_DATABASE) {
  describe("freezing over the web", () => {
    const world = sharedWorld({ on });
    const headersOf = async (scope: "admin" | "answer" | "agent", person?: string) => {
      const { text } = await createKey(world().server.ctx, { name: fresh("key"), scope, ...(person && { person }) });
      return { authorization: `Bearer ${text}` };
    };
    const call = (headers: Record<string, string>, ...[method, path, body]: [string, string, object?]) =>
      (world() as World).call(method, path, { headers, ...(body && { body }) });

    it("is listed and ended by its id, and refuses an approval as FROZEN with who froze", async () => {
      const admin = await headersOf("admin");
      const name = fresh("bot");
      await createKey(world().server.ctx, { name, scope: "agent" });
      const ana = await enrol(world().server.ctx, "Ana Ruiz");
      const { id } = await askPeople(world().server.ctx, { asker: `agent:${name}`, audience: toPerson(ana) });
      const made = await call(admin, "POST", "/freezes", { scope: "agent", agent: name, reason: "Runs wild" });
      assert.equal(made.status, 200, made.text);
      const { by_kind, via, at, ...body } = made.body;
      assert.deepEqual([by_kind, via, typeof at], ["admin", "api", "string"]);
      const { scope, agent, person, reason } = body;
      assert.deepEqual([scope, agent, person, reason], ["agent", `agent:${name}`, null, "Runs wild"]);
      const more = { by_name: made.body.by, person_name: null, principals: [], may_thaw: true };
      assert.deepEqual((await call(admin, "GET", "/freezes")).body.freezes, [{ ...made.body, ...more }]);
      const refused = await (await decider(world(), ana)).decide(id, { approved: true });
      assert.deepEqual([refused.status, refused.body.error.code], [409, "FROZEN"]);
      // A person whom the agent asks learns of it, and may not thaw it; anybody else learns nothing.
      const [asked] = (await call(await headersOf("answer", ana), "GET", "/freezes")).body.freezes;
      assert.deepEqual([asked.id, asked.principals, asked.may_thaw], [made.body.id, [`agent:${name}`], false]);
      const other = await headersOf("answer", await enrol(world().server.ctx, "Otto"));
      assert.deepEqual((await call(other, "GET", "/freezes")).body.freezes, []);
      assert.equal((await call(admin, "DELETE", `/freezes/${made.body.id}`)).status, 200);
      assert.equal((await call(admin, "DELETE", `/freezes/${made.body.id}`)).status, 404);
      assert.equal((await (await decider(world(), ana)).decide(id, { approved: true })).status, 200);
    });

    it("is for people, who freeze their own agents, and an admin's answer key freezes all but thaws nothing", async () => {
      const owner = await enrol(world().server.ctx, "Olga");
      const [own, boss] = [await headersOf("answer", owner), await headersOf("answer", OPERATOR)];
      assert.equal((await call(own, "POST", "/freezes", { scope: "all" })).status, 403);
      const mine = await call(own, "POST", "/freezes", { scope: "person" });
      assert.deepEqual([mine.status, mine.body.person, mine.body.by], [200, owner, owner]);
      const all = await call(boss, "POST", "/freezes", { scope: "all" });
      assert.equal(all.status, 200, all.text);
      const seen = async (headers: Record<string, string>) =>
        (await call(headers, "GET", "/freezes")).body.freezes.map((one: Record<string, unknown>) => [
          one["person_name"] ?? one["scope"],
          one["by_name"],
          one["may_thaw"],
        ]);
      assert.deepEqual((await seen(own)).sort(), [
        ["Olga", "Olga", true],
        ["all", "operator", false],
      ]);
      assert.equal((await call(boss, "DELETE", `/freezes/${all.body.id}`)).status, 403);
      assert.equal((await call(own, "DELETE", `/freezes/${mine.body.id}`)).status, 200);
      assert.equal((await call(await headersOf("admin"), "DELETE", `/freezes/${all.body.id}`)).status, 200);
      assert.equal((await call(await headersOf("agent"), "POST", "/freezes", { scope: "all" })).status, 401);
      assert.equal((await call(boss, "POST", "/freezes", { scope: "agent", agent: "nobody" })).status, 400);
    });
  });
}
