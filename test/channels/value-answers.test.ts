import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Io } from "../../src/cli/command.ts";
import { openInbox } from "../../src/cli/inbox/client.ts";
import { decideAtTerminal } from "../../src/cli/inbox/session.ts";
import type { Request, Audience, Target } from "../../src/requests/model/request.ts";
import type { InboundMessage } from "../../src/requests/model/inbound-message.ts";
import { createKey } from "../../src/access/create-key.ts";
import { tokensOf } from "../../src/requests/links/delivery-tokens.ts";
import { handleInbound } from "../../src/conversations/handle-inbound.ts";
import { readRequest, readDetails } from "../../src/requests/read/read-request.ts";
import { askPeople, enrol, leaf, postedOnSlack, providerOf, toPerson } from "../support/addressed.ts";
import { fresh } from "../support/contract.ts";
import { type Decider, decider } from "../support/deciders.ts";
import { openWorld, type World } from "../support/world.ts";

const COLOUR = { type: "string", enum: ["red", "blue", "Dark blue"] };
const NUMBERS = { enum: ["1", "2", 3, null] };
const BOOLEAN = { type: "boolean" };
const DECISION = {
  type: "object",
  properties: { approved: { type: "boolean" }, comment: { type: "string" } },
  required: ["approved"],
};
const BARE = { ...DECISION, properties: { approved: { type: "boolean" } } };
const SIZED = {
  oneOf: [
    { const: "s", title: "Small" },
    { const: "l", title: "Large" },
  ],
};
const REFUSED = Symbol("refused");

/** The requested schema, the person's reply, and the value that the agent gets. */
const TABLE: readonly (readonly [schema: Readonly<Record<string, unknown>>, says: string, value: unknown])[] = [
  [{ type: "string" }, "412", "412"],
  [{ type: "string" }, "Build 412, please.", "Build 412, please."],
  [{ type: "string" }, '"412"', "412"],
  [{ enum: ["1", "2"] }, "2", "2"],
  [NUMBERS, "3", 3],
  [NUMBERS, "2", "2"],
  [COLOUR, "blue", "blue"],
  [COLOUR, "Blue", "blue"],
  [COLOUR, "BLUE", "blue"],
  [COLOUR, "blue.", "blue"],
  [COLOUR, " dark  BLUE! ", "Dark blue"],
  [COLOUR, "#3", "Dark blue"],
  [COLOUR, '"blue"', "blue"],
  [COLOUR, "green", REFUSED],
  [SIZED, "large", "l"],
  [SIZED, "L", "l"],
  [BOOLEAN, "yes", true],
  [BOOLEAN, "True", true],
  [BOOLEAN, "No.", false],
  [BOOLEAN, "false", false],
  [BOOLEAN, "perhaps", REFUSED],
  [{ type: "integer" }, "42", 42],
  [{ type: "integer" }, "+7.", 7],
  [{ type: "integer" }, "4.5", REFUSED],
  [{ type: "number" }, "49,90", 49.9],
  [{ type: "number" }, "1,000", REFUSED],
  [{ type: "number" }, "forty", REFUSED],
  [DECISION, "yes, after lunch", { approved: true, comment: "after lunch" }],
  [DECISION, "Approve", { approved: true }],
  [DECISION, "no: too early", { approved: false, comment: "too early" }],
  [DECISION, '{"approved":false}', { approved: false }],
  [DECISION, "ok but only in the EU", REFUSED],
  [BARE, "yes", { approved: true }],
  [BARE, "yes, after lunch", REFUSED],
  [{ type: ["boolean", "string"] }, "yes", "yes"],
  [{ type: "object", properties: { n: { type: "integer" } } }, '{"n":7}', { n: 7 }],
];

interface Asked {
  ask: Request;
  delivery: string;
  says: string;
}
/** One way to answer: the audience of the request, and the call that sends the reply. */
interface Way {
  audience: Audience;
  say(asked: Asked): Promise<unknown>;
}

const FORM = { "content-type": "application/x-www-form-urlencoded", origin: "null", "sec-fetch-site": "same-origin" };

describe("what somebody says where a value is asked for", () => {
  it("means the same by mail, text message, WhatsApp, Slack, webhook, link, inbox and terminal", async () => {
    const channels = (["slack", "email", "sms", "whatsapp", "webhook"] as const).map((name) => providerOf(name));
    await using world = await openWorld({ on: "sqlite", channels });
    for (const [name, way] of Object.entries(await waysOf(world))) {
      for (const [schema, says, value] of TABLE) {
        const given = await outcomeOf(world, way, schema, says);
        assert.deepEqual(given, value, `${name}: ${says} for ${JSON.stringify(schema)}`);
      }
    }
  });
});

