import { until } from "../support/contract.ts";
import { OPERATOR } from "../support/identities.ts";
import type { ConsentStory } from "./consent-story.ts";
import { askAbout, type Use, type UseDoor, type WaitingAgent } from "./consent-uses.ts";
import { ASKERS_MAILBOX, type Somebody, tokensIn } from "./consent-world.ts";

/** Longer than each lease, and than a decision of `approve` may be fetched again. */
const LAPSED_MS = 91_000;
/** A request comes to its people within this, also on a machine that is busy. */
const SHOWN_WITHIN_MS = 20_000;
const SHOWN_USES = 4;

/** A request that stands in somebody's inbox, and the use that it shows. */
interface ShownUse {
  requestId: string;
  use: Use;
}

/** The agents of one step, and the one person who decides about what they ask. */
interface Scene {
  agents: readonly WaitingAgent[];
  uses: readonly Use[];
  decider: Somebody;
}

/**
 * A coding agent asks about uses of a tool whose ids it may have named before. A person's decision lets run exactly the
 * use that was shown, for the agents that wait for it, and nobody whom the asker adds decides (spec/a2h 21, spec/mcp 4.4).
 */
export async function askByHook(story: ConsentStory): Promise<void> {
  const { dice } = story;
  const first = useOf(story, dice.pick<UseDoor>(["claude", "codex", "approve"]));
  const uses = dice.chance(0.6) ? [first, differing(story, first)] : [first];
  const decider = await deciderOf(story, first.door);
  const before = await inboxOf(story, decider);
  // Two hooks may ask about one use at a time.
  const sent = dice.chance(0.4) ? [...uses, first] : uses;
  const agents = sent.map((use) => askAbout(story, use, decider.number === OPERATOR ? "" : (decider.number ?? "")));
  const scene = { agents, uses, decider };
  const shown = await shownTo(story, scene, new Set(before));
  const says = sent.map((use) => JSON.stringify(use)).join(", ");
  story.note(`${first.door} asks about ${says}: ${shown.length} requests`);
  if (shown.length < uses.length) await unshown(story, scene);
  else await decideAbout(story, scene, shown);
  for (const agent of agents) agent.leave();
  await Promise.all(agents.map(({ isAllowed }) => isAllowed));
}

/** The agent loses the reply, and asks again: soon, or when nobody may fetch it any more. */
export async function loseReply(story: ConsentStory): Promise<void> {
  const use = useOf(story, "approve");
  const decider = await deciderOf(story, use.door);
  const before = new Set(await inboxOf(story, decider));
  const lost = askAbout(story, use, "");
  const [shown] = await shownTo(story, { agents: [lost], uses: [use], decider }, before);
  if (!shown) return unshown(story, { agents: [lost], uses: [use], decider });
  await gone(story, [lost], [shown]);
  if (!(await decideAs(story, decider, shown.requestId, true))) return;
  const isLate = story.dice.chance(0.6);
  if (isLate) await story.on.advance(LAPSED_MS);
  const again = askAbout(story, use, "");
  const asked = await shownTo(story, { agents: [again], uses: [use], decider }, before);
  story.note(`loses the reply about ${use.id} and asks ${isLate ? "late" : "soon"}: ${asked.length} requests`);
  if (isLate && asked.length === 0) story.broke(`approve allows a later use of an id that was decided: ${use.id}`);
  if (!isLate && !(await again.isAllowed)) story.broke(`approve forgets a decision whose reply was lost: ${use.id}`);
  again.leave();
  await again.isAllowed;
  for (const { requestId } of asked) await decideAs(story, decider, requestId, false);
}

/** A use whose id, and perhaps all of it, was named before. */
function useOf(story: ConsentStory, door: UseDoor): Use {
  const former = story.uses.filter((one) => one.door === door).slice(-SHOWN_USES);
  const use =
    former.length > 0 && story.dice.chance(0.6)
      ? story.dice.pick(former)
      : {
          door,
          id: story.fresh("toolu"),
          session: story.fresh("session"),
          command: story.fresh("rm"),
          folder: `/home/${story.fresh("ana")}`,
        };
  const taken = story.dice.chance(0.3) ? differing(story, use) : use;
  story.uses.push(taken);
  return taken;
}

/** The same id, with another thing that people are shown. The tool `approve` knows no folder. */
function differing(story: ConsentStory, use: Use): Use {
  if (use.door !== "approve" && story.dice.chance(0.5)) return { ...use, folder: `/srv/${story.fresh("prod")}` };
  return { ...use, command: story.fresh("curl") };
}

async function deciderOf(story: ConsentStory, door: UseDoor): Promise<Somebody> {
  return door === "approve" || story.dice.chance(0.5) ? story.operator() : (story.on.people[0] as Somebody);
}

async function inboxOf(story: ConsentStory, { answers }: Somebody): Promise<string[]> {
  const { body } = await story.on.world.call("GET", "/people/me/asks", { headers: answers ?? {} });
  return (body.asks as { id: string }[]).map(({ id }) => id);
}

