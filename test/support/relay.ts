import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { after, before } from "node:test";
import { sql } from "../../src/core/store/sql.ts";
import { enrol } from "./addressed.ts";
import { fresh, until } from "./contract.ts";
import { decider, type Decider } from "./deciders.ts";
import { openJobs, type JobScene, type Program } from "./jobs.ts";
import type { DatabaseName, Reply, WorldOptions } from "./world.ts";

/** The hash of the envelope with an empty snapshot and the role "default" (spec/relay 3). */
export const EMPTY_HASH = "602e574ff0ca9a3e28cb25cab8f15713404ef16211f9efb63b0bb7822859b6a8";
export const EMPTY_ENVELOPE = { job_snapshot: {}, role: "default" };

/** Somebody who is asked, in the inbox and by a key. */
export interface Person extends Decider {
  name: string;
  /** Speaks to the relay by the person's own key. */
  by: Program;
}

export interface RelayScene extends JobScene {
  /** Asks, with sensible defaults, in a job of its own unless one is named; the request must be accepted. */
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- tests read bodies of every shape
  ask(more?: Record<string, unknown>, by?: Program, lease?: string): Promise<any>;
  /** Looks for the answer until it is there. */
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- the same
  answerTo(ask: { ask_id: string }, by?: Program): Promise<any>;
  /** Waits until an ask is with people, and returns the id under which they find it. */
  withPeople(ask: { ask_id: string }): Promise<string>;
  person(name?: string, more?: { seesAll?: boolean }): Promise<Person>;
  /** Puts this policy in force. */
  policy(yaml: string): Promise<void>;
  /** Returns the events of a job, in order: `log ask.created`, `status WAITING_ON_ANSWER`, `answer ANSWERED`. */
  eventsOf(jobId: string): Promise<string[]>;
}

export async function openRelayScene(on: DatabaseName, options: Omit<WorldOptions, "on"> = {}): Promise<RelayScene> {
  const scene = await openJobs(on, options);
  const { world } = scene;
  // A world that is started again has another.
  const db = () => world.server.ctx.db;
  return {
    ...scene,
    async ask(more = {}, by = scene.ana, lease) {
      const reply = await by.post("/asks", newAsk(more), lease);
      assert.equal(reply.status, 202, reply.text);
      return reply.body;
    },
    async answerTo({ ask_id: id }, by = scene.ana) {
      await until(async () => {
        const rows = await db().all(sql`SELECT 1 AS one FROM asks WHERE ask_id = ${id} AND status <> 'PENDING'`);
        return rows.length > 0;
      });
      const reply = await by.get(`/asks/${id}/answer?wait=0`);
      assert.equal(reply.status, 200, reply.text);
      return reply.body;
    },
    async withPeople({ ask_id: id }) {
      return until(async () => {
        const [row] = await db().all<{ addressed_id: string | null }>(
          sql`SELECT addressed_id FROM asks WHERE ask_id = ${id}`,
        );
        return row?.addressed_id ?? undefined;
      });
    },
    async person(name = fresh("Dana"), { seesAll = true } = {}) {
      const id = await enrol(world.server.ctx, name, [], { seesAll });
      const by = await scene.program({ name: fresh("answers"), scope: "answer", person: id });
      return { ...(await decider(world, id)), name, by };
    },
    async policy(yaml) {
      writeFileSync(world.config.relay.policyFile, yaml);
      const version = /^version: (\d+)/.exec(yaml)?.[1] ?? assert.fail("a policy has a version");
      for (let i = 0; i < 100; i += 1) {
        await world.advance(500);
        const asked = newAsk({ ask_type: "APPROVAL", job_id: "J-policy", meta: { action: "probe" } });
        const { body } = await scene.ana.post("/asks", { ...asked, constraints: { timeout_s: 604_800 } });
        const trace = await until(async () => {
          const [row] = await db().all<{ wire: string }>(
            sql`SELECT p.wire FROM requests p JOIN asks a ON a.addressed_id = p.ask_id WHERE a.ask_id = ${body.ask_id}`,
          );
          return row && (JSON.parse(row.wire) as { policy_trace: { policy_version: string } }).policy_trace;
        });
        await scene.ana.call("DELETE", `/asks/${body.ask_id}`);
        if (trace.policy_version.startsWith(`${version}:`)) return;
      }
      assert.fail("the policy did not come into force");
    },
    async eventsOf(jobId) {
      const rows = await db().all<{ event: string; body: string }>(
        sql`SELECT event, body FROM job_events WHERE job_id = ${jobId} ORDER BY seq`,
      );
      return rows.map(({ event, body }) => {
        const told = JSON.parse(body) as { event?: string; state?: string; ask_id?: string };
        return `${event} ${event === "status" ? told.state : event === "log" ? told.event : told.ask_id}`;
      });
    },
    [Symbol.asyncDispose]: () => scene[Symbol.asyncDispose](),
  };
}

/** One scene for a whole `describe`. */
export function sharedRelay(on: DatabaseName, options: Omit<WorldOptions, "on"> = {}): () => RelayScene {
  let scene: RelayScene;
  before(async () => {
    scene = await openRelayScene(on, options);
  });
  after(() => scene[Symbol.asyncDispose]());
  return () => scene;
}

/** An ask as it is sent. */
export function newAsk(more: Record<string, unknown> = {}): Record<string, unknown> {
  return {
    job_id: fresh("J"),
    step_id: "S-1",
    ask_type: "CLARIFICATION",
    prompt: "Which currency?",
    context_hash: EMPTY_HASH,
    context_envelope: EMPTY_ENVELOPE,
    ...more,
  };
}

/** An answer as it is sent. */
export function newAnswer(
  ask: { ask_id: string; job_id: string; step_id: string },
  more: Record<string, unknown> = {},
): Record<string, unknown> {
  const { ask_id, job_id, step_id } = ask;
  return { type: "Answer", ask_id, job_id, step_id, status: "ANSWERED", ...more };
}

export const answer = (by: Program, ask: Parameters<typeof newAnswer>[0], more: Record<string, unknown> = {}) =>
  by.post("/answers", newAnswer(ask, more));

/** Returns the fields of an answer that a test checks. */
export const gist = ({ status, source, error, answer_text, answer_json }: Record<string, unknown>) => ({
  status,
  source,
  ...(error !== undefined && { error }),
  ...(answer_text !== undefined && { answer_text }),
  ...(answer_json !== undefined && { answer_json }),
});

export const invalid = (details: object): { code: string; message: string; details: object } => ({
  code: "VALIDATION_ERROR",
  message: "Request body is not valid",
  details,
});

/** The same where a query is wrong. */
export const invalidQuery = (details: object) => ({ ...invalid(details), message: "Query is not valid" });

export const noAsk = { code: "ASK_NOT_FOUND", message: "No such Ask" };
export const codeOf = ({ status, body }: Reply): unknown[] => [status, body.error?.code];
