import { changeRole } from "../../src/access/change-role.ts";
import { createKey } from "../../src/access/create-key.ts";
import { createSignInLink } from "../../src/access/create-sign-in-link.ts";
import { endSessions } from "../../src/access/end-sessions.ts";
import { revokeKey } from "../../src/access/revoke-key.ts";
import { parseEmail } from "../../src/channels/email/target.ts";
import { listGrants } from "../../src/policy/store/grants.ts";
import { revokeGrantOf } from "../../src/policy/grants.ts";
import { removeHuman } from "../../src/requests/end/remove-human.ts";
import { enrol } from "../support/addressed.ts";
import { OPERATOR } from "../support/identities.ts";
import type { Reply } from "../support/world.ts";
import type { ConsentStory } from "./consent-story.ts";
import { tokensIn } from "./consent-world.ts";

const A2H = "/humanlayer/v1";
const HOUR_MS = 3_600_000;
const BY = { kind: "server", id: "consent" } as const;

type Headers = Record<string, string>;

/** Somebody with every means to decide that there is. */
interface Equipped {
  person: string;
  email: string;
  keyId: string;
  key: Headers;
  session: Headers;
  /** The cookies of the same browser once its session is gone: the participant of the crowd. */
  participant: Headers;
}

/** A call that waits for one person, and what that person decides it with. */
interface Waiting {
  id: string;
  inboxId: string;
  digest: string;
  mail: ReturnType<typeof tokensIn> | undefined;
}

export async function equip(story: ConsentStory): Promise<Equipped> {
  const { ctx } = story.on.world.server;
  const name = story.fresh("dana");
  const email = `${name}@people.example`;
  const parsed = parseEmail({ address: email });
  if ("errors" in parsed) throw new Error("an address is wrong");
  const person = await enrol(ctx, name, [{ channel: "email", target: parsed.target }], {
    identities: [{ kind: "email", value: email }],
  });
  const { text, key } = await createKey(ctx, { name: `${name}-answers`, scope: "answer", person });
  const { session, participant } = await signIn(story, person);
  return { person, email, keyId: key.id, key: { authorization: `Bearer ${text}` }, session, participant };
}

/** Signs a person in, in a browser that the crowd knows already. */
export async function signIn(story: ConsentStory, person: string): Promise<{ session: Headers; participant: Headers }> {
  const { world } = story.on;
  const site = { "sec-fetch-site": "same-origin" };
  const known = await world.call("POST", "/human/recovery", { headers: { "x-fingerprint": story.fresh("device") } });
  const ofCrowd = cookieOf(known);
  const enter = async () => {
    const body = await createSignInLink(world.server.ctx, person);
    return world.call("POST", "/session", { body: { code: body.code }, headers: { cookie: ofCrowd, ...site } });
  };
  let reply = await enter();
  if (reply.status === 429) {
    await story.on.advance(HOUR_MS);
    reply = await enter();
  }
  if (reply.status !== 200) throw new Error(`a person cannot sign in: ${reply.text}`);
  return { session: { cookie: `${cookieOf(reply)}; ${ofCrowd}`, ...site }, participant: { cookie: ofCrowd, ...site } };
}

const cookieOf = (reply: Reply): string => (reply.headers.get("set-cookie") ?? "").split(";")[0] ?? "";

const ask = (story: ConsentStory, spec: { fn: string; channel?: object }) =>
  story.on.world.call("POST", `${A2H}/function_calls`, {
    body: {
      run_id: "run",
      call_id: story.fresh("taken"),
      spec: { kwargs: { to: "x" }, timeout_seconds: 86_400, ...spec },
    },
    headers: story.on.agent,
  });

async function isApproved(story: ConsentStory, id: string): Promise<boolean> {
  const { body } = await story.on.world.call("GET", `${A2H}/function_calls/${id}`, { headers: story.on.agent });
  return body.status?.approved === true;
}

/** Asks a person, and reads as that person what a decision needs. */
async function waitingFor(story: ConsentStory, { person, email, key }: Equipped): Promise<Waiting> {
  const { world } = story.on;
  const fn = story.fresh("fn");
  const { body } = await ask(story, { fn, channel: { human: { id: person } } });
  await story.on.settled();
  const inboxId = await story.boxOf({ name: "", email, slack: null, number: person, answers: key }, fn);
  if (inboxId === null) throw new Error("a person does not find what they are asked");
  const whole = await world.call("GET", `/people/me/asks/${inboxId}`, { headers: key });
  const taken = story.on.post.taken.findLast(({ to }) => to.includes(email));
  return { id: body.call_id as string, inboxId, digest: whole.body.digest as string, mail: taken && tokensIn(taken) };
}

type Means = (story: ConsentStory, who: Equipped, call: Waiting) => Promise<unknown>;

