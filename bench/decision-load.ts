import { randomUUID } from "node:crypto";
import { Connection, type Reply } from "./connection.ts";
import { QUESTION_BODY } from "./parley-load.ts";
import type { Step } from "./load.ts";

/** Whole decisions: each step asks, waits, answers, and ends when the waiter has the answer. */
export interface DecisionLoad {
  step: Step;
  close(): void;
}

/** The connections of one client. */
export interface Pair {
  asker: Connection;
  decider: Connection;
}

/** Connects an asker and a decider for each client, the latter where `deciderUrl` says. */
export function openPairs(url: string, clients: number, deciderUrl = url): { of(client: number): Pair; close(): void } {
  const pairs = Array.from({ length: clients }, (): Pair => ({
    asker: new Connection(url),
    decider: new Connection(deciderUrl),
  }));
  return {
    of(client) {
      const pair = pairs[client];
      if (!pair) throw new Error(`there is no client ${client}`);
      return pair;
    },
    close() {
      for (const { asker, decider } of pairs) {
        asker.close();
        decider.close();
      }
    },
  };
}

/** Waits by `ask`, answers by `answer`, and returns the milliseconds from the answer to the waiter's reply. */
export async function wake(waiting: Promise<Reply>, answer: () => Promise<Reply>, answered: number): Promise<number> {
  const sent = performance.now();
  const [settled, given] = await Promise.all([waiting.then((reply) => ({ reply, at: performance.now() })), answer()]);
  expectStatus(given, answered);
  expectStatus(settled.reply, 200);
  return settled.at - sent;
}

/**
 * Opens the cycle of an approval: a call of a function, and the decision of a key that may answer it. The clients share
 * the keys evenly: each key is an agent.
 */
export function openApprovals(url: string, clients: number, keys: readonly string[], deciderUrl = url): DecisionLoad {
  const pairs = openPairs(url, clients, deciderUrl);
  const run = randomUUID();
  let asked = 0;
  return {
    async step(client) {
      const { asker, decider } = pairs.of(client);
      const headers = `Authorization: Bearer ${keys[client % keys.length]}\r\n`;
      const id = `call_${run}_${(asked += 1)}`;
      const spec = { fn: "issue_refund", kwargs: { order: "A-1007", amount: 49.9, reason: "arrived broken" } };
      const body = JSON.stringify({ run_id: "run_9", call_id: id, spec });
      expectStatus(await asker.send("POST", "/a2h/v1alpha1/function_calls", headers, body), 200);
      const waiting = asker.send("GET", `/a2h/v1alpha1/function_calls/${id}?wait=20`, headers);
      const respond = `/a2h/v1alpha1/agent/function_calls/${id}/respond`;
      return wake(waiting, () => decider.send("POST", respond, headers, '{"approved":true}'), 200);
    },
    close: () => pairs.close(),
  };
}

/** Opens the cycle of the relay: an executor's ask that no machine answers, and the answer of a service. */
export function openRelay(url: string, clients: number, keys: { executor: string; service: string }): DecisionLoad {
  const pairs = openPairs(url, clients);
  const executor = `Authorization: Bearer ${keys.executor}\r\n`;
  const service = `Authorization: Bearer ${keys.service}\r\n`;
  let asked = 0;
  return {
    async step(client) {
      const { asker, decider } = pairs.of(client);
      const place = { job_id: `J-${client}`, step_id: "S-1" };
      const body = JSON.stringify({
        ...place,
        ask_type: "CLARIFICATION",
        prompt: `Which currency do invoices of shop ${(asked += 1)} have?`,
        context_envelope: { job_snapshot: { repo: "shop", env_profile: "dev" }, role: "default" },
        constraints: {},
      });
      const posted = expectStatus(await asker.send("POST", "/asks", executor, body), 202);
      const { ask_id: id } = JSON.parse(posted.body) as { ask_id: string };
      const waiting = asker.send("GET", `/asks/${id}/answer?wait=20s`, executor);
      const answer = JSON.stringify({ ask_id: id, ...place, status: "ANSWERED", answer_text: "EUR" });
      return wake(waiting, () => decider.send("POST", "/answers", service, answer), 202);
    },
    close: () => pairs.close(),
  };
}

/** Opens the same cycle on the floor of `floor.ts`. */
export function openFloor(url: string, clients: number): DecisionLoad {
  const pairs = openPairs(url, clients);
  return {
    async step(client) {
      const { asker, decider } = pairs.of(client);
      const created = expectStatus(await asker.send("POST", "/", "", QUESTION_BODY), 201);
      const { id } = JSON.parse(created.body) as { id: string };
      const waiting = asker.send("GET", `/${id}`, "");
      return wake(waiting, () => decider.send("POST", `/${id}`, "", '{"selected_option":1,"confidence":4}'), 201);
    },
    close: () => pairs.close(),
  };
}

function expectStatus(reply: Reply, status: number): Reply {
  if (reply.status !== status) throw new Error(`${reply.status} instead of ${status}: ${reply.body}`);
  return reply;
}
