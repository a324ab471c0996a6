import { PERIODS } from "../../questions/model/points.ts";
import { eraseMe, makeRecoveryCode, redeemRecoveryCode } from "../../questions/recover-participant.ts";
import { chooseName, dropName } from "../../questions/name-on-leaderboard.ts";
import { readLeaderboard, readStats } from "../../questions/read-score.ts";
import { callerOf, type Door, type DoorContext } from "../http/door.ts";
import { participantCookie } from "../http/principals.ts";
import { addressLimit, issueCredential, readerOf, refuseQuery } from "./human-access.ts";
import { queryText } from "../http/query.ts";
import { queryLimit } from "./query.ts";
import { wireTime } from "../http/question.ts";
import { ErrorBody, NoContent } from "../../wire/error.ts";
import {
  LeaderboardNameBody,
  RecoveryCodeBody,
  WireLeaderboard,
  WireLeaderboardName,
  WireRecovered,
  WireRecoveryCode,
  WireStats,
} from "../../wire/participant.ts";

const REDEEM_TRIES_PER_HOUR = 5;
const NAMES_PER_HOUR = 20;
const errors = { 400: ErrorBody, 401: ErrorBody, 404: ErrorBody, 429: ErrorBody } as const;

/** Mounts the routes of points and badges, and of moving them to another device (spec/ask-a-human 4.6, 4.7, 4.8). */
export function scoreRoutes(app: Door, door: DoorContext): void {
  const { ctx } = door;

  app.get(
    "/human/stats",
    { schema: { tags: ["people"], summary: "Own points and badges", response: { 200: WireStats, ...errors } } },
    async (http) => {
      const stats = await readStats(ctx, await readerOf(door, http));
      return {
        total_points: stats.totalPoints,
        total_answers: stats.totalAnswers,
        streak_days: stats.streakDays,
        badges: stats.badges.map(({ id, name, earnedAt }) => ({ id, name, earned_at: wireTime(earnedAt) })),
        rank: stats.rank,
        answers_by_category: stats.answersByCategory,
        points_today: stats.pointsToday,
        badge_progress: stats.badgeProgress,
      } satisfies WireStats;
    },
  );

  app.get(
    "/human/leaderboard",
    { schema: { tags: ["people"], summary: "Who has earned most", response: { 200: WireLeaderboard, ...errors } } },
    async (http) => {
      const period = PERIODS.find((known) => known === (queryText(http.query, "period") ?? "all_time"));
      if (!period)
        throw refuseQuery("period", "period must be daily, weekly or all_time", "enum", { allowed: PERIODS });
      const limit = queryLimit(http.query, { least: 1, most: 100, usual: 10 });
      const identity = await readerOf(door, http);
      const { top, own, ownName } = await readLeaderboard(ctx, identity, period, limit);
      return {
        period,
        entries: top.map(({ rank, points, answers, person, name }) => ({
          rank,
          points,
          answers,
          is_current_user: person === identity?.person,
          name,
        })),
        your_rank: own?.rank ?? null,
        your_points: own?.points ?? 0,
        your_name: ownName,
      } satisfies WireLeaderboard;
    },
  );

  nameRoutes(app, door);
  recoveryRoutes(app, door);
}

/** A name on the leaderboard, for those who want one. */
function nameRoutes(app: Door, door: DoorContext): void {
  const { ctx } = door;

  app.put(
    "/human/leaderboard/name",
    {
      config: { takesBody: true },
      ...addressLimit(door, "leaderboard names", NAMES_PER_HOUR),
      schema: {
        tags: ["people"],
        summary: "Choose a name for the leaderboard",
        body: LeaderboardNameBody,
        response: { 200: WireLeaderboardName, ...errors, 409: ErrorBody },
      },
    },
    async (http, reply) => {
      const { name, issue } = await chooseName(ctx, callerOf(http), (http.body as LeaderboardNameBody).name);
      issueCredential(door, reply, issue);
      return reply.code(200).send({ name } satisfies WireLeaderboardName);
    },
  );

  app.delete(
    "/human/leaderboard/name",
    {
      schema: {
        tags: ["people"],
        summary: "Stand on the leaderboard without a name",
        response: { 204: NoContent, ...errors },
      },
    },
    async (http, reply) => {
      await dropName(ctx, callerOf(http));
      return reply.code(204).send();
    },
  );
}

/** Being the same person on another device, and being nobody any more. */
function recoveryRoutes(app: Door, door: DoorContext): void {
  const { ctx } = door;

  app.post(
    "/human/recovery",
    {
      schema: {
        tags: ["people"],
        summary: "A code for another device",
        response: { 201: WireRecoveryCode, ...errors },
      },
    },
    async (http, reply) => {
      const { code, expiresAt, issue } = await makeRecoveryCode(ctx, callerOf(http));
      issueCredential(door, reply, issue);
      return reply.code(201).send({ code, expires_at: wireTime(expiresAt) } satisfies WireRecoveryCode);
    },
  );

  app.post(
    "/human/recovery/redeem",
    {
      config: { takesBody: true },
      ...addressLimit(door, "recovery tries", REDEEM_TRIES_PER_HOUR),
      schema: {
        tags: ["people"],
        summary: "Use a recovery code here",
        body: RecoveryCodeBody,
        response: { 200: WireRecovered, ...errors },
      },
    },
    async (http, reply) => {
      const { code } = http.body as RecoveryCodeBody;
      issueCredential(door, reply, await redeemRecoveryCode(ctx, code));
      return reply.code(200).send({ status: "recovered" } satisfies WireRecovered);
    },
  );

  app.delete(
    "/human/me",
    { schema: { tags: ["people"], summary: "Erase me", response: { 204: NoContent, ...errors } } },
    async (http, reply) => {
      await eraseMe(ctx, callerOf(http));
      return reply
        .header("set-cookie", participantCookie(door, "", 0))
        .code(204)
        .send();
    },
  );
}
