/** Bodies that executors send and get. */
import type { Answer as WholeAnswer, Ask, Job, JobLog as JobLogBody, JobLogLine, JobStatus } from "../wire-schemas.ts";

export type { Artifact, Job, JobEnd, JobStatus, Lease } from "../wire-schemas.ts";

/** The kinds of asks. */
export type AskKind = Ask["ask_type"];

/** How an ask ended. */
export type AnswerStatus = WholeAnswer["status"];

export type JobState = Job["state"];

/** The one outcome of an ask. */
export interface Answer<T = unknown> extends Omit<WholeAnswer, "answer_json"> {
  answer_json?: T;
}

/** A line about a job's work. */
export type JobLog = Omit<JobLogBody, "type">;

/** One thing that happened to a job; `id` is where to go on from. */
export type JobEvent =
  | { id: number; event: "status"; data: JobStatus }
  | { id: number; event: "answer"; data: Answer }
  | { id: number; event: "log"; data: JobLogLine };

/** Error codes of the relay, beside those of every door. */
export type RelayErrorCode =
  | "ASK_NOT_FOUND"
  | "JOB_NOT_FOUND"
  | "ARTIFACT_NOT_FOUND"
  | "FEATURE_DISABLED"
  | "ASK_ID_CONFLICT"
  | "JOB_CLOSED"
  | "FENCED"
  | "SECRET_DETECTED"
  | "SERVER_ERROR";
