import assert from "node:assert/strict";
import { createKey } from "../../src/access/create-key.ts";
import { enrol } from "./addressed.ts";
import { fresh, until } from "./contract.ts";
import { tool } from "./mcp.ts";
import type { Reply, World } from "./world.ts";

/** Somebody who decides what is in their inbox, by a key of their own. */
export interface Decider {
  id: string;
  number: string;
  inbox(): Promise<{ id: string; kind: string; title: string }[]>;
  whole(requestId: string): Promise<Reply>;
  /** Fetches what is no JSON. */
  get(path: string): Promise<Response>;
  /** Reads the patterns that this person may allow beside a call. */
  alike(requestId: string): Promise<Reply>;
  decide(requestId: string, decision: object): Promise<Reply>;
  /** Decides whatever has come in, as soon as it is there. */
  decides(decision: object): Promise<void>;
}

export async function decider(world: World, person: string, number = ""): Promise<Decider> {
  const { text } = await createKey(world.server.ctx, { name: fresh("phone"), scope: "answer", person });
  const headers = { authorization: `Bearer ${text}` };
  const one: Decider = {
    id: person,
    number,
    inbox: async () => (await world.call("GET", "/people/me/asks", { headers })).body.asks,
    whole: (requestId) => world.call("GET", `/people/me/asks/${requestId}`, { headers }),
    get: (path) => fetch(`${world.url}${path}`, { headers }),
    alike: (requestId) => world.call("GET", `/people/me/asks/${requestId}/alike`, { headers }),
    async decide(requestId, decision) {
      const { digest } = (await one.whole(requestId)).body;
      const body = { ...(digest !== null && { digest }), ...decision };
      return world.call("POST", `/people/me/asks/${requestId}/decision`, { headers, body });
    },
    async decides(decision) {
      const [ask] = await until(async () => ((await one.inbox()).length > 0 ? one.inbox() : undefined));
      const reply = await one.decide(ask?.id ?? "", decision);
      assert.equal(reply.status, 200, reply.text);
    },
  };
  return one;
}

let people = 0;
export async function somebody(world: World, name = "Jane Doe"): Promise<Decider & { name: string }> {
  people += 1;
  const called = `${name} ${people}`;
  const id = await enrol(world.server.ctx, called);
  const { humans } = (await tool(world, "list_humans", { query: called })).structuredContent;
  return { ...(await decider(world, id, humans[0].id)), name: called };
}
