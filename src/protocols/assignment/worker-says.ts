import { z } from "zod";
import { TASK_EVENT_TYPES } from "../../tasks/model/task.ts";

/** Longer than any sentence of ours, and than any path. */
const MOST_TEXT = 10_000;
/** Of one wish; what would change is in it. */
const MOST_WISH = 200_000;

/** A text that every store takes. */
const text = (most: number) =>
  z
    .string()
    .max(most)
    .refine((given) => !given.includes("\0"), "holds characters that cannot be stored");
const sha = text(64).regex(/^([0-9a-f]{40}|[0-9a-f]{64})$/);

const Facts = z
  .object({
    startSha: sha,
    sandbox: z.enum(["bubblewrap", "none"]),
    pid: z.int(),
    starttime: text(200).nullable(),
    session: text(200),
    agentVersion: text(200),
    usage: z.record(z.string(), z.number()),
    logSeq: z.int().min(0),
  })
  .partial();
/** What became known of an attempt; what a worker leaves out is left as it is. */
export type SaidFacts = z.infer<typeof Facts>;

const Event = z.object({ type: z.enum(TASK_EVENT_TYPES), data: z.record(z.string(), z.unknown()) });
const Result = z.object({
  commit: sha,
  changed: z.boolean(),
  diffstat: z.object({ files: z.int(), insertions: z.int(), deletions: z.int() }),
  branch: text(300).nullable().default(null),
  ref: text(300),
  warnings: z.array(text(2000)).max(1000),
  files: text(100_000),
});
const Permission = z.object({
  tool: text(MOST_TEXT).min(1),
  input: z.record(z.string(), z.unknown()),
  action: z.enum(["read", "write", "execute", "network", "tool", "reconfigure"]),
  resource: text(MOST_WISH),
  diff: text(MOST_WISH).optional(),
  leadsOutside: z.boolean().optional(),
});
const Question = z.object({
  text: text(MOST_WISH),
  options: z.array(z.object({ label: text(MOST_TEXT), description: text(MOST_TEXT).optional() })).max(100),
  multiple: z.boolean().optional(),
});

/** Everything that a worker may say of an attempt. */
export const Saying = z.discriminatedUnion("say", [
  z.object({ say: z.literal("claimed") }),
  z.object({ say: z.literal("step"), to: z.enum(["running", "interrupted", "committing"]), facts: Facts.default({}) }),
  z.object({ say: z.literal("note"), events: z.array(Event).max(1000), facts: Facts.default({}) }),
  z.object({ say: z.literal("waiting"), isWaiting: z.boolean() }),
  z.object({ say: z.literal("wish"), ref: text(200).min(1), wish: z.union([Permission, Question]) }),
  z.object({ say: z.literal("key") }),
  z.object({ say: z.literal("resumed"), from: z.enum(["session", "start"]) }),
  z.object({ say: z.literal("conflict"), paths: z.array(text(MOST_TEXT)).max(10_000) }),
  z.object({ say: z.literal("done"), result: Result }),
  z.object({ say: z.literal("failed"), error: text(MOST_TEXT), wip: text(200).nullable().default(null) }),
  z.object({
    say: z.literal("ended"),
    wip: text(200).nullable().default(null),
    survivors: z.array(z.int()).max(1000),
  }),
]);
/** What a worker did in its repository of what a review leaves to be done in git. */
export const Settling = z.object({
  id: text(200).min(1),
  n: z.int().min(1),
  commit: sha,
  message: text(2000),
  command: text(2000).optional(),
});
export type WorkerReport = z.infer<typeof Saying>;