/** Returns the new requests that show the whole of a use, once there is one for each or an agent was answered. */
async function shownTo(story: ConsentStory, scene: Scene, before: ReadonlySet<string>): Promise<ShownUse[]> {
  const shown = new Map<string, Use | undefined>();
  const uses = () => [...shown].flatMap(([requestId, use]) => (use ? [{ requestId, use }] : []));
  const end = performance.now() + SHOWN_WITHIN_MS;
  while (uses().length < scene.uses.length && !scene.agents.some(({ isOver }) => isOver) && performance.now() < end) {
    for (const requestId of await inboxOf(story, scene.decider)) {
      if (before.has(requestId) || shown.has(requestId)) continue;
      const { text } = await story.on.world.call("GET", `/people/me/asks/${requestId}`, {
        headers: scene.decider.answers ?? {},
      });
      const isShown = (use: Use) => text.includes(use.command) && (use.door === "approve" || text.includes(use.folder));
      shown.set(requestId, scene.uses.find(isShown));
    }
  }
  return uses();
}

/** Fewer requests came than there are uses: the agents that were answered were not allowed. */
async function unshown(story: ConsentStory, { agents, uses }: Scene): Promise<void> {
  const [{ door, id } = { door: "", id: "" }] = uses;
  const over = agents.filter(({ isOver }) => isOver);
  for (const agent of agents) if (!agent.isOver) agent.leave();
  const allowed = await Promise.all(over.map(({ isAllowed }) => isAllowed));
  if (allowed.includes(true)) story.broke(`${door} is allowed use ${id} before anybody decided about it`);
  else if (over.length === 0) story.broke(`${door} waits for a decision about use ${id} that shows another one`);
  story.note(`${door} is answered ${allowed.join()} about ${id}`);
}

async function decideAbout(story: ConsentStory, scene: Scene, shown: readonly ShownUse[]): Promise<void> {
  const { dice } = story;
  const { agents, decider } = scene;
  if (dice.chance(0.4)) await addSomebody(story, dice.pick(shown));
  const agreed = new Set<Use>();
  const left: ShownUse[] = [];
  for (const one of shown) {
    const choice = dice.pick(["approve", "approve", "reject", "leave"]);
    if (choice === "leave") left.push(one);
    else if ((await decideAs(story, decider, one.requestId, choice === "approve")) && choice === "approve")
      agreed.add(one.use);
  }
  const leaving = agents.filter(({ use }) => left.some((one) => one.use === use));
  await gone(story, leaving, left);
  // A hook reads the receipt after its decision, and for no long time.
  await Promise.all(agents.map(({ isAllowed }) => isAllowed));
  if (left.length > 0) await story.on.advance(LAPSED_MS);
  for (const { requestId, use } of left) {
    if (await decideAs(story, decider, requestId, true)) story.broke(`${use.door} takes a decision after its lease`);
  }
  for (const { use, isAllowed } of agents) {
    const allowed = await isAllowed;
    if (allowed && !agreed.has(use)) story.broke(`${use.door} is allowed what nobody approved: ${JSON.stringify(use)}`);
    if (!allowed && agreed.has(use)) story.broke(`${use.door} is denied what was approved: ${JSON.stringify(use)}`);
  }
}

/** These agents go away, and the server knows it. */
async function gone(story: ConsentStory, agents: readonly WaitingAgent[], shown: readonly ShownUse[]): Promise<void> {
  for (const agent of agents) agent.leave();
  const { openWaits } = story.on.world.server.ctx;
  await until(() => !shown.some(({ requestId }) => openWaits.has(requestId)), "the end of waits whose agents left");
}

/** The asker escalates what its hook asked, to a colleague or to itself, who decides if that is possible. */
async function addSomebody(story: ConsentStory, { requestId, use }: ShownUse): Promise<void> {
  const { world, agent: headers, people } = story.on;
  const bo = people[1] as Somebody;
  const address = story.dice.pick([ASKERS_MAILBOX, bo.email]);
  const body = { escalation_msg: "please", channel: { email: { address } } };
  const callId = await story.callOf(requestId);
  const path = `/humanlayer/v1/agent/function_calls/${callId}/escalate_email`;
  const { status } = await world.call("POST", path, { headers, body });
  await story.on.settled();
  story.note(`escalates ${use.door} ${requestId} to ${address} -> ${status}`);
  const mail = story.on.post.taken.findLast(({ to }) => to.includes(address));
  const { link, code } = mail ? tokensIn(mail) : { link: null, code: null };
  const isByLink = link !== null && code !== null && (await askOfLink(story, mail)) === requestId;
  const isTaken = isByLink && (await story.decideByLink(link, { choice: "approve", code }));
  if (isTaken || (await decideAs(story, bo, requestId, true)))
    story.broke(`somebody whom the asker added decides about a use of ${use.door}`);
}

async function askOfLink(story: ConsentStory, mail: Parameters<typeof tokensIn>[0] | undefined) {
  return mail ? story.askOfMail(tokensIn(mail)) : null;
}

/** Decides in somebody's inbox; true where that was taken. */
async function decideAs(story: ConsentStory, who: Somebody, requestId: string, approved: boolean): Promise<boolean> {
  const { world } = story.on;
  const headers = who.answers ?? {};
  const whole = await world.call("GET", `/people/me/asks/${requestId}`, { headers });
  if (whole.status !== 200) return false;
  const body = { approved, digest: whole.body.digest as string };
  const reply = await world.call("POST", `/people/me/asks/${requestId}/decision`, { headers, body });
  return reply.status === 200;
}
