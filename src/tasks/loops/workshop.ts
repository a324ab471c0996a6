import type { SandboxKind } from "../../core/model/sandbox.ts";
import type { OldRefs } from "../model/keep-work.ts";
import type { Submission } from "../read-work-fates.ts";
import type { AttemptSpec } from "../../workshop/attempt-assignment.ts";
import type { AttemptClient } from "../../workshop/attempt-client.ts";

/** The part of the server that runs attempts, as its callers see it. */
export interface Workshop {
  /** How an agent is isolated here; or why it may not start. Nothing is ready before `opened` has resolved. */
  readiness(agent: string): { sandbox: SandboxKind } | { why: string };
  /** Resolves once it is known what this machine offers. */
  opened: Promise<void>;
  /** Runs an attempt to its end, or until `client.leaving` is aborted. */
  run(given: AttemptSpec, client: AttemptClient): Promise<void>;
  /** Does in git what a review leaves to be done, and returns what a person should know of it. */
  settleReview(work: {
    repo: string;
    slug: string;
    n: number;
    commit: string;
    kind: "approve" | "reject";
  }): Promise<{ message: string; command?: string }>;
  /** Agents that run here of attempts that may have ended meanwhile, with the folder of each. */
  findSupervised(): Promise<{ attemptId: string; folder: string }[]>;
  /** Nothing runs of an attempt on this machine any more but what is returned; not even its supervisor, by its folder. */
  kill(attemptId: string, folder?: string): Promise<readonly number[]>;
  /** Submissions of which there is a folder here. */
  listFolders(): Promise<Submission[]>;
  /** The tree and the agent's home of a submission are gone; its log stays. */
  clear(of: Submission): Promise<void>;
  /** Its folder is gone, with all that is in it. */
  remove(of: Submission): Promise<void>;
  /** Old names are gone from a repository, and its store is packed where it has many files, unless that is stopped. */
  tidyRepository(repo: string, old: OldRefs, signal: AbortSignal): Promise<void>;
}
