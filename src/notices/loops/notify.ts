import type { Context } from "../../context.ts";
import { base62 } from "../../lib/id.ts";
import type { Random } from "../../lib/random.ts";
import { asOf } from "../../questions/model/question.ts";
import { urgencyAt } from "../../questions/model/feed.ts";
import { notifiedNow, type NotifyRules } from "../model/rules.ts";
import { isOfInterest, quietMsLeft } from "../model/push-settings.ts";
import { lockQuestion } from "../../questions/store/questions.ts";
import {
  countNotifiedLately,
  findTellable,
  insertCrowdNotice,
  listDueDevices,
  listWantingQuestions,
  touchDeviceIfDue,
  type DeviceKind,
  type DueDevice,
  type WantingQuestion,
} from "../store/notices.ts";
import { transact } from "../../core/store/transact.ts";

const PASS_EVERY_MS = 60_000;
/** New questions are looked for every second; one that was missed for so long waits for the next pass over all. */
const NEW_FOR_MS = 10_000;
const DEVICES_PER_READ = 500;
const MOST_DEVICES = 5000;
const ASKS_PER_PASS = 1000;

/**
 * Returns a step that chooses the people to notify of crowd questions. New questions are notified at once. All that
 * lack answers are looked at once a minute; that is also when devices have come due and when others are notified
 * instead of those who did not answer.
 *
 * Choosing is a row for each person and question, with the device's interval begun anew in the same transaction and the
 * question held. So any number of nodes together notify a person once, and of a question no more people than its rule
 * allows. In memory the step keeps only when it last looked (spec/ask-a-human 6).
 */
export function openNotify(
  ctx: Context,
  { rules, kinds }: { rules: NotifyRules; kinds: readonly DeviceKind[] },
): (signal: AbortSignal) => Promise<boolean> {
  let passedAt: number | null = null;

  return async (signal) => {
    const now = ctx.clock.monotonic();
    const isPass = passedAt === null || now - passedAt >= PASS_EVERY_MS;
    if (isPass) passedAt = now;

    const { devices, now: at } = await sampleDevices(ctx, kinds);
    const due = devices.filter(({ quietHours }) => quietMsLeft(quietHours, at) === 0);
    if (due.length === 0) return false;

    const asks = await listWantingQuestions(ctx.db, rules.catchUpMs, isPass ? null : NEW_FOR_MS, ASKS_PER_PASS);
    const wanting = asks.filter((question) => notifiedNow(rules, question, question.notifiedLately) > 0);
    // A device receives one question and then rests: the one that needs it most.
    wanting.sort((one, other) => urgencyAt(other, at) - urgencyAt(one, at));
    for (const crowdQuestion of wanting) {
      if (signal.aborted || due.length === 0) break;
      const notified = await planNotices(ctx, rules, crowdQuestion, due);
      for (let i = due.length - 1; i >= 0; i -= 1) if (notified.has(due[i]?.id ?? "")) due.splice(i, 1);
    }
    return false;
  };
}

/** Plans to tell as many people of the question as its rule allows; returns the devices chosen. */
async function planNotices(
  ctx: Context,
  rules: NotifyRules,
  { id: questionId, audience }: WantingQuestion,
  due: readonly DueDevice[],
): Promise<ReadonlySet<string>> {
  const interested = shuffled(
    due.filter((device) => isOfInterest(device.interests, audience)),
    ctx.random,
  );
  if (interested.length === 0) return new Set();
  return transact(ctx, async (tx) => {
    const notified = new Set<string>();
    const held = await lockQuestion(tx, questionId);
    const question = held && asOf(held.question, held.now);
    if (!question || question.state !== "open" || question.held) return notified;
    const wanted = notifiedNow(rules, question, await countNotifiedLately(tx, questionId, rules.catchUpMs));
    if (wanted === 0) return notified;

    const tellable = await findTellable(
      tx,
      questionId,
      interested.map(({ id }) => id),
    );
    const people = new Map<string, DueDevice>();
    for (const device of interested) {
      if (people.size === wanted) break;
      if (tellable.has(device.id) && !people.has(device.person)) people.set(device.person, device);
    }
    // In one order everywhere, so that two nodes never wait for each other's devices.
    for (const { id: device, person } of [...people.values()].sort((one, other) => (one.id < other.id ? -1 : 1))) {
      if (!(await touchDeviceIfDue(tx, device))) continue;
      // point: notify-between-device-and-notice
      await insertCrowdNotice(tx, { questionId, device, person });
      notified.add(device);
    }
    return notified;
  });
}

/** Returns devices that are due, from a random place among all of them on. */
async function sampleDevices(
  ctx: Context,
  kinds: readonly DeviceKind[],
): Promise<{ devices: DueDevice[]; now: number }> {
  const start = `sub_${base62(ctx.random, 22)}`;
  const found = new Map<string, DueDevice>();
  let now = 0;
  for (const [from, until] of [
    [start, null],
    ["", start],
  ] as const) {
    let next = from;
    while (found.size < MOST_DEVICES) {
      const read = await listDueDevices(ctx.db, kinds, next, DEVICES_PER_READ);
      now = Math.max(now, read.now);
      const last = read.devices.at(-1)?.id;
      for (const device of read.devices) if (until === null || device.id < until) found.set(device.id, device);
      if (last === undefined || read.devices.length < DEVICES_PER_READ || (until !== null && last >= until)) break;
      next = `${last}!`;
    }
  }
  return { devices: [...found.values()], now };
}

/** Returns the items in random order (Fisher and Yates). */
function shuffled<Item>(items: readonly Item[], random: Random): Item[] {
  const mixed = [...items];
  const dice = Buffer.from(random(mixed.length * 4));
  for (let i = mixed.length - 1; i > 0; i -= 1) {
    const j = Math.floor((dice.readUInt32LE(i * 4) / 2 ** 32) * (i + 1));
    [mixed[i], mixed[j]] = [mixed[j] as Item, mixed[i] as Item];
  }
  return mixed;
}
