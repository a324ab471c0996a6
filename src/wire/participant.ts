/** A participant's points and badges, and their recovery on another device (spec/ask-a-human 4.6 to 4.8). */
import { z } from "zod";
import { PERIODS } from "../questions/model/points.ts";
import { TAGS, type Tag } from "../questions/model/question.ts";
import { text } from "./fields.ts";

const time = z.string().meta({ format: "date-time" });

export const WireStats = z
  .object({
    total_points: z.int(),
    total_answers: z.int(),
    streak_days: z.int(),
    badges: z.array(z.object({ id: z.string(), name: z.string(), earned_at: time })),
    rank: z.int().nullable(),
    answers_by_category: z
      .object(Object.fromEntries(TAGS.map((tag) => [tag, z.int()])) as Record<Tag, z.ZodInt>)
      .partial(),
    points_today: z.int(),
    badge_progress: z.array(z.object({ id: z.string(), name: z.string(), have: z.int(), need: z.int() })),
  })
  .meta({ id: "Stats" });
export type WireStats = z.output<typeof WireStats>;

export const WireLeaderboard = z
  .object({
    period: z.enum(PERIODS),
    entries: z.array(
      z.object({
        rank: z.int(),
        points: z.int(),
        answers: z.int(),
        is_current_user: z.boolean(),
        name: z.string().nullable(),
      }),
    ),
    your_rank: z.int().nullable(),
    your_points: z.int(),
    your_name: z.string().nullable(),
  })
  .meta({ id: "Leaderboard" });
export type WireLeaderboard = z.output<typeof WireLeaderboard>;

export const LeaderboardNameBody = z.object({ name: text(1, 100) }).meta({ id: "NewLeaderboardName" });
export type LeaderboardNameBody = z.output<typeof LeaderboardNameBody>;

export const WireLeaderboardName = z.object({ name: z.string() }).meta({ id: "LeaderboardName" });
export type WireLeaderboardName = z.output<typeof WireLeaderboardName>;

export const RecoveryCodeBody = z.object({ code: text(1, 100) }).meta({ id: "RecoveryCodeToRedeem" });
export type RecoveryCodeBody = z.output<typeof RecoveryCodeBody>;

export const WireRecoveryCode = z.object({ code: z.string(), expires_at: time }).meta({ id: "RecoveryCode" });
export type WireRecoveryCode = z.output<typeof WireRecoveryCode>;

export const WireRecovered = z.object({ status: z.literal("recovered") }).meta({ id: "Recovered" });
export type WireRecovered = z.output<typeof WireRecovered>;
