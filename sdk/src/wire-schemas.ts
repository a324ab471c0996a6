/**
 * Types of what travels, from the schemas of the server. The published package has their text in this module
 * (scripts/build-sdk.mjs): it depends on nothing.
 */
export type { WireAnswer as Answer, WireAsk as Ask } from "../../src/wire/ask.ts";
export type {
  FinishBody as JobEnd,
  LogBody as JobLog,
  WireArtifact as Artifact,
  WireJob as Job,
  WireJobLogLine as JobLogLine,
  WireJobStatus as JobStatus,
  WireLease as Lease,
} from "../../src/wire/job.ts";
export type {
  NewTaskBody as NewTask,
  TaskReviewBody as TaskReview,
  WireLineComment as LineComment,
} from "../../src/wire/task-bodies.ts";
export type {
  WireAssignmentReport as AssignmentReport,
  WireBoard as Board,
  WireTask as Task,
  WireTaskAsk as TaskAsk,
  WireTaskEvent as TaskEvent,
  WireWholeTask as WholeTask,
} from "../../src/wire/task.ts";
export type { WireReviewedWork as ReviewedWork } from "../../src/wire/work.ts";
