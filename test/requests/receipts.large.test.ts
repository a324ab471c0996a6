import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, it } from "node:test";
import { promisify } from "node:util";
import { decideRequest } from "../../src/requests/decide/decide.ts";
import { responderOf } from "../../src/requests/decide/decider.ts";
import { reportOutcome } from "../../src/requests/outcome/report-outcome.ts";
import { askPeople, enrol, toPerson } from "../support/addressed.ts";
import { DATABASES, openWorld, type World } from "../support/world.ts";

const PARLEY = new URL("../../src/main.ts", import.meta.url).pathname;
const KWARGS = { order: "A-1007", amount: 49.9 };

async function approved(world: World, kind: "approve" | "reject" = "approve"): Promise<{ id: string; ana: string }> {
  const { ctx } = world.server;
  const ana = await enrol(ctx, "Ana Ruiz");
  const ask = await askPeople(ctx, { asker: "open:ana-bot", audience: toPerson(ana), kwargs: KWARGS });
  const responder = await responderOf(ctx.db, ana, "web");
  await decideRequest(ctx, { requestId: ask.id, responder, decision: { kind } });
  return { id: ask.id, ana };
}

/** Runs `parley verify` in a process of its own. */
async function verify(args: readonly string[], url = "http://127.0.0.1:9"): Promise<{ code: number; said: string }> {
  try {
    const { stdout, stderr } = await promisify(execFile)(process.execPath, [PARLEY, "verify", ...args], {
      env: { ...process.env, PARLEY_URL: url },
    });
    return { code: 0, said: stdout + stderr };
  } catch (error) {
    const { code, stdout, stderr } = error as { code: number; stdout: string; stderr: string };
    return { code, said: stdout + stderr };
  }
}

for (const on of DATABASES) {
  describe(`a receipt on ${on}`, () => {
    it("says who approved exactly what, and whoever changes it is found out", async () => {
      await using world = await openWorld({ on });
      const { id, ana } = await approved(world);
      const headers = { "x-agent-id": "ana-bot" };
      const receipt = await world.call("GET", `/receipts/${id}`, { headers });
      assert.deepEqual([receipt.status, receipt.headers.get("content-type")], [200, "application/jose"]);
      const said = JSON.parse(Buffer.from(receipt.text.split(".")[1] ?? "", "base64url").toString());
      assert.deepEqual([said.jti, said.outcome, said.decided[0].id], [id, "approved", ana]);
      assert.doesNotMatch(JSON.stringify(said), /Ana Ruiz|A-1007|49\.9/);

      const folder = mkdtempSync(join(tmpdir(), "parley-receipt-"));
      const file = (name: string, text: string): string => {
        writeFileSync(join(folder, name), text);
        return join(folder, name);
      };
      const keys = file("keys.json", (await world.call("GET", "/.well-known/jwks.json")).text);
      const good = file("good", receipt.text);
      const call = (kwargs: object) => [
        "--fn",
        "issue_refund",
        "--kwargs",
        file("kwargs.json", JSON.stringify(kwargs)),
      ];

      assert.equal((await verify([good, "--keys", keys, ...call(KWARGS)])).code, 0);
      assert.equal((await verify([good, "--keys", `${world.url}/.well-known/jwks.json`])).code, 0);
      const other = await verify([good, "--keys", keys, ...call({ ...KWARGS, amount: 4990 })]);
      assert.deepEqual([other.code, /digests differ/.test(other.said)], [1, true]);
      const [head, , signature] = receipt.text.split(".");
      const forged = Buffer.from(JSON.stringify({ ...said, call_id: "another" })).toString("base64url");
      const changed = await verify([file("changed", `${head}.${forged}.${signature}`), "--keys", keys]);
      assert.deepEqual([changed.code, /signature does not match/.test(changed.said)], [1, true]);
      assert.equal((await verify([good], world.url)).code, 0, "the keys of the server of PARLEY_URL");
      assert.equal((await verify([good, "--url", world.url])).code, 0);
      const lost = await verify([good]);
      assert.deepEqual([lost.code, /keys cannot be had at .*PARLEY_URL or --keys/.test(lost.said)], [2, true]);
      rmSync(folder, { recursive: true });
    });

    it("of a rejection is no approval, and is shown to those concerned only", async () => {
      await using world = await openWorld({ on });
      const { id } = await approved(world, "reject");
      const read = (name: string) => world.call("GET", `/receipts/${id}`, { headers: { "x-agent-id": name } });
      const mine = await read("ana-bot");
      assert.equal(JSON.parse(Buffer.from(mine.text.split(".")[1] ?? "", "base64url").toString()).outcome, "rejected");
      assert.equal((await read("mallory-bot")).status, 404);
      const bad = { authorization: "Bearer parley_agent_nonsense" };
      assert.equal((await world.call("GET", `/receipts/${id}`, { headers: bad })).status, 401);
    });

    it("goes with a statement about the end of the call, which is verified as such and is no receipt", async () => {
      await using world = await openWorld({ on });
      const { id } = await approved(world);
      await reportOutcome(world.server.ctx, id, { state: "done" });
      const headers = { "x-agent-id": "ana-bot" };
      const folder = mkdtempSync(join(tmpdir(), "parley-outcome-"));
      const [statement, keys] = [join(folder, "outcome"), join(folder, "keys.json")];
      writeFileSync(statement, (await world.call("GET", `/receipts/${id}/outcome`, { headers })).text);
      writeFileSync(keys, (await world.call("GET", "/.well-known/jwks.json")).text);
      const checked = await verify([statement, "--keys", keys]);
      assert.equal(checked.code, 0, checked.said);
      assert.match(checked.said, new RegExp(`^done at .*; receipt ${id}`));
      const asReceipt = await verify([statement, "--keys", keys, "--fn", "issue_refund", "--kwargs", "-"]);
      assert.match(asReceipt.said, /are of receipts, and this is the end of a call/);
      rmSync(folder, { recursive: true });
    });

    it("is signed by the same key after a restart", async () => {
      await using world = await openWorld({ on });
      const keys = await world.call("GET", "/.well-known/jwks.json");
      await world.restart();
      assert.deepEqual((await world.call("GET", "/.well-known/jwks.json")).body, keys.body);
      assert.equal("d" in keys.body.keys[0], false);
    });
  });
}
