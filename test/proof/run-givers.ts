import type { Reply } from "../support/world.ts";
import { pause } from "./kill-steps.ts";
import { knownBy, type Ledger } from "./run-ledger.ts";
import { below, pick, promptOf, type Card, type Random } from "./run-plan.ts";
import type { RunSite, Server } from "./run-site.ts";

/** The state that all participants of a story share. */
export interface Scene {
  site: RunSite;
  cards: readonly Card[];
  ledger: Ledger;
  /** True once nothing is disturbed any more, and everything is to come to its end. */
  isHealing(): boolean;
  /** True once nobody does anything any more. */
  isOver(): boolean;
  trace(line: string): void;
  problem(says: string): void;
}

/** Nobody waits for a server that does not come back. */
const GIVE_UP_MS = 120_000;

export const anyServer = ({ site }: Scene, random: Random): Server => pick(random, site.servers);

/** Reports a reply that is not a considered one as our bug, whatever the request was. */
export function noteReply(scene: Scene, what: string, reply: Reply | null): void {
  if (reply && reply.status >= 500 && reply.status !== 503) {
    scene.problem(`V2: ${what} was answered ${reply.status} ${reply.text}`);
  }
}

/** Gives every task once, in an order of its own, so that some wait for what nobody knows yet. */
export async function giveAll(scene: Scene, random: Random): Promise<void> {
  const order = scene.cards.map((card) => ({ card, at: random() })).sort((one, other) => one.at - other.at);
  for (const { card } of order) {
    if (scene.isOver()) return;
    await give(scene, card, random);
    await pause(random() * 300);
  }
}

/** Gives tasks again, takes them back, and repeats earlier requests. */
export async function meddle(scene: Scene, random: Random): Promise<void> {
  while (!scene.isOver() && !scene.isHealing()) {
    await pause(300 + random() * 1500);
    const known = scene.cards.filter(({ id }) => scene.ledger.submissions.some((one) => one.id === id));
    if (known.length === 0) continue;
    const { repo } = pick(
      random,
      [scene.cards.at(0), scene.cards.at(-1)].flatMap((one) => one ?? []),
    );
    const card = pick(random, [...known.filter((one) => one.repo === repo), pick(random, known)]);
    const roll = random();
    if (roll < 0.45) await give(scene, card, random);
    else if (roll < 0.6) await giveUnkeyed(scene, card, random);
    else if (roll < 0.85) await takeBack(scene, card, random);
    else await closeCircle(scene, random);
  }
}

/** Once nothing is disturbed any more, what ended without a result is given again, until all of it is approved. */
export async function mend(scene: Scene, random: Random): Promise<void> {
  while (!scene.isOver()) {
    await pause(500);
    if (!scene.isHealing()) continue;
    for (const card of scene.cards) {
      const reply = await scene.site.ask(anyServer(scene, random), "assign", { method: "GET", path: pathOf(card) });
      if (reply?.status !== 404 && reply?.body.status !== "error") continue;
      if (reply.status !== 404) scene.trace(`${card.id} was ${reply.body.state}: ${reply.body.error}`);
      await give(scene, card, random);
    }
  }
}

/** A submission under a key, sent again until it is acknowledged, and sometimes at two servers at once. */
async function give(scene: Scene, card: Card, random: Random): Promise<void> {
  const { site, ledger } = scene;
  const body = bodyOf(scene, card, random);
  const key = `key of ${body.token}`;
  const op = { ...idOf(card), token: body.token, known: "unknown" as const, from: performance.now(), to: Infinity };
  ledger.submissions.push(op);
  scene.trace(`give ${card.id} (${body.token})`);
  const more = { "idempotency-key": key };
  const path = `/assignment/${card.repo}`;
  const send = () =>
    site.ask(anyServer(scene, random), "assign", { method: "POST", path, body: body.wire, headers: more });
  for (const until = performance.now() + GIVE_UP_MS; performance.now() < until && !scene.isOver();) {
    const replies = await Promise.all(random() < 0.3 ? [send(), send()] : [send()]);
    for (const reply of replies) {
      noteReply(scene, `the submission of ${card.id}`, reply);
      if (reply && knownBy(reply.status) === "refused") {
        scene.problem(`I6: the submission of ${card.id} was answered ${reply.status} ${reply.text}`);
        return;
      }
    }
    if (replies.some((reply) => reply?.status === 202)) {
      Object.assign(op, { known: "acknowledged", to: performance.now() });
      // A client whose reply was lost sends it again. It cancels nothing.
      if (random() < 0.2) void send();
      return;
    }
    await pause(100);
  }
}

