import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { sql } from "../../src/core/store/sql.ts";
import { examineStore } from "../../src/doctor/examine.ts";
import { OPERATOR } from "./identities.ts";
import { accepted, callBody, type Scene } from "./a2h.ts";
import { decider, type Decider } from "./deciders.ts";

/** Rules about calls, and others that must not decide any. */
export const RULES = `version: 1
defaults: { read: ALLOW, other: DENY }
rules:
  - { id: lookups, when: { fn: [ "look_up_*", ping ], agent: support }, decision: ALLOW, reason: Reading is harmless }
  - { id: no-drops, when: { fn: drop_database }, decision: DENY, reason: Databases are dropped by hand }
  - { id: no-wipes, when: { fn: wipe }, decision: DENY }
  - { id: payouts, when: { fn: pay_out }, decision: ESCALATE, standing: false }
  - { id: relayed, when: { agent: support }, decision: ALLOW }
  - { id: anything, when: { action: "*" }, decision: DENY }
`;

/** The policy file says this, and it is in force if it can be. */
export async function withRules(scene: Scene, text = RULES): Promise<void> {
  writeFileSync(scene.world.config.relay.policyFile, text);
  await scene.world.server.reload();
}

/** Returns the operator of the server as a decider in the inbox. */
export const operatorOf = ({ world }: Scene): Promise<Decider> => decider(world, OPERATOR);

/** Asks whether a call may run; returns its status as the reply and as a later reading have it. */
export async function asked(scene: Scene, spec: Record<string, unknown>, by = scene.agent, more = {}) {
  const body = callBody(spec, more);
  const call = accepted(await by.post("/function_calls", body));
  assert.deepEqual(accepted(await by.get(`/function_calls/${body.call_id}`)), call);
  return call.status;
}

/** Returns what the record has of a request. */
export const record = async (scene: Scene, requestId: string) =>
  accepted(await scene.admin.get(`/audit?ask_id=${requestId}`)).items as Record<string, unknown>[];

/** Returns how many messages went out, or shall, about a request. */
export const messagesAbout = async (scene: Scene, requestId: string): Promise<number> => {
  const { db } = scene.world.server.ctx;
  const rows = await db.all(sql`SELECT delivery_id FROM deliveries WHERE ask_id = ${requestId}`);
  return rows.length;
};

/** Returns the checks of the doctor that find something. */
export async function broken({ world }: Scene): Promise<string[]> {
  const findings = await examineStore(world.server.ctx, { quick: false });
  return findings.filter(({ offenders }) => offenders.length > 0).map(({ check }) => check);
}
