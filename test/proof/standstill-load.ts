import { setTimeout as sleep } from "node:timers/promises";
import { createKey } from "../../src/access/create-key.ts";
import type { RequestId } from "../../src/core/model/ids.ts";
import { Refusal } from "../../src/refusals.ts";
import { claimDecision } from "../../src/requests/decide/claim-decision.ts";
import { decideRequest } from "../../src/requests/decide/decide.ts";
import { responderOf } from "../../src/requests/decide/decider.ts";
import { askPeople, enrol, toPerson } from "../support/addressed.ts";
import { fresh } from "../support/contract.ts";
import { toolOf } from "../support/gate.ts";
import { OPERATOR } from "../support/identities.ts";
import { signedIn } from "../support/signed-in.ts";
import type { Node, Reply, World } from "../support/world.ts";

/** Something that was allowed, as its client saw it. */
interface Allowed {
  what: string;
  sentAt: number;
  toldAt: number;
}

/** Agents, people and gates on every server, each of which goes on with one act after another. */
export interface StandstillLoad {
  /** Everybody asks in this name, whose key is the owner's. */
  asker: string;
  owner: string;
  allowed: Allowed[];
  stop(): Promise<void>;
}

/** A rule that allows; everything else is for people, and they have granted one call for good. */
export const STANDSTILL_RULES = `version: 1
rules:
  - { id: reads, when: { fn: files.read_file }, decision: ALLOW }
  - { id: looks, when: { fn: look }, decision: ALLOW }
`;
const A2H = "/humanlayer/v1";
const GRANTED = { fn: "send_note", kwargs: { to: "ana" } };
/** The pause of a client that was not allowed anything. */
const REFUSED_MS = 15;
const MOST_HELD = 4;

function ifRefused(error: unknown): undefined {
  if (!(error instanceof Refusal)) throw error;
}

export async function startStandstillLoad(
  world: World,
  nodes: readonly Node[],
  onProblem: (says: string) => void,
): Promise<StandstillLoad> {
  const { ctx } = world.server;
  const ana = await signedIn(world, "Ana Ruiz");
  const owner = await enrol(ctx, "Olga");
  const name = fresh("loader");
  const { text } = await createKey(ctx, { name, scope: "agent", person: owner });
  const asker = `agent:${name}`;
  const over = new AbortController();
  const allowed: Allowed[] = [];
  const audience = toPerson(ana.id);
  let ids = 0;

  const post = (node: Node, path: string, body: object): Promise<Reply> =>
    node.call("POST", path, { body, headers: { authorization: `Bearer ${text}` } });
  const call = async (node: Node, spec: object): Promise<Reply> =>
    post(node, `${A2H}/function_calls`, { run_id: "load", call_id: `load-${(ids += 1)}`, spec });
  const decide = async (node: Node, requestId: string, person = ana.id, more = {}): Promise<boolean> => {
    const responder = await responderOf(node.server.ctx.db, person, "web");
    await decideRequest(node.server.ctx, { requestId, responder, decision: { kind: "approve", ...more } });
    return true;
  };
  const askAna = (node: Node) => askPeople(node.server.ctx, { asker, audience, ref: `call:load-${(ids += 1)}` });
  const gate = async (node: Node, tool: string, run: string): Promise<Reply["body"]> => {
    const body = { gate: "files", tool: toolOf(tool), arguments: { path: run }, run, wait_seconds: 0 };
    return (await post(node, "/gate/calls", body)).body;
  };

  /** Approvals of before, for runs to claim while the agent is frozen. */
  const approved: RequestId[] = [];
  const approveOne = async (node: Node): Promise<void> => {
    const { id } = await askAna(node);
    await decide(node, id);
    approved.push(id);
  };

  /** Each returns whether something was allowed. */
  const acts: Readonly<Record<string, (node: Node) => Promise<boolean>>> = {
    "a rule": async (node) => (await call(node, { fn: "look", kwargs: {} })).body.status.approved === true,
    "a grant": async (node) => (await call(node, GRANTED)).body.status.approved === true,
    "a gate by a rule": async (node) => (await gate(node, "read_file", `r-${(ids += 1)}`)).state === "started",
    "a person": async (node) => decide(node, (await askAna(node)).id),
    "a claim": async (node) => {
      if (approved.length < MOST_HELD) await approveOne(node).catch(ifRefused);
      const id = approved.shift();
      if (id === undefined) return false;
      const request = await claimDecision(node.server.ctx, id, "run").catch(ifRefused);
      if (!request) approved.push(id);
      return request !== undefined;
    },
    "a gate by a person": async (node) => {
      const run = `w-${(ids += 1)}`;
      const { id } = await gate(node, "write_file", run);
      await decide(node, id, OPERATOR);
      return (await gate(node, "write_file", run)).state === "started";
    },
  };

  /** A person's presses that wait for the end of their undo time. */
  const press = async (node: Node): Promise<void> => {
    const asks = await Promise.all(Array.from({ length: MOST_HELD }, () => askAna(node)));
    for (const ask of asks) await ana.at(node).approve(ask);
    await sleep(500, undefined, { signal: over.signal }).catch(() => {});
  };

  const repeat = async (what: string, act: () => Promise<boolean | void>): Promise<void> => {
    while (!over.signal.aborted) {
      const sentAt = performance.now();
      try {
        if ((await act()) === true) allowed.push({ what, sentAt, toldAt: performance.now() });
        else await sleep(REFUSED_MS);
      } catch (error) {
        if (!(error instanceof Refusal)) onProblem(`${what}: ${error instanceof Error ? error.stack : String(error)}`);
        await sleep(REFUSED_MS);
      }
    }
  };

  const first = await call(world, GRANTED);
  await decide(world, first.body.status.ask_id, OPERATOR, { withGrant: true });
  const clients = nodes.flatMap((node) => [
    ...Object.entries(acts).map(([what, act]) => repeat(what, () => act(node))),
    repeat("a press", () => press(node)),
  ]);
  return {
    asker,
    owner,
    allowed,
    async stop() {
      over.abort();
      await Promise.all(clients);
    },
  };
}
