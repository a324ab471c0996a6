import type { Channel, Closing, Notice } from "../../src/channels/channel.ts";
import { DeliveryError } from "../../src/channels/channel.ts";
import type { Context } from "../../src/context.ts";
import { canonicalExact, sha256Digest } from "../../src/lib/json/exact-json.ts";
import type { Request, Audience, Target } from "../../src/requests/model/request.ts";
import { consentText } from "../../src/requests/model/consent.ts";
import { transact } from "../../src/core/store/transact.ts";
import { findHuman, updateHuman, type HumanChannel } from "../../src/access/store/humans.ts";
import { findDelivery, updateDelivery } from "../../src/requests/store/deliveries.ts";
import type { Identity } from "../../src/access/model/identity.ts";
import { createRequest, type RequestInput } from "../../src/requests/create/create-request.ts";
import { addPerson } from "../../src/access/add-person.ts";

let asked = 0;

/** Returns the input of a request for approval of a call, with sensible defaults. */
export function newCallRequest(more: Partial<RequestInput> & { kwargs?: Record<string, unknown> } = {}): RequestInput {
  const { kwargs = { order: "A-1007", amount: 49.9 }, ...rest } = more;
  const text = canonicalExact(kwargs);
  asked += 1;
  return {
    door: "a2h",
    asker: "agent:ana-bot",
    ref: `call:${asked}`,
    sameHash: "same",
    title: "issue_refund",
    words: "The customer asks for it.",
    form: { kind: "approval", fn: "issue_refund", kwargs: text, rejectOptions: [], editable: false },
    audience: { kind: "leaf", target: { via: "inbox" } },
    digest: sha256Digest(consentText("issue_refund", text)),
    timeoutSeconds: 3600,
    remindAfterMs: null,
    wire: { run_id: "run_9" },
    ...rest,
  };
}

export async function askPeople(ctx: Context, more: Parameters<typeof newCallRequest>[0] = {}): Promise<Request> {
  return (await createRequest(ctx, newCallRequest(more))).request;
}

export const leaf = (target: Target): Audience => ({ kind: "leaf", target });
export const toPerson = (person: string): Audience => leaf({ via: "person", person });

/** Enrols somebody with these channels in order of priority; returns the id of the person. */
export async function enrol(
  ctx: Context,
  name: string,
  channels: readonly HumanChannel[] = [],
  { identities = [], seesAll = false }: { identities?: readonly Identity[]; seesAll?: boolean } = {},
): Promise<string> {
  const { id } = await addPerson(ctx, { name, role: "member" });
  await transact(ctx, async (tx) => {
    const human = await findHuman(tx, id);
    if (human) await updateHuman(tx, { ...human, channels, seesAll }, identities);
  });
  return id;
}

/** Notes that a message was posted on Slack, to D1; returns what a press on it names. */
export async function postedOnSlack(ctx: Context, id: string): Promise<{ delivery: string; ts: string }> {
  await transact(ctx, async (tx) => {
    const delivery = await findDelivery(tx, id);
    if (delivery) await updateDelivery(tx, delivery, { state: "sent", externalIds: { channel: "D1", ts: id } });
  });
  return { delivery: id, ts: id };
}

/** A provider that works, fails or hangs as it is set, and remembers what it was sent. */
export interface Provider extends Channel {
  sent: Notice[];
  closed: { closing: Closing; thread: string | undefined }[];
  told: string[];
  /** The errors that the next sends throw, in order. */
  failing: DeliveryError[];
}

export function providerOf(name: Channel["name"], wholeLimit = 10_000): Provider {
  const provider: Provider = {
    name,
    via: name === "push" ? "web" : name,
    fields: {},
    wholeLimit,
    sent: [],
    closed: [],
    told: [],
    failing: [],
    parse: (input) => ({ target: input }),
    async send(notice) {
      const failure = provider.failing.shift();
      if (failure) throw failure;
      provider.sent.push(notice);
      const { to } = notice.target as { to?: string };
      // A channel's messages are in the channel, and a user's in a direct message, as on Slack.
      const channel = to === undefined || to.startsWith("U") ? "D1" : to;
      return { externalIds: { thread: `thread of ${notice.delivery}`, channel, ts: notice.delivery } };
    },
    async close(_target, sent, closing) {
      provider.closed.push({ closing, thread: sent.externalIds["thread"] });
    },
    async tell(_target, _sent, words) {
      provider.told.push(words);
    },
  };
  return provider;
}

export { until } from "./contract.ts";