/** One without a key, sent once: what came of it is not always known. */
async function giveUnkeyed(scene: Scene, card: Card, random: Random): Promise<void> {
  const { site, ledger } = scene;
  const body = bodyOf(scene, card, random);
  scene.trace(`give ${card.id} once (${body.token})`);
  const op = { ...idOf(card), token: body.token, from: performance.now() };
  const entry = { ...op, known: "unknown" as ReturnType<typeof knownBy>, to: Infinity };
  ledger.submissions.push(entry);
  const reply = await site.ask(anyServer(scene, random), "assign", {
    method: "POST",
    path: `/assignment/${card.repo}`,
    body: body.wire,
  });
  noteReply(scene, `the submission of ${card.id}`, reply);
  entry.known = knownBy(reply?.status);
  if (entry.known !== "unknown") entry.to = performance.now();
}

async function takeBack(scene: Scene, card: Card, random: Random): Promise<void> {
  scene.trace(`take back ${card.id}`);
  const op = { ...idOf(card), known: "unknown" as ReturnType<typeof knownBy>, from: performance.now(), to: Infinity };
  scene.ledger.cancellings.push(op);
  const reply = await scene.site.ask(anyServer(scene, random), "assign", { method: "DELETE", path: pathOf(card) });
  noteReply(scene, `taking back ${card.id}`, reply);
  op.known = knownBy(reply?.status);
  if (op.known !== "unknown") op.to = performance.now();
  if (reply?.status === 200 && !/^(completed|error|queued|in-progress)$/.test(String(reply.body.status))) {
    scene.problem(`J9: taking back ${card.id} was answered with ${reply.text}`);
  }
}

/** Checks that a dependency that would close a circle is refused, whatever else happens. */
async function closeCircle(scene: Scene, random: Random): Promise<void> {
  const card = scene.cards.find(({ dependencies }) => dependencies.length > 0);
  const [first] = card?.dependencies ?? [];
  const given = (id: string | undefined) =>
    scene.ledger.submissions.some((one) => one.id === id && one.known === "acknowledged");
  if (!card || first === undefined || !given(card.id)) return;
  const body = { id: first, prompt: "Close the circle", dependencies: [card.id] };
  const reply = await scene.site.ask(anyServer(scene, random), "assign", {
    method: "POST",
    path: `/assignment/${card.repo}`,
    body,
  });
  noteReply(scene, "a circle", reply);
  if (reply && reply.status !== 503 && reply.body.error?.code !== "DEPENDENCY_CYCLE") {
    scene.problem(`J8: a circle was answered ${reply.status} ${reply.text}`);
  }
}

let submissions = 0;

function bodyOf(scene: Scene, card: Card, random: Random) {
  submissions += 1;
  const token = `submission-${submissions}-${below(random, 1e6)}`;
  const { id, dependencies, agent, startDependentsOn } = card;
  const { noteFile } = scene.site;
  const prompt = promptOf(card, token, { noteFile, random, gentle: scene.isHealing() });
  return { token, wire: { id, prompt, dependencies, agent, startDependentsOn } };
}

const idOf = ({ repo, id }: Card): Pick<Card, "repo" | "id"> => ({ repo, id });
export const pathOf = ({ repo, id }: Pick<Card, "repo" | "id">): string => `/assignment/${repo}/tasks/${id}`;
