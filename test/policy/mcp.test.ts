import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { after, before, describe, it } from "node:test";
import { OPERATOR } from "../support/identities.ts";
import { createKey } from "../../src/access/create-key.ts";
import { fresh, ROOMY, sharedWorld } from "../support/contract.ts";
import { decider } from "../support/deciders.ts";
import { type AnyClient, openNew } from "../support/mcp-official.ts";
import { ONE_DATABASE } from "../support/world.ts";

const RULES = `version: 1
rules:
  - { id: lookups, when: { fn: [ look_up_order, Read ] }, decision: ALLOW }
  - { id: no-drops, when: { fn: [ drop_database, Bash ] }, decision: DENY, reason: Not by agents }
`;

for (const on of ONE_DATABASE) {
  describe(`policy for the official MCP client on ${on}`, () => {
    const world = sharedWorld({ on, env: ROOMY });
    const opened: AnyClient[] = [];
    before(async () => {
      writeFileSync(world().config.relay.policyFile, RULES);
      await world().server.reload();
    });
    after(() => Promise.all(opened.map((client) => client.close())));
    async function connect(name = fresh("ana-bot")): Promise<AnyClient> {
      const { text: key } = await createKey(world().server.ctx, { name, scope: "agent" });
      const client = await openNew({ url: world().url, key }, "http", "auto");
      opened.push(client);
      return client;
    }
    const textOf = ({ content }: Awaited<ReturnType<AnyClient["call"]>>) =>
      JSON.parse(content[0]?.["text"] as string) as unknown;
    const operator = () => decider(world(), OPERATOR);

    it("decides approvals that a rule speaks of at once, and names the rule", async () => {
      const client = await connect();
      const kwargs = { order: "A-1007" };
      const yes = await client.call("request_approval", { fn: "look_up_order", kwargs });
      const no = await client.call("request_approval", { fn: "drop_database", kwargs });
      const said = [yes, no].map(({ structured, isError }) => {
        const { status, approved, comment, decided_by, settled, waited_seconds } = structured;
        return { status, approved, comment, decided_by, settled, waited_seconds, isError };
      });
      const rest = { settled: true, waited_seconds: 0, isError: false };
      const [lookups, drops] = ["lookups", "no-drops"].map((rule) => ({ kind: "policy", name: `policy: ${rule}` }));
      assert.deepEqual(said, [
        { status: "approved", approved: true, comment: undefined, decided_by: lookups, ...rest },
        { status: "rejected", approved: false, comment: "Not by agents", decided_by: drops, ...rest },
      ]);
      assert.match(no.content[1]?.["text"] as string, /do not run it/);
      // A delivered decision is spent; the same call is decided anew.
      const again = await client.call("request_approval", { fn: "look_up_order", kwargs });
      assert.equal(again.structured["approved"], true);
      assert.notEqual(again.structured["call_id"], yes.structured["call_id"]);
    });

    it("answers a permission prompt, and asks people what no rule speaks of", async () => {
      const client = await connect();
      const prompt = (tool_name: string) =>
        client.call("approve", { tool_name, input: { path: "README.md" }, tool_use_id: fresh("toolu") });
      assert.deepEqual(textOf(await prompt("Read")), { behavior: "allow", updatedInput: { path: "README.md" } });
      const denied = { behavior: "deny", message: "Rejected by policy: no-drops: Not by agents" };
      assert.deepEqual(textOf(await prompt("Bash")), denied);
      const asking = prompt("Write");
      await (await operator()).decides({ approved: false });
      assert.deepEqual(textOf(await asking), { behavior: "deny", message: "Rejected by operator" });
    });

    it("repeats what a person allowed for good for this agent, and for no other; contacts are for people", async () => {
      const name = fresh("ana-bot");
      const [client, other] = [await connect(name), await connect()];
      const deploy = { fn: "deploy", kwargs: { version: "1.4.2" } };
      const asking = client.call("request_approval", deploy);
      await (await operator()).decides({ approved: true, standing: true });
      const { structured: first } = await asking;
      assert.equal((first["decided_by"] as { kind: string }).kind, "person");

      const { structured } = await client.call("request_approval", { ...deploy, reason: "Once more" });
      const { kind, name: called } = structured["decided_by"] as { kind: string; name: string };
      assert.deepEqual(
        [structured["status"], kind, called, structured["consent_digest"]],
        ["approved", "cache", "operator", first["consent_digest"]],
      );
      const input = { ...deploy.kwargs };
      const allowed = await client.call("approve", { tool_name: "deploy", input, tool_use_id: fresh("toolu") });
      assert.deepEqual(textOf(allowed), { behavior: "allow", updatedInput: input });
      for (const [by, args] of [
        [other, deploy],
        [client, { ...deploy, kwargs: { version: "1.4.3" } }],
      ] as const) {
        const pending = await by.call("request_approval", { ...args, max_wait_seconds: 0 });
        assert.deepEqual([pending.structured["status"], pending.structured["decided_by"]], ["pending", undefined]);
      }
      const contact = await client.call("contact_human", { message: "deploy", max_wait_seconds: 0 });
      assert.equal(contact.structured["status"], "pending");
    });
  });
}
