import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, it } from "node:test";
import { sql } from "../../../src/core/store/sql.ts";
import { answer, sharedRelay } from "../../support/relay.ts";
import { ONE_DATABASE } from "../../support/world.ts";

/** The replies of these routes before the relay's own had the same. */
const FORMER = JSON.parse(readFileSync(new URL("former-replies.json", import.meta.url), "utf8")) as Record<
  string,
  unknown
>;

for (const on of ONE_DATABASE) {
  describe(`the former routes of asks and jobs on ${on}`, () => {
    const shared = sharedRelay(on);

    it("reply with the same bytes as ever", async () => {
      const scene = shared();
      const { admin, ana, bo, world } = scene;
      const dana = await scene.person("Dana Vale");
      const spec = { title: "Move the shop" };
      await ana.post("/jobs", { job_id: "J-1", external: true, spec, env: "dev", labels: { team: "a" } });
      const approval = await scene.ask({
        ask_id: "A-1",
        job_id: "J-1",
        ask_type: "APPROVAL",
        prompt: "Deploy?",
        meta: { action: "deploy", resource: "shop-api" },
        constraints: { timeout_s: 300, allowed_tools: ["db.read"] },
      });
      const request = await scene.withPeople(approval);
      assert.equal((await answer(dana.by, approval, { answer_json: { approved: true } })).status, 202);
      for (const n of [2, 3]) {
        await world.advance(10);
        const prompt = `Which region, ${n}?`;
        await scene.withPeople(await scene.ask({ ask_id: `A-${n}`, job_id: "J-1", step_id: `S-${n}`, prompt }));
      }
      await ana.call("DELETE", "/asks/A-2");
      await world.advance(10);
      await scene.claimed(bo, { job_id: "J-2", kind: "pack" });
      await world.server.ctx.db.transact(async (tx) => {
        await tx.all(sql`UPDATE asks SET joined_to = 'A-1' WHERE ask_id = 'A-2'`);
        await tx.all(sql`INSERT INTO late_answers (ask_id, principal, status, answer_text, at)
          VALUES ('A-1', 'answer:svc', 'ANSWERED', 'Too late', parley_now())`);
      });

      const replies: Record<string, string> = {};
      for (const path of Object.keys(FORMER)) {
        const { text } = await admin.get(path);
        // How a request to people is shown is for other tests.
        replies[path] = text.replaceAll(request, "REQUEST").replace(/"people":\{.*$/s, '"people":{}}');
      }
      for (const [path, reply] of Object.entries(FORMER)) assert.equal(replies[path], JSON.stringify(reply), path);

      const stop = new AbortController();
      const live = await fetch(`${world.url}/admin/live`, { headers: admin.headers, signal: stop.signal });
      let told = "";
      for await (const part of live.body?.pipeThrough(new TextDecoderStream()) ?? []) {
        told += part;
        if (told.includes("event: figures")) break;
      }
      stop.abort();
      for (const kind of ["asks", "jobs"]) {
        const { [kind]: lines } = FORMER[`/admin/${kind}`] as Record<string, unknown>;
        assert.ok(told.includes(`event: ${kind}\ndata: ${JSON.stringify({ [kind]: lines })}\n\n`), kind);
      }
    });
  });
}
