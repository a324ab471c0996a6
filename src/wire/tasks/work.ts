/** Reports of workers on other machines, and the replies to them (spec/assignment 12 and 13). */
import { z } from "zod";
import { SANDBOXES } from "../../core/model/sandbox.ts";
import { PERMISSION_ACTIONS } from "../../tasks/model/action.ts";
import { MOST_OUTCOME_WORDS } from "../../requests/model/call-outcome.ts";
import { MERGES } from "../../tasks/model/rules.ts";
import { TASK_EVENT_TYPES } from "../../tasks/model/task.ts";
import { WireReadableNote } from "../agent-note.ts";
import { WireDiffstat } from "./task.ts";

/** Longer than any sentence of ours, and than any path. */
const MOST_TEXT = 10_000;
/** One permission request, with the change that it would make. */
const MOST_REQUEST_TEXT = 200_000;

/** A text that every store takes. */
const text = (most: number) =>
  z
    .string()
    .max(most)
    .refine((given) => !given.includes("\0"), "holds characters that cannot be stored");
const sha = text(64).regex(/^([0-9a-f]{40}|[0-9a-f]{64})$/);

export const WireWorkFacts = z
  .object({
    startSha: sha,
    sandbox: z.enum(SANDBOXES),
    pid: z.int(),
    starttime: text(200).nullable(),
    session: text(200),
    agentVersion: text(200),
    usage: z.record(z.string(), z.number()),
    logSeq: z.int().min(0),
  })
  .partial()
  .meta({ id: "WorkFacts", description: "New facts about an attempt; a member that is left out stays as it is." });
export type WireWorkFacts = z.output<typeof WireWorkFacts>;

const event = z.object({ type: z.enum(TASK_EVENT_TYPES), data: z.record(z.string(), z.unknown()) });
const result = z.object({
  commit: sha,
  changed: z.boolean(),
  diffstat: WireDiffstat,
  branch: text(300).nullable().default(null),
  ref: text(300),
  warnings: z.array(text(2000)).max(1000),
  files: text(100_000),
});
const permission = z.object({
  tool: text(MOST_TEXT).min(1),
  input: z.record(z.string(), z.unknown()),
  action: z.enum(PERMISSION_ACTIONS),
  resource: text(MOST_REQUEST_TEXT),
  diff: text(MOST_REQUEST_TEXT).optional(),
  leadsOutside: z.boolean().optional(),
  reportsEnd: z.boolean().optional(),
});
const question = z.object({
  text: text(MOST_REQUEST_TEXT),
  options: z.array(z.object({ label: text(MOST_TEXT), description: text(MOST_TEXT).optional() })).max(100),
  multiple: z.boolean().optional(),
  schema: z.record(z.string(), z.unknown()).optional(),
});

const use = z.object({
  state: z.enum(["done", "failed", "not_run"]),
  resultDigest: text(71)
    .regex(/^sha256:[0-9a-f]{64}$/)
    .optional(),
  words: text(MOST_OUTCOME_WORDS).optional(),
});

export const WorkReportBody = z
  .discriminatedUnion("say", [
    z.object({ say: z.literal("claimed") }),
    z.object({
      say: z.literal("step"),
      to: z.enum(["running", "interrupted", "committing"]),
      facts: WireWorkFacts.default({}),
    }),
    z.object({ say: z.literal("note"), events: z.array(event).max(1000), facts: WireWorkFacts.default({}) }),
    z.object({ say: z.literal("waiting"), isWaiting: z.boolean() }),
    z.object({ say: z.literal("wish"), ref: text(200).min(1), wish: z.union([permission, question]) }),
    z.object({ say: z.literal("used"), ref: text(200).min(1), report: use }),
    z.object({ say: z.literal("withdraw"), ref: text(200).min(1) }),
    z.object({ say: z.literal("notes"), known: z.array(text(200)).max(1000) }),
    z.object({ say: z.literal("key") }),
    z.object({ say: z.literal("resumed"), from: z.enum(["session", "start"]) }),
    z.object({ say: z.literal("conflict"), paths: z.array(text(MOST_TEXT)).max(10_000) }),
    z.object({ say: z.literal("done"), result }),
    z.object({ say: z.literal("failed"), error: text(MOST_TEXT), wip: text(200).nullable().default(null) }),
    z.object({
      say: z.literal("ended"),
      wip: text(200).nullable().default(null),
      survivors: z.array(z.int()).max(1000),
    }),
  ])
  .meta({ id: "WorkReport", description: "Everything that a worker may say of an attempt." });
export type WorkReportBody = z.output<typeof WorkReportBody>;

const members = z.record(z.string(), z.unknown());

export const WireWorkReply = z
  .union([
    z
      .object({
        commission: z.object({
          task: members,
          attempt: members,
          dependencies: z.array(z.object({ id: z.string(), commit: sha })),
          changes: members.nullable(),
          publishedSha: z.string().nullable(),
        }),
        repo: members,
      })
      .describe("The reply to a claim: the whole assignment"),
    z.object({ key: z.string() }).describe("Another key for the agent"),
    z.object({ lease: z.string(), epoch: z.int() }).describe("Another lease, for an attempt that was resumed"),
    z.object({ allow: z.literal(true) }).describe("The reply to a permission request"),
    z.object({ allow: z.literal(false), why: z.string(), canceled: z.boolean().optional() }),
    z.object({ text: z.string(), by: z.string().optional() }).describe("The reply to a question"),
    z.object({ none: z.literal(true), why: z.string() }),
    z.object({ notes: z.array(WireReadableNote) }).describe("Notes of people to the agent"),
    z.object({}).describe("The reply to every other report"),
  ])
  .meta({ id: "WorkReply", description: "The reply to a worker, by the kind of its report." });
export type WireWorkReply = z.output<typeof WireWorkReply>;

export const WireReviewedWork = z
  .object({
    onApprove: z.object({ how: z.enum(MERGES), target: z.string() }).nullable(),
    reviewed: z.array(
      z.object({
        repo: z.string(),
        id: z.string(),
        slug: z.string(),
        generation: z.int(),
        n: z.int(),
        commit: z.string(),
        kind: z.enum(["approve", "reject"]),
        is: z.enum(["approve", "reject"]).meta({ deprecated: true, description: "The former name of `kind`" }),
      }),
    ),
    rejected: z.array(z.object({ slug: z.string(), n: z.int() })),
  })
  .meta({ id: "ReviewedWork", description: "Reviewed work that a worker still has to settle in its repository." });
export type WireReviewedWork = z.output<typeof WireReviewedWork>;

export const SettledWorkBody = z
  .object({
    id: text(200).min(1),
    n: z.int().min(1),
    commit: sha,
    message: text(2000),
    command: text(2000).optional(),
  })
  .meta({
    id: "SettledWork",
    description: "The reviewed work that a worker has settled in its repository.",
  });
export type SettledWorkBody = z.output<typeof SettledWorkBody>;
