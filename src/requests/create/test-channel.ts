import type { RequestId } from "../../core/model/ids.ts";
import type { Request, Audience, Target, Via } from "../model/request.ts";
import type { ChannelName } from "../../channels/kinds.ts";
import type { Context } from "../../context.ts";
import { Refusal } from "../../refusals.ts";
import { findRequest } from "../store/requests.ts";
import { findPushState } from "../store/channel-figures.ts";
import type { Queryable } from "../../core/store/db.ts";
import { listDeliveries } from "../store/deliveries.ts";
import { findHuman, type HumanChannel } from "../../access/store/humans.ts";
import { findOperator } from "../../access/store/people.ts";
import { transact } from "../../core/store/transact.ts";
import { createRequestIn, type RequestInput, type RequestContext } from "./create-request.ts";
import { SERVER_ASKER, SERVER_DOOR } from "./tell-admins.ts";

/** Long enough to look at a phone, and shorter than it takes until another channel is tried. */
const TEST_SECONDS = 600;

/** How far a test has come. */
export interface ChannelTest {
  id: string;
  channel: ChannelName;
  person: string;
  /** `answered`: the way back works too. `over`: it was sent, and nobody answered within ten minutes. */
  state: "sending" | "retrying" | "sent" | "failed" | "answered" | "over";
  /** How often it was tried to send it. */
  attempts: number;
  /** The error, in a word of the provider's or of ours. */
  error: string | null;
  /** By which way the answer came. */
  via: Via | null;
}

/**
 * Sends a test message to a person on one channel, with a button. It goes the same way as real requests, there and
 * back. A failure tries no other channel. Without a person it goes to the one who runs the server.
 *
 * @throws {Refusal} `person_not_found`; `invalid_input` for somebody who cannot be reached that way
 */
export async function startChannelTest(
  ctx: Omit<RequestContext, "requesters" | "secrets">,
  { channel, person: named }: { channel: ChannelName; person: string | undefined },
): Promise<ChannelTest> {
  const person = named ?? (await findOperator(ctx.db))?.id;
  const human = person === undefined ? undefined : await findHuman(ctx.db, person);
  if (person === undefined || !human) throw new Refusal("person_not_found", { person: named ?? null });
  const one = human.channels.find((known) => known.channel === channel);
  if (channel !== "push" && !one) {
    const says = `${human.name} has no address for ${channel}; the console has a place for it, under People.`;
    throw new Refusal("invalid_input", { field: "channel", constraint: "required" }, says);
  }
  const ref = ctx.newId("test");
  const input: RequestInput = {
    door: SERVER_DOOR,
    asker: SERVER_ASKER,
    ref: `test:${ref}`,
    sameHash: ref,
    digest: null,
    title: "Test message",
    words: "This is a test message. Press the button, or answer with any words, to show that answers arrive too.",
    form: { kind: "reply", options: [{ name: "arrived", title: "It arrived", interactive: false }] },
    audience: audienceOf(person, channel === "push" ? undefined : one),
    timeoutSeconds: TEST_SECONDS,
    remindAfterMs: null,
    wire: { channel, person },
    inboxOnly: channel === "push",
  };
  const { request } = await transact(ctx, (tx) => createRequestIn(ctx, tx, input));
  return stateOf(ctx.db, request);
}

/** The address itself is asked, not the person, whose other channels would be next. */
function audienceOf(person: string, one: HumanChannel | undefined): Audience {
  const target: Target = one ? ({ via: one.channel, ...one.target } as Target) : { via: "person", person };
  return { kind: "leaf", target };
}

/** Returns how far a test has come. @throws {Refusal} `request_not_found` */
export async function readChannelTest(ctx: Pick<Context, "db">, id: string): Promise<ChannelTest> {
  const found = await findRequest(ctx.db, id);
  if (found?.request.asker !== SERVER_ASKER || !found.request.ref.startsWith("test:"))
    throw new Refusal("request_not_found");
  return stateOf(ctx.db, found.request);
}

async function stateOf(on: Queryable, request: Request): Promise<ChannelTest> {
  const { channel, person } = request.wire as { channel: ChannelName; person: string };
  const message = channel === "push" ? await pushed(on, request.id) : await written(on, request.id);
  const test = { id: request.id, channel, person, ...message, via: request.outcome?.by?.via ?? null };
  if (request.state === "answered") return { ...test, state: "answered", error: null };
  return request.state !== "open" && test.state !== "failed" ? { ...test, state: "over" } : test;
}

type Message = Pick<ChannelTest, "state" | "attempts" | "error">;

async function written(on: Queryable, requestId: RequestId): Promise<Message> {
  const message = (await listDeliveries(on, requestId)).find(({ kind }) => kind === "ask");
  if (!message) return { state: "failed", attempts: 0, error: "nothing was sent" };
  const { attempt: attempts, lastError: error, externalIds } = message;
  // Once it is sent, its attempts are those of closing it.
  if (externalIds) return { state: "sent", attempts: 1, error: null };
  if (message.state === "failed") return { state: "failed", attempts, error };
  return { state: error === null ? "sending" : "retrying", attempts, error };
}

async function pushed(on: Queryable, requestId: RequestId): Promise<Message> {
  const message = await findPushState(on, requestId);
  if (!message) return { state: "failed", attempts: 0, error: "no device" };
  const attempts = message.attempt;
  if (message.state === "sent") return { state: "sent", attempts, error: null };
  if (message.state === "queued") return { state: attempts > 1 ? "retrying" : "sending", attempts, error: null };
  return { state: "failed", attempts, error: "no device took it" };
}
