import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { Parley } from "@parley/sdk";
import { freshDatabase } from "../support/fresh-database.ts";
import { OPERATOR } from "../support/identities.ts";
import { newFolder, parley, post, serve, stop } from "../support/program.ts";
import { until } from "../support/contract.ts";
import { DATABASES } from "../support/world.ts";

const A2H = "/a2h/v1alpha1";

for (const on of DATABASES) {
  describe(`approvals by the SDK and a server that is started again on ${on}`, () => {
    it("are waited for until they are decided, and nobody is asked twice", async () => {
      const dataDir = newFolder();
      const env: Record<string, string> = on === "postgres" ? { DATABASE_URL: await freshDatabase() } : {};
      const first = await serve(dataDir, env);
      const { url } = first;
      const made = await parley(["keys", "create", "dana", "--scope", "answer", "--person", OPERATOR], {
        PARLEY_DATA_DIR: dataDir,
        ...env,
      });
      const authorization = `Bearer ${made.out.trim()}`;
      const agent = new Parley({ url });
      const ran: string[] = [];
      const deploy = agent.requireApproval(({ version }: { version: string }) => ran.push(version), { name: "deploy" });
      const deployed = deploy({ version: "1.4.2" });
      const idempotencyKey = "rollback-1";
      const approved = agent.approve({ fn: "roll_back", args: { to: "1.4.1" }, idempotencyKey });
      const rejected = agent.approve({ fn: "drop_tables", args: {} }).catch((error: unknown) => error);
      const asked = () =>
        until(async () => {
          const reply = await fetch(`${url}${A2H}/agent/function_calls/pending`).catch(() => null);
          const { items = [] } = ((await reply?.json()) ?? {}) as {
            items?: { call_id: string; spec: { fn: string } }[];
          };
          return items.length === 3 && items;
        });
      await asked();

      await stop(first);
      const again = agent.decision(idempotencyKey);
      const second = await serve(dataDir, env, "--port", new URL(url).port);
      for (const { call_id: id, spec } of await asked()) {
        const answer = { approved: spec.fn !== "drop_tables", comment: "as discussed" };
        const reply = await post(url, `${A2H}/agent/function_calls/${id}/respond`, answer, { authorization });
        assert.equal(reply.status, 200, await reply.text());
      }
      await deployed;
      assert.deepEqual(ran, ["1.4.2"]);
      assert.deepEqual((await approved).args, { to: "1.4.1" });
      assert.deepEqual(await again, await approved);
      assert.match(String(await rejected), /^ApprovalRejected: .+ rejected drop_tables: as discussed$/);
      await stop(second);
    });
  });
}
