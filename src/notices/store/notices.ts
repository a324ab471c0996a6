import type { QuestionId } from "../../core/model/ids.ts";
import type { Tag } from "../../questions/model/question.ts";
import type { FeedEntry } from "../../questions/model/feed.ts";
import type { PushDevice } from "../model/push-message.ts";
import type { QuietHours } from "../model/push-settings.ts";
import { one, type Queryable, type Tx } from "../../core/store/db.ts";
import { json, rowsOf } from "../../core/store/rows.ts";
import { empty, join, sql } from "../../core/store/sql.ts";
import { hasDealtWith } from "../../questions/store/marks.ts";
import { SHOWN_QUESTIONS } from "../../questions/store/tables.ts";

export type NoticeKind = "crowd" | "addressed";
export type DeviceKind = PushDevice["kind"];

/** An open question that lacks answers, and how many people were notified of it lately. */
export interface WantingQuestion extends FeedEntry {
  notifiedLately: number;
}

const wantingRows = rowsOf<WantingQuestion>()({
  id: "ask_id",
  audience: json("audience"),
  need: "need",
  n: "n",
  createdAt: "created_at",
  expiresAt: "expires_at",
  lastAnswerAt: "last_answer_at",
  notifiedLately: "told_lately",
});

/**
 * Returns up to `limit` open questions that lack answers, those first that end first; only those created in the last
 * `createdWithinMs` where that is given. `notifiedLately` counts the people who were notified in the last `latelyMs`.
 */
export async function listWantingQuestions(
  on: Queryable,
  latelyMs: number,
  createdWithinMs: number | null,
  limit: number,
): Promise<WantingQuestion[]> {
  const fresh = createdWithinMs === null ? empty : sql`AND a.created_at >= (SELECT parley_now()) - ${createdWithinMs}`;
  return wantingRows.all(
    on,
    sql`SELECT a.ask_id, a.audience, a.need, a.n, a.created_at, a.expires_at, a.last_answer_at,
        (SELECT count(*) FROM notices t WHERE t.ask_id = a.ask_id AND t.kind = 'crowd'
          AND t.told_at > (SELECT parley_now()) - ${latelyMs}) AS told_lately
      FROM ${SHOWN_QUESTIONS} a WHERE a.state = 'open' AND a.held = 0 AND a.expires_at > (SELECT parley_now()) ${fresh}
      ORDER BY a.expires_at LIMIT ${limit}`,
  );
}

/** Counts the people notified of a question in the last `latelyMs`. */
export async function countNotifiedLately(on: Queryable, questionId: QuestionId, latelyMs: number): Promise<number> {
  const row = await one<{ told: number }>(
    on,
    sql`SELECT count(*) AS told FROM notices WHERE ask_id = ${questionId} AND kind = 'crowd'
      AND told_at > (SELECT parley_now()) - ${latelyMs}`,
  );
  return row.told;
}

/** A device that may be notified of a question now, as far as its own interval goes. */
export interface DueDevice {
  id: string;
  person: string;
  interests: readonly Tag[];
  quietHours: QuietHours | null;
}

/**
 * Returns up to `limit` active devices whose interval is over, in the order of their ids from `from` on: ids are random,
 * so that a random start gives a random sample. With the store's clock.
 */
export async function listDueDevices(
  on: Queryable,
  kinds: readonly DeviceKind[],
  from: string,
  limit: number,
): Promise<{ devices: DueDevice[]; now: number }> {
  const rows = await on.all<{
    subscription_id: string;
    person: string;
    audience: string;
    quiet_hours: string | null;
    now: number;
  }>(
    sql`SELECT s.subscription_id, s.person, s.audience, s.quiet_hours,
        (SELECT parley_now()) AS now
      FROM push_subscriptions s
      WHERE s.active = 1 AND s.kind IN (${join([...kinds])}) AND s.subscription_id >= ${from}
        AND (s.last_notified_at IS NULL
          OR s.last_notified_at <= (SELECT parley_now()) - s.min_interval_minutes * 60000)
      ORDER BY s.subscription_id LIMIT ${limit}`,
  );
  const devices = rows.map((row) => ({
    id: row.subscription_id,
    person: row.person,
    interests: JSON.parse(row.audience) as Tag[],
    quietHours: row.quiet_hours === null ? null : (JSON.parse(row.quiet_hours) as QuietHours),
  }));
  return { devices, now: rows[0]?.now ?? 0 };
}

