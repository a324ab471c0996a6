import assert from "node:assert/strict";
import { addPerson } from "../../src/access/add-person.ts";
import { createKey } from "../../src/access/create-key.ts";
import { createSignInLink } from "../../src/access/create-sign-in-link.ts";
import { fresh } from "./contract.ts";
import type { Reply, World } from "./world.ts";

/** The number of the operator, the first person that the server knows. */
export const OPERATOR = "1";

/** The headers by which a request shows its answering person. */
export type Shown = Record<string, string>;

/** The credential a reply hands out. */
export const tokenIn = (reply: Reply): string =>
  reply.headers.get("x-participant-token") ?? assert.fail("no credential");
export const byToken = (token: string): Shown => ({ "x-participant-token": token });
export const byFingerprint = (fingerprint: string): Shown => ({ "x-fingerprint": fingerprint });

export const alreadyAnswered = { status: 409, code: "ALREADY_ANSWERED" };
export const saidOf = (reply: Reply): { status: number; code: unknown } => ({
  status: reply.status,
  code: reply.body.error?.code,
});

/** Answers a question with an option, as the person whose headers are given. */
export function answer(world: World, id: string, shown: Shown, option = 0): Promise<Reply> {
  return world.call("POST", "/human/responses", { headers: shown, body: { question_id: id, selected_option: option } });
}

/** Returns the number of answers that the server has of the person whose headers are given. */
export async function answersOf(world: World, shown: Shown): Promise<number> {
  return (await world.call("GET", "/human/stats", { headers: shown })).body.total_answers;
}

export interface NamedPerson {
  id: string;
  /** Signs in, in a browser that shows this beside. */
  signIn(device?: Shown): Promise<Shown>;
  /** A new key that speaks for this person. */
  key(): Promise<Shown>;
}

/** Somebody with a name here. */
export async function namedPerson(world: World, name: string): Promise<NamedPerson> {
  const { ctx } = world.server;
  const { id } = await addPerson(ctx, { name, role: "member" });
  return {
    id,
    async signIn(device = {}) {
      const { code } = await createSignInLink(ctx, id);
      const reply = await world.call("POST", "/session", { body: { code }, headers: device });
      assert.equal(reply.status, 200);
      const cookie = (reply.headers.get("set-cookie") ?? "").split(";")[0] ?? "";
      return { cookie, "sec-fetch-site": "same-origin" };
    },
    async key() {
      const { text } = await createKey(ctx, { name: fresh("phone"), scope: "answer", person: id });
      return { authorization: `Bearer ${text}` };
    },
  };
}