/** Asks, answers that way, and returns the value that the agent gets. */
async function outcomeOf(world: World, way: Way, schema: object, says: string): Promise<unknown> {
  const { ctx } = world.server;
  const form = { kind: "value", schema: { ...schema } } as const;
  const ask = await askPeople(ctx, { ref: fresh("message"), digest: null, form, audience: way.audience });
  const [delivery] = (await readDetails(ctx, ask)).deliveries;
  await way.say({ ask, says, delivery: delivery?.id ?? "" });
  const { state, outcome, refused } = await readRequest(ctx, ask.id);
  if (state === "answered") return JSON.parse(outcome?.value ?? "null");
  assert.deepEqual([refused?.reason, refused?.input], ["schema", says.trim()], "who asks sees what did not fit");
  return REFUSED;
}

async function waysOf(world: World): Promise<Record<string, Way>> {
  const { ctx } = world.server;
  const ana = await enrol(ctx, "Ana");
  const inbox = await decider(world, ana);
  const number = String(
    (await readDetails(ctx, await askPeople(ctx, { audience: toPerson(ana) }))).humans.get(ana)?.number,
  );
  const heard =
    (provider: string, sender: InboundMessage["sender"]) =>
    async ({ delivery, says }: Asked) =>
      handleInbound(ctx, "http://parley.test", {
        provider,
        id: fresh(provider),
        at: 0,
        trust: "verified",
        sender,
        content: { text: says },
        match:
          sender.kind === "email"
            ? { token: tokensOf(ctx, delivery).reply }
            : sender.kind === "slack"
              ? await postedOnSlack(ctx, delivery)
              : { delivery },
      });
  const to = (target: Target) => leaf(target);
  const mail = to({ via: "email", to: "ana@example.com", informed: false, settings: {} });
  const phone = "+491701234567";
  return {
    mail: { audience: mail, say: heard("email", { kind: "email", id: "ana@example.com" }) },
    sms: {
      audience: to({ via: "sms", to: phone, settings: {} }),
      say: heard("sms", { kind: "phone", id: phone }),
    },
    whatsapp: {
      audience: to({ via: "whatsapp", to: phone, settings: {} }),
      say: heard("whatsapp", { kind: "phone", id: phone }),
    },
    slack: {
      audience: to({ via: "slack", to: "U1ANA", settings: {} }),
      say: heard("slack", { kind: "slack", id: "U1ANA", team: "T1", member: true, channel: "D1" }),
    },
    webhook: {
      audience: to({ via: "webhook", to: "desk", people: [ana] }),
      say: heard("webhook", { kind: "human", id: number, webhook: "desk" }),
    },
    link: { audience: mail, say: (asked) => sayByLink(world, asked) },
    inbox: { audience: toPerson(ana), say: ({ ask, says }) => inbox.decide(ask.id, { text: says }) },
    terminal: { audience: toPerson(ana), say: await terminalOf(world, inbox) },
  };
}

async function sayByLink(world: World, { delivery, says }: Asked): Promise<void> {
  const { link, code } = tokensOf(world.server.ctx, delivery);
  const path = `/r/${link}`;
  const post = (to: string, given: Record<string, string>, cookie = "") =>
    world.call("POST", to, { body: new URLSearchParams(given).toString(), headers: { ...FORM, cookie } });
  const opened = await post(`${path}/open`, {});
  await world.advance(1500);
  const nonce = /name="nonce" value="([^"]*)"/.exec(opened.text)?.[1] ?? assert.fail(opened.text);
  const cookie = (opened.headers.get("set-cookie") ?? "").split(";")[0] ?? "";
  await post(`${path}/decide`, { nonce, text: says, code }, cookie);
}

/** Types words at a terminal of its own for each ask, and Enter where that is asked for. */
async function terminalOf(world: World, { id: person }: Decider): Promise<Way["say"]> {
  const { text: key } = await createKey(world.server.ctx, { name: fresh("desk"), scope: "answer", person });
  return async ({ ask, says }) => {
    const typed = [says, "", "/quit"];
    const io: Io = {
      env: { PARLEY_URL: world.url, PARLEY_KEY: key },
      out: () => {},
      tell: () => {},
      progress: () => {},
      prompt: async () => typed.shift() ?? null,
      interrupted: new AbortController().signal,
    };
    await decideAtTerminal(openInbox(world.url, io), ask.id, io, false);
  };
}
