import assert from "node:assert/strict";
import { sql } from "../../src/core/store/sql.ts";
import { createKey } from "../../src/access/create-key.ts";
import { fresh } from "./contract.ts";
import type { Reply, World } from "./world.ts";

/** The digest of a result that nobody looks at. */
const RESULT = `sha256:${"ab".repeat(32)}`;

/** Returns the description of a tool of the tests' gates. */
export const toolOf = (name: string) => ({
  name,
  description: `Does ${name}`,
  inputSchema: { type: "object", properties: { path: { type: "string" } } },
});

/** A gate in front of `files`, under the key of an agent of its own. */
export interface GateClient {
  ask(tool: string, args: object, more?: object): Promise<Reply>;
  /** Reports how a call ended, and returns the reply. */
  ended(id: string, more?: object): Promise<unknown>;
  holds(id: string): Promise<unknown>;
  post(path: string, body: unknown): Promise<Reply>;
}

export async function gateClient(world: World, name = fresh("bot")): Promise<GateClient> {
  const { text } = await createKey(world.server.ctx, { name, scope: "agent" });
  const post = (path: string, body: unknown) =>
    world.call("POST", path, {
      body,
      headers: { authorization: `Bearer ${text}`, "content-type": "application/json" },
    });
  const told = async (path: string, body: object) => {
    const reply = await post(path, body);
    assert.equal(reply.status, 200, reply.text);
    return reply.body as unknown;
  };
  return {
    post,
    ask: (tool, args, more = {}) =>
      post("/gate/calls", { gate: "files", tool: toolOf(tool), arguments: args, run: "run", ...more }),
    ended: (id, more = {}) =>
      told(`/gate/calls/${id}/end`, { run: "run", outcome: "result", result_digest: RESULT, ...more }),
    holds: (id) => told(`/gate/calls/${id}/hold`, { run: "run" }),
  };
}

/** Returns what the record says happened to a request and its call, in order. */
export async function actionsOf(world: World, requestId: string): Promise<string[]> {
  const rows = await world.server.ctx.db.all<{ action: string }>(
    sql`SELECT action FROM audit WHERE ask_id = ${requestId} ORDER BY id`,
  );
  return rows.map(({ action }) => action);
}
