import { pause } from "./kill-steps.ts";
import { anyServer, noteReply, pathOf, type Scene } from "./run-givers.ts";
import { knownBy, type Reviewing } from "./run-ledger.ts";
import { pick, type Card, type Random } from "./run-plan.ts";

const VERDICTS = ["approve", "approve", "request_changes", "reject"] as const;
type ReviewDecision = Reviewing["verdict"];

/** An ask as the inbox shows it, as far as it is looked at here. */
interface Shown {
  id: string;
  kind: "approval" | "reply" | "value";
  title: string;
  state: string;
  digest: string | null;
  options: { name: string }[];
}

/** Reviews what is done, by two or three people at once who do not agree, at all doors. */
export async function review(scene: Scene, random: Random): Promise<void> {
  while (!scene.isOver()) {
    await pause(200 + random() * 400);
    const repo = pick(random, scene.cards).repo;
    const reply = await scene.site.ask(anyServer(scene, random), "assign", {
      method: "GET",
      path: `/assignment/${repo}`,
    });
    const tasks = (reply?.body.tasks ?? []) as { id: string; state: string; attempt: number; reviewUrl?: string }[];
    const up = tasks.filter(({ state }) => state === "review");
    if (up.length === 0) continue;
    const { id, attempt, reviewUrl } = pick(random, up);
    const ask = reviewUrl?.split("/").at(-1) ?? null;
    const say = (verdict: ReviewDecision, at: number) =>
      reviewTask(scene, { repo, id }, { verdict, attempt: at }, random);
    if (scene.isHealing()) {
      await say("approve", attempt);
      continue;
    }
    await Promise.all([
      say(pick(random, VERDICTS), attempt),
      ...(random() < 0.5 ? [say(pick(random, VERDICTS), attempt)] : []),
      ...(ask !== null && random() < 0.6 ? [reviewAsk(scene, { repo, id, attempt, ask }, random)] : []),
      // Work that is not the newest gets no reviews any more.
      ...(random() < 0.4 ? [say("approve", attempt + (random() < 0.5 ? 1 : -1))] : []),
    ]);
  }
}

async function reviewTask(
  scene: Scene,
  card: Pick<Card, "repo" | "id">,
  { verdict, attempt }: { verdict: ReviewDecision; attempt: number },
  random: Random,
): Promise<void> {
  const from = performance.now();
  const body = { verdict, attempt, comment: `Of ${attempt}` };
  const reply = await scene.site.ask(anyServer(scene, random), "assign", {
    method: "POST",
    path: `${pathOf(card)}/review`,
    body,
  });
  noteReply(scene, `the review of ${card.id}`, reply);
  const known = knownBy(reply?.status);
  const status = reply?.status ?? 0;
  scene.trace(`review ${card.id} ${attempt}: ${verdict}, ${status}`);
  scene.ledger.reviews.push({ ...card, attempt, verdict, ask: null, known, status, from, to: performance.now() });
}

async function reviewAsk(
  scene: Scene,
  of: Pick<Card, "repo" | "id"> & { attempt: number; ask: string },
  random: Random,
): Promise<void> {
  const from = performance.now();
  const verdict = pick(random, VERDICTS);
  const body = verdict === "request_changes" ? { text: `More of ${of.attempt}` } : { option: verdict };
  const path = `/people/me/asks/${of.ask}/decision`;
  const reply = await scene.site.ask(anyServer(scene, random), "answer", { method: "POST", path, body });
  noteReply(scene, `the review of ${of.id} in the inbox`, reply);
  const known = knownBy(reply?.status);
  scene.trace(`review ${of.id} ${of.attempt} in the inbox: ${verdict}, ${reply?.status}`);
  scene.ledger.reviews.push({ ...of, verdict, known, status: reply?.status ?? 0, from, to: performance.now() });
}

/** Decides what agents want and ask, and what is to become of conflicts; two people at once do not always agree. */
export async function decide(scene: Scene, random: Random): Promise<void> {
  while (!scene.isOver()) {
    await pause(150 + random() * 300);
    const list = await scene.site.ask(anyServer(scene, random), "answer", { method: "GET", path: "/people/me/asks" });
    const open = ((list?.body.asks ?? []) as Shown[]).filter(({ title }) => !title.startsWith("Review "));
    if (open.length === 0) continue;
    const path = `/people/me/asks/${pick(random, open).id}`;
    const shown = await scene.site.ask(anyServer(scene, random), "answer", { method: "GET", path });
    if (shown?.status !== 200) continue;
    const ask = shown.body as Shown;
    const both = scene.isHealing() || random() < 0.5 ? 1 : 2;
    await Promise.all(Array.from({ length: both }, () => decideOne(scene, ask, random)));
  }
}

async function decideOne(scene: Scene, ask: Shown, random: Random): Promise<void> {
  const replyBody = sayingTo(ask, { random, gentle: scene.isHealing() });
  const body = { ...(ask.digest !== null && { digest: ask.digest }), ...replyBody };
  const path = `/people/me/asks/${ask.id}/decision`;
  const reply = await scene.site.ask(anyServer(scene, random), "answer", { method: "POST", path, body });
  noteReply(scene, `a decision of "${ask.title}"`, reply);
  const known = knownBy(reply?.status);
  scene.trace(`decide "${ask.title}": ${JSON.stringify(replyBody)}, ${reply?.status}`);
  if (reply && (reply.status === 400 || reply.status === 422)) scene.problem(`a decision was answered ${reply.text}`);
  scene.ledger.decisions.push({ ask: ask.id, said: replyBody, known });
}

function sayingTo(ask: Shown, { random, gentle }: { random: Random; gentle: boolean }): Record<string, unknown> {
  if (ask.kind === "approval") return { approved: gentle || random() < 0.75 };
  const names = ask.options.map(({ name }) => name);
  if (names.includes("resolve")) return { option: gentle || random() < 0.7 ? "resolve" : "give_up" };
  return names.length > 0 ? { option: pick(random, names) } : { text: "Blue" };
}
