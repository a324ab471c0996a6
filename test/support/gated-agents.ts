import assert from "node:assert/strict";
import { it } from "node:test";
import { Parley, type ParleyOptions } from "@parley/sdk";
import { consentDigest } from "../../sdk/src/consent.ts";
import type { Scene } from "./a2h.ts";
import { fresh, until } from "./contract.ts";
import { decider, type Decider } from "./deciders.ts";

export const REFUND = { order: "A-1007", amount: 49.9 };
export const PROPERTIES = { order: { type: "string" }, amount: { type: "number" } } as const;

/** An agent whose model wants the refund and then repeats its result, and whose tool notes what it ran with. */
export interface GatedAgent {
  name: string;
  run(parley: Parley, to: string): Promise<string | undefined>;
  /** Returns the tool result in the model's last request. */
  told(): string;
  ran: unknown[];
}

/** A tool that notes what it ran with. */
export const noting =
  (ran: unknown[]) =>
  (args: unknown): string => {
    ran.push(args);
    return "refunded";
  };

/** The people who are asked, and the agents' client. */
export interface Office {
  client(options?: ParleyOptions): Parley;
  /** Somebody who is asked nothing but what this test asks. */
  somebody(): Promise<Decider & { name: string }>;
  isAsked(person: Decider): Promise<{ id: string }>;
}

export function officeOf(scene: () => Scene): Office {
  return {
    client: (options = {}) => new Parley({ url: scene().world.url, key: scene().agent.key, ...options }),
    async somebody() {
      const name = fresh("Ana Ruiz");
      const { person } = await scene().human(name);
      return { ...(await decider(scene().world, person, person)), name };
    },
    isAsked: (person) => until(async () => (await person.inbox())[0]),
  };
}

/** Has two processes go on with one pause, and its call approved: one does, and the other is told. */
export async function oneGoesOn(person: Decider, goOn: () => Promise<unknown>): Promise<void> {
  const both = Promise.allSettled([goOn(), goOn()]);
  await person.decides({ approved: true });
  const ends = await both;
  const refusals = ends.flatMap((end) => (end.status === "rejected" ? [end.reason as { code?: string }] : []));
  assert.deepEqual(
    refusals.map(({ code }) => code),
    ["already_claimed"],
    String(refusals),
  );
}

/** Tests the rules for every framework's own approval of a tool that is answered through Parley. */
export function testGate(framework: () => GatedAgent, scene: () => Scene): void {
  const { client, somebody, isAsked } = officeOf(scene);
  const { name } = framework();

  it(`${name}: runs once it is approved, with exactly the arguments that were shown`, async () => {
    const ana = await somebody();
    const agent = framework();
    const running = agent.run(client(), ana.name);
    const { id } = await isAsked(ana);
    assert.equal((await ana.whole(id)).body.digest, await consentDigest("issue_refund", REFUND));
    assert.deepEqual(agent.ran, []);
    await ana.decides({ approved: true });
    assert.equal(await running, "All is done");
    assert.deepEqual(agent.ran, [REFUND]);
    assert.match(agent.told(), /"refunded"/);
  });

  it(`${name}: does not run when it is rejected, and the model reads why`, async () => {
    const ana = await somebody();
    const agent = framework();
    const running = agent.run(client(), ana.name);
    await ana.decides({ approved: false, comment: "Ask them\u202e first" });
    assert.equal(await running, "All is done");
    assert.deepEqual(agent.ran, []);
    assert.ok(agent.told().includes(`${ana.name} rejected issue_refund: Ask them first`), agent.told());
  });

  it(`${name}: does not run when nobody decides in time`, async () => {
    const ana = await somebody();
    const agent = framework();
    const running = agent.run(client(), ana.name);
    await isAsked(ana);
    await scene().world.advance(73 * 3_600_000);
    assert.equal(await running, "All is done");
    assert.deepEqual(agent.ran, []);
    assert.match(agent.told(), /Nobody decided in time: issue_refund is not approved/);
  });

  it(`${name}: does not run when something else was approved than what would run`, async () => {
    const ana = await somebody();
    const agent = framework();
    /** Somebody on the way who has people shown less than will run. */
    const swapping: typeof fetch = (input, init) =>
      fetch(input, {
        ...init,
        ...(typeof init?.body === "string" && { body: init.body.replaceAll("49.9", "4.99") }),
      });
    const running = agent.run(client({ fetch: swapping }), ana.name);
    const refused = assert.rejects(running, { name: "ApprovalMismatch" });
    await ana.decides({ approved: true });
    await refused;
    assert.deepEqual(agent.ran, []);
  });
}