/** Returns those devices whose person has not answered, skipped, reported or been notified of the question. */
export async function findTellable(
  on: Queryable,
  questionId: QuestionId,
  devices: readonly string[],
): Promise<Set<string>> {
  if (devices.length === 0) return new Set();
  const rows = await on.all<{ subscription_id: string }>(
    sql`SELECT s.subscription_id FROM push_subscriptions s
      WHERE s.subscription_id IN (${join([...devices])})
        AND NOT ${hasDealtWith(questionId, sql`s.person`)}
        AND NOT EXISTS (SELECT 1 FROM notices t WHERE t.ask_id = ${questionId} AND t.kind = 'crowd'
          AND t.person = s.person)`,
  );
  return new Set(rows.map((row) => row.subscription_id));
}

/** Begins the device's interval anew, unless it has ended or a rival has just done so; returns whether it did. */
export async function touchDeviceIfDue(tx: Tx, device: string): Promise<boolean> {
  const rows = await tx.all(
    sql`UPDATE push_subscriptions SET last_notified_at = parley_now() WHERE subscription_id = ${device} AND active = 1
      AND (last_notified_at IS NULL OR last_notified_at <= parley_now() - min_interval_minutes * 60000)
      RETURNING subscription_id`,
  );
  return rows.length > 0;
}

/** Plans the notice of a crowd question to a device; its person is never notified of it again. */
export async function insertCrowdNotice(
  tx: Tx,
  notice: { questionId: QuestionId; device: string; person: string },
): Promise<void> {
  await tx.all(
    sql`INSERT INTO notices (ask_id, subscription_id, person, kind, state, due_at, attempt, epoch, told_at)
      VALUES (${notice.questionId}, ${notice.device}, ${notice.person}, 'crowd', 'queued', parley_now(), 0, 0, parley_now())`,
  );
}

/** A planned message and where it stands. */
export interface PushNotice {
  subjectId: string;
  device: string;
  person: string;
  kind: NoticeKind;
  attempt: number;
  /** Fences off a worker whose lease is over. */
  epoch: number;
}

const noticeRows = rowsOf<PushNotice>()({
  subjectId: "ask_id",
  device: "subscription_id",
  person: "person",
  kind: "kind",
  attempt: "attempt",
  epoch: "epoch",
});

/** Returns up to `limit` messages to be sent now, longest due first. */
export async function findDueNotices(on: Queryable, limit: number): Promise<PushNotice[]> {
  return noticeRows.all(
    on,
    sql`SELECT ask_id, subscription_id, person, kind, attempt, epoch FROM notices
      WHERE state = 'queued' AND due_at <= (SELECT parley_now()) ORDER BY due_at LIMIT ${limit}`,
  );
}

/** Takes a due message from rivals for `leaseMs`; returns nothing when a rival was first. */
export async function claimNotice(
  tx: Tx,
  { subjectId, device, epoch }: PushNotice,
  leaseMs: number,
): Promise<PushNotice | undefined> {
  return noticeRows.first(
    tx,
    sql`UPDATE notices SET epoch = epoch + 1, attempt = attempt + 1, due_at = parley_now() + ${leaseMs}
      WHERE ask_id = ${subjectId} AND subscription_id = ${device} AND epoch = ${epoch} AND state = 'queued'
        AND due_at <= parley_now()
      RETURNING ask_id, subscription_id, person, kind, attempt, epoch`,
  );
}

/** Writes down what became of a claimed message, unless its lease was over and somebody else has it. */
export async function updateNotice(
  tx: Tx,
  { subjectId, device, epoch }: PushNotice,
  to: { state: "queued" | "sent" | "failed" | "dropped"; inMs?: number; attempt?: number },
): Promise<void> {
  await tx.all(
    sql`UPDATE notices SET state = ${to.state}, due_at = parley_now() + ${to.inMs ?? 0},
        attempt = coalesce(${to.attempt ?? null}, attempt)
      WHERE ask_id = ${subjectId} AND subscription_id = ${device} AND epoch = ${epoch}`,
  );
}

/** Deletes up to `limit` messages of asks that cannot be open any more; true when there may be more. */
export async function deleteOldNotices(
  tx: Tx,
  kept: { crowdMs: number; addressedMs: number },
  limit: number,
): Promise<boolean> {
  const rows = await tx.all(
    sql`DELETE FROM notices WHERE (ask_id, subscription_id) IN
      (SELECT ask_id, subscription_id FROM notices
        WHERE told_at <= (SELECT parley_now()) - ${Math.min(kept.crowdMs, kept.addressedMs)}
          AND (kind <> 'crowd' OR told_at <= (SELECT parley_now()) - ${kept.crowdMs})
          AND (kind <> 'addressed' OR told_at <= (SELECT parley_now()) - ${kept.addressedMs})
        LIMIT ${limit})
      RETURNING ask_id`,
  );
  return rows.length === limit;
}
