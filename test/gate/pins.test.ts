import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { checkPin, listToolPins } from "../../src/asks/tools/pin-tool.ts";
import { pinName } from "../../src/gate/model/pin-name.ts";
import { fresh, ROOMY, sharedWorld } from "../support/contract.ts";
import { gateClient, toolOf } from "../support/gate.ts";
import { DATABASES, onOneDatabase } from "../support/world.ts";

const NEW_GATES_AN_HOUR = 30;

for (const on of DATABASES) {
  describe(`the pins of gated tools, on ${on}`, () => {
    const world = sharedWorld({ on, env: ROOMY });
    const otherForm = (name: string) => ({ ...toolOf(name), description: "An invention" });
    const tools = (gate: string, ...list: object[]) => ({ gate, tools: list });

    it("belong to the agent that named the tool: nobody else's words hold it back", async () => {
      const [bot, other] = [await gateClient(world()), await gateClient(world())];
      await other.post("/gate/tools", tools("shop", otherForm("refund")));
      await world().call("POST", "/gate/tools", { body: tools("shop", otherForm("refund")) });
      assert.deepEqual((await bot.post("/gate/tools", tools("shop", toolOf("refund")))).body, { held_back: [] });
      const changed = await bot.post("/gate/tools", tools("shop", otherForm("refund")));
      assert.deepEqual(changed.body, { held_back: ["refund"] });
      const call = { gate: "shop", tool: otherForm("refund"), arguments: {}, run: "run" };
      assert.deepEqual((await bot.post("/gate/calls", call)).body, { state: "changed", tool: "shop.refund" });
    });

    it("begin with the form that was accepted before pins had an agent", async () => {
      const { ctx } = world().server;
      const accepted = { ...toolOf("refund"), more: {} };
      await checkPin(ctx, "gate/old.refund", accepted);
      await checkPin(ctx, "gate/old.refund", { ...accepted, description: "An invention" });
      const bot = await gateClient(world());
      const held = await bot.post("/gate/tools", tools("old", otherForm("refund")));
      assert.deepEqual(held.body, { held_back: ["refund"] });
      assert.deepEqual((await bot.post("/gate/tools", tools("old", toolOf("refund")))).body, { held_back: [] });
    });

    it("are limited in an hour by the number of new gates, for an agent and for all programs without a key", async () => {
      const bot = await gateClient(world());
      const statuses = async (name: (gate: string) => Promise<number>) => {
        const all = [];
        for (let i = 0; i <= NEW_GATES_AN_HOUR; i += 1) all.push(await name(fresh("gate")));
        return all;
      };
      const named = await statuses(async (gate) => (await bot.post("/gate/tools", tools(gate, toolOf("a")))).status);
      assert.deepEqual([named.indexOf(429), named.length], [NEW_GATES_AN_HOUR, NEW_GATES_AN_HOUR + 1]);
      const open = await statuses(async (gate) => {
        const headers = { "x-agent-id": fresh("program") };
        return (await world().call("POST", "/gate/tools", { body: tools(gate, toolOf("a")), headers })).status;
      });
      assert.ok(open.includes(429));
      const other = await gateClient(world());
      assert.equal((await other.post("/gate/tools", tools("shop", toolOf("a")))).status, 200);
    });

    it("are limited in an hour by the number of new tools, and those that are kept stay good", async () => {
      const bot = await gateClient(world());
      const many = Array.from({ length: 1000 }, (_, i) => toolOf(`tool-${i}`));
      for (const gate of ["a", "b", "c"])
        assert.equal((await bot.post("/gate/tools", tools(gate, ...many))).status, 200);
      assert.equal((await bot.post("/gate/tools", tools("d", toolOf("x")))).status, 429);
      assert.deepEqual((await bot.post("/gate/tools", tools("a", ...many))).body, { held_back: [] });
      const { length } = (await listToolPins(world().server.ctx)).filter(({ name }) => name.endsWith("/d.x"));
      assert.equal(length, 0);
    });

    onOneDatabase(on)("have one name for each agent, gate and tool", () => {
      const names = ["agent:a", "agent:a/b.c", "agent:a%2Fb.c", "open:a"].flatMap((asker) =>
        ["b.c", "b.c/d.e", "d.e"].map((fn) => pinName(asker, fn)),
      );
      assert.equal(new Set(names).size, names.length);
      return Promise.resolve();
    });
  });
}