const inInbox =
  (headersOf: (who: Equipped) => Headers): Means =>
  ({ on: { world } }, who, { inboxId, digest }) =>
    world.call("POST", `/people/me/asks/${inboxId}/decision`, {
      body: { approved: true, digest },
      headers: headersOf(who),
    });
const byKey = inInbox(({ key }) => key);
const bySession = inInbox(({ session }) => session);
const byParticipant = inInbox(({ participant }) => participant);
const byLink: Means = async (story, _, { mail }) =>
  mail?.link && mail.code ? story.decideByLink(mail.link, { choice: "approve", code: mail.code }) : undefined;
const byMail: Means = async ({ on }, { email }, { mail }) =>
  mail?.replyTo
    ? on.mail({ from: email, to: mail.replyTo, inReplyTo: mail.messageId, text: "approve", signed: true })
    : undefined;

interface Loss {
  name: string;
  take: (story: ConsentStory, who: Equipped) => Promise<unknown>;
  /** The means by which no decision may be made afterwards. */
  means: readonly Means[];
}

const LOSSES: readonly Loss[] = [
  {
    name: "their key is revoked",
    take: ({ on }, { keyId }) => revokeKey(on.world.server.ctx, keyId, BY),
    means: [byKey],
  },
  {
    name: "they signed out",
    take: ({ on }, { session }) => on.world.call("DELETE", "/session", { headers: session }),
    means: [bySession, byParticipant],
  },
  {
    name: "their sessions were ended",
    take: ({ on }, { person }) => endSessions(on.world.server.ctx, person, BY),
    means: [bySession, byParticipant],
  },
  {
    name: "they were removed",
    take: ({ on }, { person }) => removeHuman(on.world.server.ctx, Number(person), BY),
    means: [byKey, bySession, byParticipant, byLink, byMail],
  },
];

/** Somebody loses what they decide by, and uses it nevertheless; somebody else loses nothing, and is believed. */
export async function decideByWhatWasTaken(story: ConsentStory): Promise<void> {
  const loss = story.dice.chance(0.8) ? story.dice.pick(LOSSES) : null;
  const who = await equip(story);
  const call = await waitingFor(story, who);
  await loss?.take(story, who);
  for (const means of loss?.means ?? [story.dice.pick([byKey, bySession, byLink, byMail])])
    await means(story, who, call);
  const approved = await isApproved(story, call.id);
  story.note(`decides ${call.id} after ${loss?.name ?? "nothing"} -> ${approved}`);
  if (approved && loss) story.broke(`a call is approved by somebody although ${loss.name}`);
  if (!approved && !loss) story.broke("a call is not approved by the person who was asked");
  if (!loss) await removeHuman(story.on.world.server.ctx, Number(who.person), BY);
}

/** An admin becomes a member, and has another person's sign-in link made all the same. */
export async function actAfterDemotion(story: ConsentStory): Promise<void> {
  const { world, people } = story.on;
  const { ctx } = world.server;
  const who = await equip(story);
  await changeRole(ctx, { person: who.person, role: "admin" }, BY);
  const { session } = await signIn(story, who.person);
  const link = () =>
    world.call("POST", `/admin/people/${people[0]?.number ?? ""}/sign_in_link`, { headers: session, body: {} });
  const before = await link();
  await changeRole(ctx, { person: who.person, role: "member" }, BY);
  const after = await link();
  story.note(`an admin has a sign-in link made -> ${before.status}, and as a member again -> ${after.status}`);
  if (before.status >= 400) story.broke("an admin may not have a sign-in link made");
  if (after.status < 400) story.broke("somebody who is no admin any more gets another person's sign-in link");
}

/** The operator allows a call for good and takes that back; the same call waits for people again. */
export async function askAfterGrantRevoked(story: ConsentStory): Promise<void> {
  const { world } = story.on;
  const { ctx } = world.server;
  const { session } = await signIn(story, OPERATOR);
  const fn = story.fresh("grant");
  const first = await ask(story, { fn });
  const operator = { name: "operator", email: "", slack: null, number: OPERATOR, answers: session };
  const inboxId = await story.boxOf(operator, fn);
  const whole = await world.call("GET", `/people/me/asks/${inboxId}`, { headers: session });
  const body = { approved: true, standing: true, digest: whole.body.digest as string };
  await world.call("POST", `/people/me/asks/${inboxId}/decision`, { body, headers: session });
  const second = await ask(story, { fn });
  const grant = (await listGrants(ctx.db, { limit: 100 })).find((one) => one.approvalId === first.body.status?.ask_id);
  if (!grant) return story.broke("a call that was allowed for good is not");
  await revokeGrantOf(ctx, grant.id, BY);
  const third = await ask(story, { fn });
  const approved = [second, third].map((reply) => reply.body.status?.approved === true);
  story.note(`asks what was allowed for good, before and after that was revoked -> ${approved.join()}`);
  if (!approved[0]) story.broke("a call that was allowed for good is put to people");
  if (approved[1]) story.broke("a call is approved by a grant that was revoked");
}
